"""Recorded requests to a model: completed with their contents, and hashed. Pure."""

from collections.abc import Mapping
from typing import Any

from antiphon_shared.events.step_records import ModelCall
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.hashes import content_hash, sorted_json


def whole_request(call: ModelCall, contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as they were sent. Raises UnreadableEvent when a content was not recorded."""
    return {name: _resolve(value, contents) for name, value in call.request.items()}


def request_hash(request: Mapping[str, Any]) -> str:
    """Return the same hash for equal requests, in any order of their fields."""
    content = {name: value for name, value in request.items() if name not in _HOW}
    return content_hash(sorted_json(content))


def system_in(request: Mapping[str, Any]) -> str:
    """Return the operator's own system prompt, which is an input. Raises UnreadableEvent."""
    match request.get("system"):
        case [{"text": str(text)}, *_]:
            return text
        case _:
            raise UnreadableEvent("the recorded system prompt is invalid.")


_HOW = frozenset({"stream"})
"""Fields that say how to answer, and not what is asked."""


def _resolve(value: Any, contents: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict) or set(value) != {"$content"}:
        return value
    named = value["$content"]
    if not isinstance(named, str) or named not in contents:
        raise UnreadableEvent(f"the recording lacks the content {named}.")
    return contents[named]
