"""The scripted server's replies of the Messages API as chat completions: errors, messages and streams.

`POST /v1/chat/completions` of tests/messages_server.py; such a client is pointed at `server.url + "/v1"`.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.messages_server import Scripted, Use

PATH = "/v1/chat/completions"
DONE = b"data: [DONE]\n\n"
_FINISH = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def error(scripted: "Scripted") -> dict[str, Any]:
    """Return an error as OpenAI writes it."""
    message = scripted.text or "scripted"
    return {"error": {"message": message, "type": scripted.error, "param": None, "code": None}}


def completion(scripted: "Scripted") -> dict[str, Any]:
    """Return a reply that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": scripted.text or None}
    if scripted.uses:
        message["tool_calls"] = [_call(use, n) for n, use in enumerate(scripted.uses)]
    choice = {"index": 0, "message": message, "finish_reason": _finish(scripted)}
    return _object(scripted, "chat.completion", [choice]) | {"usage": _usage(scripted)}


def events(scripted: "Scripted") -> Iterator[dict[str, Any]]:
    """Yield the pieces of a streamed reply, without its end."""
    yield _piece(scripted, {"role": "assistant", "content": ""})
    for text in _pieces(scripted.text, scripted.piece):
        yield _piece(scripted, {"content": text})
    for n, use in enumerate(scripted.uses):
        call = _call(use, n)
        written = call["function"]["arguments"]
        opening = {**call, "index": n, "function": {**call["function"], "arguments": ""}}
        yield _piece(scripted, {"tool_calls": [opening]})
        for text in _pieces(written, scripted.piece):
            yield _piece(scripted, {"tool_calls": [{"index": n, "function": {"arguments": text}}]})
    yield _piece(scripted, {}, _finish(scripted))
    yield _object(scripted, "chat.completion.chunk", []) | {"usage": _usage(scripted)}


def written(event: dict[str, Any]) -> bytes:
    """Return an event as the stream holds it."""
    return f"data: {json.dumps(event)}\n\n".encode()


def _piece(scripted: "Scripted", delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _object(scripted, "chat.completion.chunk", [choice]) | {"usage": None}


def _object(scripted: "Scripted", kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": kind,
        "created": 1,
        "model": scripted.model,
        "choices": choices,
    }


def _call(use: "Use", n: int) -> dict[str, Any]:
    written = json.dumps(use.input) if use.written is None else use.written
    function = {"name": use.name, "arguments": written}
    return {"id": use.id or f"call_{n + 1}", "type": "function", "function": function}


def _finish(scripted: "Scripted") -> str:
    reason = scripted.stop_reason or ("tool_use" if scripted.uses else "end_turn")
    return _FINISH.get(reason, reason)


def _usage(scripted: "Scripted") -> dict[str, Any]:
    cached = scripted.usage.get("cache_read_input_tokens", 0)
    prompt, reply = scripted.usage["input_tokens"] + cached, scripted.usage["output_tokens"]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": reply,
        "total_tokens": prompt + reply,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _pieces(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]
