"""From the pieces of a streamed chat completion to a message in the form of the Messages API. Pure, and total.

Servers differ in what they send, and the SDK does not check it, so no value is assumed to have its declared
type. Values that cannot be part of a reply are dropped; arguments that are not complete JSON stay text, and
reply.py reports them to the model.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.text.tokens import estimate_tokens

from reasoning_engine.reply_size import ReplySize

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class ChatReply:
    """The state of one reply."""

    finish: str = ""
    """The reason for its end; empty until then."""
    has_begun: bool = False
    _id: str = ""
    _model: str = ""
    _text: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _calls: dict[int, _Call] = field(default_factory=dict)
    _usage: Mapping[str, Any] = field(default_factory=dict)
    _size: ReplySize = field(default_factory=ReplySize)

    def take(self, chunk: Mapping[str, object]) -> str:
        """Take in one piece; return its text, for observers. Raises UnreadableReply."""
        self._id = self._id or _string(chunk.get("id"))
        self._model = self._model or _string(chunk.get("model"))
        if usage := _mapping(chunk.get("usage")):
            self._usage = usage
        text = ""
        for choice in map(_mapping, _list(chunk.get("choices"))[:1]):  # one choice is requested
            self.has_begun = True
            text = self._delta(_mapping(choice.get("delta")) or _mapping(choice.get("message")))
            self.finish = _string(choice.get("finish_reason")) or self.finish
        return text

    def _delta(self, delta: Mapping[str, object]) -> str:
        text = self._counted(delta.get("content"))
        if text:
            self._text.append(text)
        if refusal := self._counted(delta.get("refusal")):
            self._refusal.append(refusal)
        for n, part in enumerate(map(_mapping, _list(delta.get("tool_calls")))):
            self._call(part, n)
        return text

    def _call(self, part: Mapping[str, object], n: int) -> None:
        """Add a part to the call that it belongs to; some servers send whole calls without an index."""
        function, id = _mapping(part.get("function")), _string(part.get("id"))
        index = part.get("index")
        if not isinstance(index, int):
            same = [at for at, call in self._calls.items() if id and call.id == id]
            index = same[0] if same else len(self._calls) if id or function.get("name") else n
        if index not in self._calls:
            self._size.add_part()
        call = self._calls.setdefault(index, _Call())
        call.id = call.id or id
        call.name += self._counted(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # the form of Ollama's own API
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.arguments.append(self._counted(arguments))

    def _counted(self, value: object) -> str:
        text = _string(value)
        self._size.add_text(text)
        return text

    @property
    def has_usage(self) -> bool:
        """Return whether the server has reported usage."""
        return bool(self._usage)

    def message(self, prompt_tokens: int = 0) -> dict[str, Any]:
        """Return the reply, complete or as far as it has arrived, in the form of the Messages API.

        If the server has not reported usage, as before the end of a stream, it is estimated, so that
        budgets hold; `prompt_tokens` are those of the request.
        """
        refusal = "".join(self._refusal)
        stop_reason = "refusal" if refusal else _STOP_REASONS.get(self.finish, "end_turn")
        return {
            "id": self._id or "chatcmpl",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": list(self._content(refusal)),
            "stop_reason": stop_reason if self.finish else None,
            "stop_sequence": None,
            "usage": self._tokens() if self.has_usage else self._estimated(prompt_tokens),
        }

    def _content(self, refusal: str) -> Iterator[dict[str, Any]]:
        if text := "".join(self._text) or refusal:
            yield {"type": "text", "text": text}
        for call in self._calls.values():
            written = "".join(call.arguments)
            yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(written)}

    def _estimated(self, prompt_tokens: int) -> dict[str, int]:
        calls = (part for call in self._calls.values() for part in (call.name, *call.arguments))
        written = "".join((*self._text, *self._refusal, *calls))
        return {"input_tokens": prompt_tokens, "output_tokens": estimate_tokens(written)}

    def _tokens(self) -> dict[str, int]:
        prompt = _count(self._usage.get("prompt_tokens"))
        details = _mapping(self._usage.get("prompt_tokens_details"))
        cached = min(_count(details.get("cached_tokens")), prompt)
        return {
            "input_tokens": prompt - cached,
            "output_tokens": _count(self._usage.get("completion_tokens")),
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
        }


def _arguments(written: str) -> Any:
    try:
        return json.loads(written or "{}")
    except (ValueError, RecursionError):
        return written


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
