"""The state of a recorded session right after an event: its document, memory and deliveries in flight. Pure.

A step is included with all its events, even if the named event is not the last of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from antiphon_shared.events import EventData, QuerySubmitted, ResponseReady, SessionOpened
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.step_records import (
    BriefingRecord,
    DecisionRecord,
    ForkRecord,
    StepRecord,
    TimerRecord,
)
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import child_id
from pydantic import ValidationError

from antiphon.recording.lines import EventLine, Header, Line, RecordLine
from antiphon.recording.session_document import Document
from antiphon.replay.checks.briefings import Briefings
from antiphon.replay.checks.decisions import has_effect
from antiphon.replay.forking.event_at import NoSuchPoint, number_of, resumable
from antiphon.replay.steps.redelivery import redelivered
from antiphon.replay.steps.replay_state import RecordingContent, Step, output_ids
from coordinator.session import Session

_DATA = {kind.type: kind for kind in ENVELOPES}


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer that was set and had not fired."""

    name: str
    due: datetime
    data: EventData
    parent: EventLine
    number: int
    """The number of its event among the outputs of `parent`."""


@dataclass
class Point:
    """A session right after one of its events."""

    header: Header
    lines: list[Line] = field(default_factory=list)
    """The lines of the recording up to the event."""
    event: EventLine | None = None
    """The last event included."""
    session: Session | None = None
    pending: tuple[EventLine, ...] = ()
    """Deliveries in flight: events in an inbox that were not handled."""
    timers: dict[str, Timer] = field(default_factory=dict)
    content: RecordingContent = field(default_factory=RecordingContent)
    briefings: Briefings = field(default_factory=Briefings)
    built_by: BriefingRecord | None = None
    """The newest record of a briefing."""

    @property
    def opened(self) -> tuple[EventLine, QuerySubmitted, SessionOpened]:
        """Return the query's event, the query, and the session's opening."""
        events = list(self.content.lines.values())
        opened = next(line.event.data for line in events if isinstance(line.event.data, SessionOpened))
        query = next(line for line in events if isinstance(line.event.data, QuerySubmitted))
        assert isinstance(query.event.data, QuerySubmitted)
        return query, query.event.data, opened


@dataclass(frozen=True, slots=True)
class Beginning:
    """The state from which a fork resumed."""

    session: Session
    deliveries: tuple[EventLine, ...]
    """The deliveries in flight, as they were delivered there."""
    briefings: Briefings
    taken_over: int
    """The number of events before it."""


def beginning_of(lines: Sequence[Line]) -> Beginning:
    """Return the beginning of a fork; `lines` are a recording up to the record of the fork.

    Raises UnreadableEvent.
    """
    record = lines[-1].record if isinstance(lines[-1], RecordLine) else None
    assert isinstance(record, ForkRecord), "a fork begins after its record"
    taken_over = sum(isinstance(line, EventLine) for line in lines)
    point = state_at(lines, taken_over)
    if point.session is None:
        raise UnreadableEvent("it is a fork of a session that was not open yet.")
    delivered = tuple(point.content.lines[one.event] for one in record.redelivered)
    return Beginning(point.session, delivered, point.briefings, taken_over)


def point_at(lines: Sequence[Line], event_name: str) -> Point:
    """Return the session right after an event; `event_name` is its number or its type, such as `reasoning.requested@2`.

    Raises NoSuchPoint, which names the events to resume from, and UnreadableEvent.
    """
    last = end_of_step(lines, number_of(lines, event_name))
    point = state_at(lines, last)
    problem = _problem(point)
    if problem:
        raise NoSuchPoint(
            f"The session cannot continue from event {event_name}: {problem}", hint=resumable(lines)
        )
    return point


def end_of_step(lines: Sequence[Line], n: int) -> int:
    """Return the number of the last event of the steps that have begun by event `n`."""
    numbers = {line.event.id: line.n for line in lines if isinstance(line, EventLine)}
    _check_outputs(lines, len(numbers))
    steps = [
        [numbers[id] for id in output_ids(line.record) if id in numbers]
        for line in lines
        if isinstance(line, RecordLine)
    ]
    for step in sorted(filter(None, steps)):
        if min(step) <= n:
            n = max(n, *step)
    return n


