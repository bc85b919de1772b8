"""Recorded requests to a model: their contents, their hashes and their prices. Pure."""

from collections.abc import Mapping
from typing import Any

from antiphon_shared.events.step_records import ExchangeRecord, ModelCall
from antiphon_shared.process.errors import UnreadableEvent
from pydantic import ValidationError

from antiphon.recording.hashes import content_hash, sorted_json
from reasoning_engine.prices import Prices


def complete_request(call: ModelCall, contents: Mapping[str, object]) -> dict[str, Any]:
    """Return the request as it was sent. Raises UnreadableEvent if a content was not recorded."""
    return {name: _resolve(value, contents) for name, value in call.request.items()}


def request_hash(request: Mapping[str, object]) -> str:
    """Return the hash of a request; the order of its fields does not matter."""
    content = {name: value for name, value in request.items() if name not in _DELIVERY_FIELDS}
    return content_hash(sorted_json(content))


def system_in(request: Mapping[str, object]) -> str:
    """Return the operator's system prompt from a request. Raises UnreadableEvent."""
    match request.get("system"):
        case [{"text": str(text)}, *_]:
            return text
        case _:
            raise UnreadableEvent("the recorded system prompt is invalid.")


def prices_in(record: ExchangeRecord) -> Prices:
    """Return the recorded prices of an exchange. Raises UnreadableEvent."""
    try:
        return Prices(**record.prices)
    except ValidationError as error:
        raise UnreadableEvent(f"the recorded prices are invalid: {error.errors()[0]['msg']}") from None


_DELIVERY_FIELDS = frozenset({"stream"})
"""Fields that determine how the reply is delivered."""


def content_named_by(part: object) -> str | None:
    """Return the hash in `{"$content": hash}`, empty if it is no text; None for a part that is written out."""
    if not isinstance(part, dict) or set(part) != {"$content"}:
        return None
    name = part["$content"]
    return name if isinstance(name, str) else ""


def _resolve(value: object, contents: Mapping[str, object]) -> Any:
    name = content_named_by(value)
    if name is None:
        return value
    if name not in contents:
        raise UnreadableEvent(f"the recording lacks the content {name}.")
    return contents[name]
