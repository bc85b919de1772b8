"""From the pieces of a streamed chat completion to a message as the Messages API has it. Pure, and total.

Servers differ in what they send, and the SDK checks none of it, so nothing is taken to be of the type it is declared
with. What cannot be a part of a reply is let go; arguments that are no whole JSON stay the text they came in, and
reply.py tells the model of them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.text.tokens import estimate_tokens

CHARACTERS_MAX = 500_000
CALLS_MAX = 1_000

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


class TooLong(ValueError):
    """A reply that is longer than may be taken in."""


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass
class ChatReply:
    """What has come of one reply."""

    finish: str = ""
    """Why it ended; empty until it has."""
    has_begun: bool = False
    _id: str = ""
    _model: str = ""
    _text: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _calls: dict[int, _Call] = field(default_factory=dict)
    _usage: Mapping[str, Any] = field(default_factory=dict)
    _characters: int = 0

    def take(self, chunk: Mapping[str, Any]) -> str:
        """Take one piece in; return the text in it, for observers. Raises TooLong."""
        self._id = self._id or _string(chunk.get("id"))
        self._model = self._model or _string(chunk.get("model"))
        if usage := _mapping(chunk.get("usage")):
            self._usage = usage
        text = ""
        for choice in map(_mapping, _list(chunk.get("choices"))[:1]):  # one is asked for
            self.has_begun = True
            text = self._delta(_mapping(choice.get("delta")) or _mapping(choice.get("message")))
            self.finish = _string(choice.get("finish_reason")) or self.finish
        return text

    def _delta(self, delta: Mapping[str, Any]) -> str:
        text = self._counted(delta.get("content"))
        if text:
            self._text.append(text)
        if refusal := self._counted(delta.get("refusal")):
            self._refusal.append(refusal)
        for n, part in enumerate(map(_mapping, _list(delta.get("tool_calls")))):
            self._call(part, n)
        return text

    def _call(self, part: Mapping[str, Any], n: int) -> None:
        """Add a part to the call that it belongs to; some servers send whole calls, and no index."""
        function, id = _mapping(part.get("function")), _string(part.get("id"))
        index = part.get("index")
        if not isinstance(index, int):
            known = [at for at, call in self._calls.items() if id and call.id == id]
            index = known[0] if known else len(self._calls) if id or function.get("name") else n
        if index not in self._calls and len(self._calls) >= CALLS_MAX:
            raise TooLong(f"it has more than {CALLS_MAX} tool calls")
        call = self._calls.setdefault(index, _Call())
        call.id = call.id or id
        call.name += self._counted(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # as Ollama's own API has them
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.arguments.append(self._counted(arguments))

    def _counted(self, value: object) -> str:
        text = _string(value)
        self._characters += len(text)
        if self._characters > CHARACTERS_MAX:
            raise TooLong(f"it is longer than {CHARACTERS_MAX} characters")
        return text

    @property
    def has_usage(self) -> bool:
        """Whether the server has told what was used."""
        return bool(self._usage)

    def message(self, prompt_tokens: int = 0) -> dict[str, Any]:
        """Return the reply, whole or as far as it has come, in the form of the Messages API.

        Where the server has told of no usage, as before the end of a stream, it is estimated: `prompt_tokens` are
        those of the request. Else budgets would not hold.
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
        prompt, cached = self._count("prompt_tokens"), 0
        details = _mapping(self._usage.get("prompt_tokens_details"))
        cached = min(_count(details.get("cached_tokens")), prompt)
        return {
            "input_tokens": prompt - cached,
            "output_tokens": self._count("completion_tokens"),
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
        }

    def _count(self, name: str) -> int:
        return _count(self._usage.get(name))


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
