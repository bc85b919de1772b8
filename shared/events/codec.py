"""Bytes to events and back: the edge where everything is validated, once."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Union

import orjson
from pydantic import Field, TypeAdapter, ValidationError, create_model

from shared.errors import UnreadableEvent
from shared.events.base import AnyEvent, Event, EventData
from shared.events.client import CancellationRequested, QuerySubmitted
from shared.events.context_synthesizer import BriefingReady
from shared.events.coordinator import (
    AssemblyOverdue,
    AssemblyRequested,
    BriefingRequested,
    DeadlineReached,
    ReasoningRequested,
    SessionOpened,
    ToolsRequested,
)
from shared.events.reasoning_engine import ReasoningCompleted, ReasoningFailed
from shared.events.response_assembler import ResponseReady
from shared.events.runtime import ComponentFailed
from shared.events.tool_dispatcher import ToolsCompleted

EVENT_DATA: tuple[type[EventData], ...] = (
    QuerySubmitted,
    CancellationRequested,
    SessionOpened,
    BriefingRequested,
    BriefingReady,
    ReasoningRequested,
    ReasoningCompleted,
    ReasoningFailed,
    ToolsRequested,
    ToolsCompleted,
    AssemblyRequested,
    AssemblyOverdue,
    ResponseReady,
    DeadlineReached,
    ComponentFailed,
)

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""Turns the data of one version into the data of the next."""

UPCASTERS: Mapping[str, tuple[str, Upcaster]] = {}
"""Old type -> (the type that replaced it, how its data is carried over). Applied until the type is current."""


def _envelope(data: type[EventData]) -> type[AnyEvent]:
    only_this_type: Any = Literal[data.type]
    return create_model(
        f"{data.__name__}Event",
        __base__=Event[data],  # type: ignore[valid-type]  # one concrete envelope per data class
        type=(only_this_type, data.type),
    )


ENVELOPES: Mapping[type[EventData], type[AnyEvent]] = {data: _envelope(data) for data in EVENT_DATA}

_one_of: Any = Union[tuple(ENVELOPES.values())]  # noqa: UP007  # a union made at run time
_any_event: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[_one_of, Field(discriminator="type")])


def encode(event: AnyEvent) -> bytes:
    """The event as CloudEvents JSON."""
    return event.__pydantic_serializer__.to_json(event, exclude_none=True)


def decode(raw: bytes, upcasters: Mapping[str, tuple[str, Upcaster]] = UPCASTERS) -> AnyEvent:
    """The event in `raw`, brought to its current version.

    Raises UnreadableEvent, which names the first field at fault.
    """
    try:
        return _any_event.validate_json(raw, strict=True)
    except ValidationError as error:
        upcast = _upcast(raw, upcasters)
        if upcast is None:
            raise UnreadableEvent(explain(error), hint=_KNOWN_TYPES_HINT) from None
    try:
        return _any_event.validate_json(orjson.dumps(upcast), strict=True)
    except ValidationError as error:
        raise UnreadableEvent(explain(error), hint=_KNOWN_TYPES_HINT) from None


def explain(error: ValidationError) -> str:
    """Every fault of a validation as `field: what is wrong`, the first five."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False)[:5]:
        path = (
            ".".join(str(part) for part in fault["loc"] if not str(part).startswith("antiphon.")) or "event"
        )
        lines.append(f"{path}: {fault['msg']}")
    return "; ".join(lines)


def _upcast(raw: bytes, upcasters: Mapping[str, tuple[str, Upcaster]]) -> dict[str, Any] | None:
    """The event's fields in their newest version; None when no upcaster knows its type."""
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(fields, dict) or fields.get("type") not in upcasters:
        return None
    while (step := upcasters.get(fields["type"])) is not None:
        newer, carry_over = step
        fields = {**fields, "type": newer, "data": carry_over(fields["data"])}
    return fields


_KNOWN_TYPES_HINT = "`antiphon events schema` prints every event there is."
