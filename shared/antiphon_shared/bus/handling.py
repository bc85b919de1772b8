"""The API for authors of components: a handler takes a delivery, and returns an outcome to commit. Pure.

    async def on_tools_requested(delivery: Delivery, session: SessionStore) -> Outcome:
        results = await run(delivery.event.data.calls)
        return Outcome(events=(ToolsCompleted(round=delivery.event.data.round, results=results),))

A handler leaves all writes that an outcome can express to the outcome, as it may run again for the same delivery.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

from antiphon_shared.events import AnyEvent, EventData
from antiphon_shared.events.step_records import StepRecord
from antiphon_shared.process.stream_ids import milliseconds_of

STATE = "state"
"""The coordinator's document of a session."""
RESPONSE = "response"
"""The document with a session's one response, which is written once."""
BRIEFING = "briefing"
"""The text of a session's newest briefing."""
TO_SUMMARIZE = "to_summarize"
"""The text that a model is asked to summarize."""
MEMORY = "memory"
"""The append-only list of a session's memory deltas."""
VECTORS = "vectors"
"""The append-only list of the vectors of a session's facts and searches, if they are embedded."""
RUN = "run"
"""The append-only list of the state changes of a run, one per decision."""
RECORDS = "records"
"""The append-only list of a session's step records."""


class Delivery(NamedTuple):
    """One hand-over of a message."""

    event: AnyEvent
    log_entry: str
    """The event's entry in its session's log, by which later events refer to it."""
    attempt: int = 0
    """The number of earlier attempts in which a handler failed."""
    redelivered: bool = False
    """Whether another worker may have begun to handle it."""

    @property
    def requested_at_ms(self) -> int:
        """Return the time of the request, in Unix milliseconds of Redis's clock; the same for every attempt."""
        return milliseconds_of(self.log_entry)


@dataclass(frozen=True, slots=True)
class PutDocument:
    """The write of a whole document, if it still has the version with which it was read (0: it must not exist).

    Without a version, the document is written in any case: for content that does not depend on the old content.
    """

    document: str
    version: int | None
    content: bytes


@dataclass(frozen=True, slots=True)
class Append:
    """One item added to a list, if it still has the length with which it was read; None: at any length."""

    document: str
    length: int | None
    item: bytes


@dataclass(frozen=True, slots=True)
class Link:
    """One item added to a list, if its last item is still the item that the decision was based on.

    An item begins with the id of the event that caused it. `after` is the id of the item before it; None for the
    first. So a decision can be handed over before the decision that it is based on is committed: if one is not
    committed, all that follow conflict.
    """

    document: str
    after: UUID | None
    of: UUID
    content: bytes

    @property
    def item(self) -> bytes:
        """Return the stored bytes."""
        return self.of.bytes + self.content


@dataclass(frozen=True, slots=True)
class EndsWith:
    """A condition without a write: a list must end with the item that the decision was based on."""

    document: str
    item: UUID | None
    """The id of the item, like `after` of a Link."""


@dataclass(frozen=True, slots=True)
class SetTimer:
    """A timer that delivers `event` when it is `due`; it replaces a timer of the same name."""

    name: str
    due: datetime | timedelta
    """A time on Redis's clock, or a delay counted from the commit."""
    event: EventData


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """The removal of a timer, if it is still set."""

    name: str


@dataclass(frozen=True, slots=True)
class Send:
    """An event for another session of the same partition: an existing session, or one that the event opens.

    It has no effect if the existing session is missing, or if the session to open exists already.
    """

    session_id: str
    event: EventData
    opens: bool = False


class Outcome(NamedTuple):
    """All changes of handling one delivery, committed in one step with its acknowledgement."""

    events: tuple[EventData, ...] = ()
    """Events of the session, in the order of its log; each goes to the inbox that its class names."""
    sends: tuple[Send, ...] = ()
    """Events for other sessions; only for outcomes of the coordinator."""
    writes: tuple[PutDocument | Append | Link | EndsWith, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    closes_session: bool = False
    """Whether the session no longer counts as open."""
    takes_room: bool | None = None
    """False if the session waits for a person from now on and frees its slot; True if it continues and takes one."""
    stops_work: bool = False
    """Whether engines and dispatchers drop their work for the session within a second."""
    extra_retention_s: float = 0.0
    """Seconds for which the session's data is kept beyond its retention, as the session may wait that long."""
    record: StepRecord | None = None
    """The data that a replay of this step needs in addition to the events."""
    after_commit: Callable[[], None] | None = None
    """Called after this outcome was committed, but not if another worker was faster, or if that is unknown."""


NOTHING = Outcome()
"""The outcome that only acknowledges the message."""


class SessionStore(Protocol):
    """The stored data of one session. Reads that are called together share one round trip: see reads.py."""

    session_id: str

    def document(self, name: str) -> Awaitable[tuple[int, bytes | None]]:
        """Return a document's version and content; (0, None) if it does not exist."""

    def items(self, name: str, start: int = 0) -> Awaitable[list[bytes]]:
        """Return the items of an append-only list, from the `start`-th on."""

    def event(self, log_entry: str) -> Awaitable[AnyEvent]:
        """Return one event of the session's log. Raises UnreadableEvent when it is missing."""

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        """Return the log entry and the event with that id, searched from the end of the log; None if it is missing."""

    async def settled(self, journal: str) -> dict[str, bytes]:
        """Return all entries of a journal, by their name."""

    async def count(self, journal: str) -> int:
        """Return the number of entries in a journal."""

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        """Add an entry to a journal at once, outside any commit; return False, without a change, if it exists."""

    async def store(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        """Store content that never changes, at once, outside any commit; kept `more_s` beyond the retention."""

    async def load(self, name: str) -> bytes | None:
        """Return the content that `store` has stored under a name, or None if it is not stored."""

    def stream_text(self, text: str) -> Awaitable[None]:
        """Add text to the session's short-lived stream of deltas, for observers.

        The text is sent at once; the awaitable ends when it has arrived.
        """


Handler = Callable[[Delivery, SessionStore], Awaitable[Outcome]]
Handlers = Mapping[type[EventData], Handler]
