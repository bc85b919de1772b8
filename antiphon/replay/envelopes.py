"""The consistency of the envelopes of a recording's events, without their data. Pure.

The bus derives an event's envelope from that of its cause: see shared/antiphon_shared/bus/replies.py. So the fields
follow from earlier events, and a recording with other fields was changed.
"""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.events.step_records import AnyRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import CHILD, child_id
from antiphon_shared.process.stream_ids import milliseconds_of

from antiphon.recording.lines import EventLine, Header, Line, RecordLine

CLOCKS_APART = timedelta(minutes=10)
"""The greatest difference between the clocks of workers and of Redis."""
_CHILDREN_MAX = 256
"""A limit above the number of events and timers that follow from one event."""
_FAILURE = 1_000_000
"""The number of the event that reports a failure, as in the bus."""
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class _EventFields(NamedTuple):
    """The fields of an event that later events are checked against."""

    n: int
    time: datetime
    logged: datetime
    correlation: UUID
    traceparent: str | None
    format: int
    inbox: str | None


class Envelopes:
    """The envelopes of one recording, in order."""

    def __init__(self) -> None:
        self._session_id = ""
        self._submitted: datetime | None = None
        self._first: _EventFields | None = None
        self._seen: dict[int, _EventFields] = {}
        """The fields by the event's id, as a number."""

    def check(self, line: Line) -> None:
        """Raise UnreadableEvent, which names the event and the field, if an envelope does not fit the earlier ones."""
        if isinstance(line, EventLine):
            if wrong := self._wrong(line):
                raise UnreadableEvent(f"event {line.n}, {line.event.type}: {wrong}.", hint=_HINT)
        elif isinstance(line, RecordLine):
            if line.record.outputs > 1:
                self._check_times(line.record)
        elif isinstance(line, Header):
            self._session_id, self._submitted = line.session_id, line.submitted

    def _wrong(self, line: EventLine) -> str:
        """Return the first error of an envelope; an empty text if it fits."""
        event, logged = line.event, _logged(line.entry)
        if event.subject != self._session_id:
            return f"its subject is {event.subject}, and the recording is of session {self._session_id}"
        if self._first is None and event.time != self._submitted:
            submitted = _time_text(self._submitted)
            return f"its time is {_time_text(event.time)}, and the header has {submitted} as `submitted`"
        if isinstance(event.data, QuerySubmitted) and (wrong := _not_opening(event, event.data)):
            return wrong
        if event.time > logged + CLOCKS_APART:
            return f"its time is {_time_text(event.time)}, long after it was logged: {_time_text(logged)}"
        if wrong := self._unlike_cause(event):
            return wrong
        seen = _EventFields(
            line.n, event.time, logged, event.correlationid, event.traceparent, event.format, event.data.inbox
        )
        self._first = self._first or seen
        self._seen[event.id.int] = seen
        return ""

    def _unlike_cause(self, event: AnyEvent) -> str:
        cause = self._first
        if event.causationid is not None:
            cause = self._seen.get(event.causationid.int)
            if not _is_child(event.id, event.causationid):
                return "its id is not derived from its causationid"
        if cause is None:
            return ""
        if event.causationid is not None and (wrong := _not_inherited(event, cause)):
            return wrong
        if event.time < cause.logged - CLOCKS_APART:
            logged_at = _time_text(cause.logged)
            return (
                f"its time is {_time_text(event.time)}, long before event {cause.n} was logged: {logged_at}"
            )
        if event.format != cause.format:
            return f"its format is {event.format}, and that of event {cause.n} is {cause.format}"
        return ""

    def _check_times(self, record: AnyRecord) -> None:
        """Check that all events of a step have the same time, as one commit sends them."""
        first: _EventFields | None = None
        for n in range(min(record.outputs, len(self._seen))):
            seen = self._seen.get(child_id(record.of, n).int)
            first = first or seen
            if seen is not None and first is not None and seen.time != first.time:
                raise UnreadableEvent(
                    f"event {seen.n} has another time than event {first.n}, although one step emitted both.",
                    hint=_HINT,
                )


def _not_inherited(event: AnyEvent, cause: _EventFields) -> str:
    """Return the error of a field that differs from that of the cause; an empty text if none does."""
    if event.source != cause.inbox:
        return f"its source is {event.source}, and event {cause.n}, its cause, went to {cause.inbox}"
    if event.correlationid != cause.correlation:
        return f"its correlationid differs from that of event {cause.n}"
    if event.traceparent != cause.traceparent:
        return f"its traceparent differs from that of event {cause.n}"
    return ""


def _not_opening(event: AnyEvent, query: QuerySubmitted) -> str:
    """Return the error in the ids of a query that opens a session; a child session has its parent's correlation."""
    if query.parent is None:
        is_own = event.correlationid == event.id
        return "" if is_own else "its correlationid is not its own id, although it opens a session"
    is_sent = event.causationid is not None and CHILD in event.subject
    return (
        "" if is_sent else f"it names the parent {query.parent.session}, but was not sent by another session"
    )


def _is_child(id: UUID, parent: UUID) -> bool:
    number = id.int
    for n in range(_CHILDREN_MAX):
        if child_id(parent, n).int == number:
            return True
    return child_id(parent, _FAILURE).int == number


def _logged(entry: str) -> datetime:
    try:
        return _EPOCH + milliseconds_of(entry) * _MILLISECOND
    except OverflowError:
        raise UnreadableEvent(f"{entry} is not a valid log id: its time is out of range.") from None


def _time_text(moment: datetime | None) -> str:
    return "nothing" if moment is None else moment.isoformat()


_HINT = "The bus does not write such an envelope: the recording was changed."
