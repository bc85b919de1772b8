"""From bytes to events and back: everything is validated here, once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from threading import Lock
from typing import Annotated, Any, Literal, Union

import orjson
from pydantic import Field, TypeAdapter, ValidationError, create_model
from pydantic_core import to_json

from antiphon_shared.events import (
    client,
    context_synthesizer,
    coordinator,
    coordinator_people,
    coordinator_runs,
    coordinator_timers,
    reasoning_engine,
    response_assembler,
    runtime,
    tool_dispatcher,
)
from antiphon_shared.events.base import AnyEvent, Event, EventData
from antiphon_shared.formats import CANNOT_CARRY_OVER, FORMAT, Upcaster, as_json
from antiphon_shared.process.errors import NewerFormat, UnreadableEvent
from antiphon_shared.stored import fields_of, refuse_newer
from antiphon_shared.text.nearest import did_you_mean

EVENT_DATA: tuple[type[EventData], ...] = (
    client.QuerySubmitted,
    client.CancellationRequested,
    client.ApprovalDecided,
    coordinator.SessionOpened,
    coordinator.FallbackTaken,
    coordinator.AnswerRefused,
    coordinator.StepBegun,
    coordinator.OutagesSeen,
    coordinator.BriefingRequested,
    context_synthesizer.BriefingReady,
    coordinator.ReasoningRequested,
    reasoning_engine.ReasoningCompleted,
    reasoning_engine.ReasoningFailed,
    coordinator.SummaryRequested,
    reasoning_engine.SummaryCompleted,
    reasoning_engine.SummaryFailed,
    coordinator_people.ApprovalRequested,
    coordinator_people.QuestionAsked,
    client.QuestionAnswered,
    coordinator_timers.PersonOverdue,
    coordinator_timers.ModelDue,
    coordinator.ToolsRequested,
    tool_dispatcher.ToolsCompleted,
    coordinator.AssemblyRequested,
    coordinator_timers.AssemblyOverdue,
    response_assembler.ResponseReady,
    coordinator_timers.DeadlineReached,
    runtime.ComponentFailed,
    coordinator_runs.RunOpened,
    coordinator_runs.NodesSettled,
    coordinator_runs.NodeDue,
    coordinator_runs.InputRequested,
    client.InputGiven,
    coordinator_runs.InputRefused,
    client.OutcomeSettled,
    client.ResumeRequested,
    coordinator_runs.ChildBegun,
    coordinator_runs.ChildWaiting,
    coordinator_runs.ChildEnded,
)

UPCASTERS: Mapping[str, tuple[str, Upcaster]] = {}
"""By old type: its successor, and the function that converts the data. Applied until the type is current."""


def _envelope(data: type[EventData]) -> type[AnyEvent]:
    only_this_type: Any = Literal[data.type]
    return create_model(
        f"{data.__name__}Event",
        __base__=Event,
        type=(only_this_type, data.type),
        data=(data, ...),
    )


class _Envelopes(Mapping[type[EventData], type[AnyEvent]]):
    """The class of the whole event, by the class of its data; each is created on first use."""

    def __init__(self) -> None:
        self._made: dict[type[EventData], type[AnyEvent]] = {}
        self._making = Lock()

    def __getitem__(self, data: type[EventData]) -> type[AnyEvent]:
        made = self._made.get(data)
        return self._make(data) if made is None else made

    def __iter__(self) -> Iterator[type[EventData]]:
        return iter(EVENT_DATA)

    def __len__(self) -> int:
        return len(EVENT_DATA)

    def _make(self, data: type[EventData]) -> type[AnyEvent]:
        if data not in EVENT_DATA:
            raise KeyError(data)
        with self._making:  # a second class of the same name would make equal events unequal
            return self._made.setdefault(data, self._made.get(data) or _envelope(data))


ENVELOPES: Mapping[type[EventData], type[AnyEvent]] = _Envelopes()
_BY_TYPE = {data.type.encode(): data for data in EVENT_DATA}
_TYPE = re.compile(
    rb'\{"specversion":"1\.0","id":"[^"\\]{36}","source":"[^"\\]{1,200}","type":"([a-z0-9_.]+)","subject":"'
)
"""The beginning of an event as `encode` writes it."""


@cache
def _any_event() -> TypeAdapter[AnyEvent]:
    one_of: Any = Union[tuple(ENVELOPES.values())]  # noqa: UP007  # a union made at run time
    return TypeAdapter(Annotated[one_of, Field(discriminator="type")])


def _validated(raw: bytes) -> AnyEvent:
    """Return the event in `raw`; for an event written by `encode`, only the model of its type is built.

    Raises ValidationError.
    """
    begins = _TYPE.match(raw)
    data = None if begins is None else _BY_TYPE.get(begins[1])
    if data is None:
        return _any_event().validate_json(raw, strict=True)
    event: AnyEvent = ENVELOPES[data].__pydantic_validator__.validate_json(raw, strict=True)
    return event


def encode(event: AnyEvent) -> bytes:
    """Return the event as CloudEvents JSON, in the format of its session."""
    return as_json(event, event.format, exclude_none=True)


def decode(raw: bytes, upcasters: Mapping[str, tuple[str, Upcaster]] = UPCASTERS) -> AnyEvent:
    """Return the event in `raw`, brought to its current version.

    Raises UnreadableEvent, which names the first invalid field; NewerFormat for an event of a later release.

    Args:
        raw: a CloudEvent as JSON.
        upcasters: by old type, its successor and the function that converts the data.
    """
    try:
        if b"NaN" in raw or b"Infinity" in raw:
            _refuse_what_json_lacks(raw)
        event = _validated(raw)
        if event.format > FORMAT:
            raise NewerFormat(event.type, event.format, FORMAT)
        return event
    except ValidationError as error:
        fields = fields_of(raw)
        refuse_newer(str(fields.get("type", "an event"))[:100], fields)
        upcast = _upcast(fields, upcasters)
        if upcast is None:
            raise UnreadableEvent(f"{explain(error)}.", hint=_TYPES_HINT) from None
    try:
        return _any_event().validate_json(upcast, strict=True)
    except ValidationError as error:
        raise UnreadableEvent(f"{explain(error)}.", hint=_TYPES_HINT) from None


def explain(error: ValidationError, parent: str = "") -> str:
    """Return the first five errors of a validation as `field: error`, each kept short.

    `parent`: the name of the validated value, if it is a field of a larger one; it begins each path.
    """
    lines = []
    for fault in error.errors(include_url=False, include_context=False)[:5]:
        path = ".".join(str(part) for part in fault["loc"] if not str(part).startswith("antiphon."))
        if parent:
            path = f"{parent}.{path}" if path else parent
        path = path or ("type" if fault["type"].startswith("union_tag") else "event")
        message = fault["msg"].replace("Unable to extract tag using discriminator", "there is no field")
        lines.append(f"{path[:100]}: {message[:200]}")
    return "; ".join(lines)


def unknown_field(error: ValidationError, fields: Iterable[str], parent: str = "") -> tuple[str, str]:
    """Return the text of `explain`, and for an unknown field a hint which of the `fields` ones was meant."""
    unknown = (
        fault["loc"][-1] for fault in error.errors(include_url=False) if fault["type"] == "extra_forbidden"
    )
    name = next(unknown, None)
    if name is None:
        return f"{explain(error, parent)}.", ""
    path = f"{parent}.{name}" if parent else str(name)
    return f"{path[:100]}: there is no such option.", did_you_mean(str(name)[:100], fields)


def _refuse_what_json_lacks(raw: bytes) -> None:
    """Refuse NaN and infinities, which pydantic's parser accepts for fields of any value."""
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise UnreadableEvent(f"event: Invalid JSON: {error}", hint=_TYPES_HINT) from None


def _upcast(fields: dict[str, Any], upcasters: Mapping[str, tuple[str, Upcaster]]) -> bytes | None:
    """Return the event in its newest version; None if no upcaster knows its type.

    Raises UnreadableEvent when an upcaster cannot convert the data, or when the registry has a cycle.
    """
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in upcasters:
        return None
    for _ in upcasters:
        newer, carry_over = upcasters[kind]
        try:
            fields = {**fields, "type": newer, "data": carry_over(fields["data"])}
            if newer not in upcasters:
                return to_json(fields)
        except CANNOT_CARRY_OVER as error:
            raise UnreadableEvent(f"data: cannot be carried over from {kind} to {newer}: {error!r}") from None
        kind = newer
    raise UnreadableEvent(f"type: the upcasters of {kind} form a cycle")


_TYPES_HINT = "`antiphon events schema` prints every event there is."
