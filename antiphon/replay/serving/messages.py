"""Recorded messages as the Messages API streams them. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json


def message_events(message: Mapping[str, object]) -> bytes:
    """Return the stream of a whole message."""
    ending = {name: message.get(name) for name in ("stop_reason", "stop_sequence", "stop_details")}
    tokens = _usage(message).get("output_tokens", 0)
    events = [
        *_partial_message(message),
        _event("message_delta", delta=ending, usage={"output_tokens": tokens}),
        _event("message_stop"),
    ]
    return b"".join(events)


def unfinished_events(message: Mapping[str, object]) -> bytes:
    """Return the stream of a partial message, without its end."""
    return b"".join(_partial_message(message))


def error_events(body: object) -> bytes:
    """Return an error inside a stream."""
    error = (
        body
        if isinstance(body, dict)
        else {"type": "error", "error": {"type": "api_error", "message": str(body)}}
    )
    return b"event: error\ndata: " + to_json(error) + b"\n\n"


def error_body(kind: str, text: str) -> bytes:
    """Return the body of an error response."""
    return to_json({"type": "error", "error": {"type": kind, "message": text}})


def _partial_message(message: Mapping[str, object]) -> Iterator[bytes]:
    opening = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(message)}
    yield _event("message_start", message=opening)
    content = message.get("content")
    for index, block in enumerate(content if isinstance(content, list) else ()):
        yield from _block(index, block)


def _block(index: int, block: Mapping[str, object]) -> Iterator[bytes]:
    empty, delta = dict(block), None
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        empty["text"] = ""
        delta = {"type": "text_delta", "text": block["text"]}
    elif block.get("type") == "tool_use":
        arguments = block.get("input")
        # Arguments that were not complete JSON are stored as text.
        written = arguments if isinstance(arguments, str) else to_json(arguments).decode()
        empty["input"] = {}
        delta = {"type": "input_json_delta", "partial_json": written}
    yield _event("content_block_start", index=index, content_block=empty)
    if delta is not None:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _usage(message: Mapping[str, object]) -> Mapping[str, Any]:
    usage = message.get("usage")
    return usage if isinstance(usage, dict) else {}


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + to_json({"type": kind, **fields}) + b"\n\n"