def _check_outputs(lines: Sequence[Line], events: int) -> None:
    """Raise UnreadableEvent when the records count more events than there are."""
    if sum(line.record.outputs for line in lines if isinstance(line, RecordLine)) > events:
        raise UnreadableEvent("its records name missing events.")


def state_at(lines: Sequence[Line], last: int, unhandled: UUID | None = None) -> Point:
    """Return the state at event number `last`, before the step that handled `unhandled`.

    Raises UnreadableEvent.
    """
    if not lines or not isinstance(lines[0], Header):
        raise UnreadableEvent("the header is missing.")
    _check_outputs(lines, sum(isinstance(line, EventLine) for line in lines))
    point, document, handled = Point(lines[0]), Document(), set[UUID]()
    for line in lines:
        match line:
            case EventLine() if line.n > last:
                break
            case RecordLine() if line.record.of == unhandled:
                break
            case EventLine():
                point.content.add(line)
                point.event = line
                point.timers = {
                    name: timer
                    for name, timer in point.timers.items()
                    if child_id(timer.parent.event.id, timer.number) != line.event.id
                }
                if line.event.causationid is not None:
                    handled.add(line.event.causationid)
            case RecordLine(record=ForkRecord() as record):
                document.take(record)
                for one in record.redelivered:
                    redelivered(one, point.content)
            case RecordLine(record=record):
                handled.add(record.of)
                _step(point, record, document)
            case _:
                point.content.read(line)
        point.lines.append(line)
    if not document.is_empty:
        point.session = document.session()
        point.pending = tuple(_pending(point, point.session, handled))
    return point


def _step(point: Point, record: StepRecord, document: Document) -> None:
    line = point.content.handled(record)
    outputs = tuple(point.content.lines[id] for id in output_ids(record) if id in point.content.lines)
    match record:
        case DecisionRecord():
            document.take(record)
            sent = outputs[-1].event.time if outputs else line.event.time
            for number, timer in enumerate(record.timers, start=record.outputs):
                set_timer(point.timers, timer, sent, line, number)
        case BriefingRecord():
            point.built_by = record
            point.briefings.redo(Step(line, record, outputs), point.content)


def set_timer(
    timers: dict[str, Timer], timer: TimerRecord, now: datetime, parent: EventLine, number: int
) -> None:
    """Apply a timer that a decision has set or cancelled, at the time when its events were sent."""
    due = timer.due_from(now)
    timers.pop(timer.name, None)
    if due is not None:
        try:
            data = _DATA[timer.type].model_validate(timer.data)
        except (KeyError, ValidationError):
            raise UnreadableEvent(f"the timer {timer.name!r} of event {parent.n} is unreadable.") from None
        timers[timer.name] = Timer(timer.name, due, data, parent, number)


def _pending(point: Point, session: Session, handled: set[UUID]) -> Iterator[EventLine]:
    """Yield the events that are still unhandled, and would have an effect."""
    requests = (*session.awaiting, session.summaries.awaiting)
    for line in point.content.lines.values():
        inbox = line.event.data.inbox
        if inbox is None or line.event.id in handled:
            continue
        is_in_flight = line.event.id in requests
        if inbox == "coordinator":
            is_in_flight = has_effect(session, line, point.content)
        if is_in_flight:
            yield line


def _problem(point: Point) -> str:
    """Return the reason why the session cannot resume at the point; empty if it can."""
    if point.session is None:
        return "it was not open yet. Ask the question again instead."
    if any(isinstance(line.event.data, ResponseReady) for line in point.content.lines.values()):
        return "it had already been answered."
    if point.session.phase == "approval" and not point.pending:
        return "it waits for a person, but a fork cannot ask a person."
    if not point.pending and point.session.phase != "resting":
        return "no work is left at that event."
    return ""
