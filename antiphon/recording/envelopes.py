"""What the envelopes of a recording's events owe each other, whatever they hold: pure.

The bus makes an event's envelope from that of its cause: see shared/antiphon_shared/bus/committing.py. So what stands
in it can be told from the events before, and one that says something else was not written by the bus.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.events.step_records import AnyRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import CHILD, child_id

from antiphon.recording.lines import EventLine, Header, Line, RecordLine

CLOCKS_APART = timedelta(minutes=10)
"""How far the clocks of workers and of Redis may be apart."""
_CHILDREN_MAX = 256
"""More than ever come of one event: what was sent, and the timers."""
_FAILURE = 1_000_000
"""The number of the event that reports a failure, as the bus has it."""
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class _Seen(NamedTuple):
    """What of an event the later ones are held against."""

    n: int
    time: datetime
    logged: datetime
    correlation: UUID
    traceparent: str | None
    format: int
    inbox: str | None


class Envelopes:
    """The envelopes of one recording, in their order."""

    def __init__(self) -> None:
        self._session_id = ""
        self._submitted: datetime | None = None
        self._first: _Seen | None = None
        self._seen: dict[int, _Seen] = {}
        """By the event's id as a number."""

    def check(self, line: Line) -> None:
        """Raises UnreadableEvent, which names the event and the field, when they do not fit those before."""
        match line:
            case Header():
                self._session_id, self._submitted = line.session_id, line.submitted
            case EventLine():
                wrong = next(self._wrong(line), None)
                if wrong is not None:
                    raise UnreadableEvent(f"event {line.n}, {line.event.type}: {wrong}.", hint=_HINT)
            case RecordLine(record=record):
                self._check_times(record)
            case _:
                pass

    def _wrong(self, line: EventLine) -> Iterator[str]:
        event, logged = line.event, _logged(line.entry)
        if event.subject != self._session_id:
            yield f"its subject is {event.subject}, and the recording is of session {self._session_id}"
        if self._first is None and event.time != self._submitted:
            yield f"its time is {_told(event.time)}, and the header has {_told(self._submitted)} as `submitted`"
        if isinstance(event.data, QuerySubmitted):
            yield from _not_opening(event, event.data)
        if event.time > logged + CLOCKS_APART:
            yield f"its time is {_told(event.time)}, long after it was logged: {_told(logged)}"
        yield from self._unlike_cause(event)
        seen = _Seen(
            line.n, event.time, logged, event.correlationid, event.traceparent, event.format, event.data.inbox
        )
        self._first = self._first or seen
        self._seen[event.id.int] = seen

    def _unlike_cause(self, event: AnyEvent) -> Iterator[str]:
        cause = self._first
        if event.causationid is not None:
            cause = self._seen.get(event.causationid.int)
            if not _is_child(event.id, event.causationid):
                yield "its id does not follow from its causationid"
        if cause is None:
            return
        if event.causationid is not None:
            yield from _not_inherited(event, cause)
        if event.time < cause.logged - CLOCKS_APART:
            yield f"its time is {_told(event.time)}, long before event {cause.n} was logged: {_told(cause.logged)}"
        if event.format != cause.format:
            yield f"its format is {event.format}, and that of event {cause.n} is {cause.format}"

    def _check_times(self, record: AnyRecord) -> None:
        """All that comes of one step is sent in one commit, and at one time."""
        first: _Seen | None = None
        for n in range(min(record.outputs, len(self._seen))):
            seen = self._seen.get(child_id(record.of, n).int)
            first = first or seen
            if seen is not None and first is not None and seen.time != first.time:
                raise UnreadableEvent(
                    f"event {seen.n} has another time than event {first.n}, and both came of one step.",
                    hint=_HINT,
                )


def _not_inherited(event: AnyEvent, cause: _Seen) -> Iterator[str]:
    """What the bus takes over from an event's cause. An event from outside has none: its ids are its writer's."""
    if event.source != cause.inbox:
        yield f"its source is {event.source}, and event {cause.n}, its cause, went to {cause.inbox}"
    if event.correlationid != cause.correlation:
        yield f"its correlationid is another than that of event {cause.n}"
    if event.traceparent != cause.traceparent:
        yield f"its traceparent is another than that of event {cause.n}"


def _not_opening(event: AnyEvent, query: QuerySubmitted) -> Iterator[str]:
    """What is wrong with a query; that of a session which another has begun goes on with the other's correlation."""
    if query.parent is None:
        if event.correlationid != event.id:
            yield "its correlationid is not its own id, as it is of what opens a session"
    elif event.causationid is None or CHILD not in event.subject:
        yield f"it names the parent {query.parent.session}, and was not sent by another session"


def _is_child(id: UUID, parent: UUID) -> bool:
    return any(id == child_id(parent, n) for n in range(_CHILDREN_MAX)) or id == child_id(parent, _FAILURE)


def _logged(entry: str) -> datetime:
    try:
        return _EPOCH + int(entry.partition("-")[0]) * _MILLISECOND
    except OverflowError:
        raise UnreadableEvent(f"{entry} is no place in a log: it is no time of our age.") from None


def _told(moment: datetime | None) -> str:
    return "nothing" if moment is None else moment.isoformat()


_HINT = "The bus writes no such envelope: the recording was changed."
