"""What a component's author works with: a delivery comes in, an outcome goes out, the runtime commits it.

    async def on_tools_requested(delivery: Delivery, session: SessionStore) -> Outcome:
        results = await run(delivery.event.data.calls)
        return Outcome(events=(ToolsCompleted(round=delivery.event.data.round, results=results),))

A handler never writes what its outcome can say; it may be run again for the same delivery at any time.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from antiphon_shared.events import AnyEvent, EventData
from antiphon_shared.events.step_records import StepRecord

STATE = "state"
"""The coordinator's document of a session."""
RESPONSE = "response"
"""The document that holds a session's one response; whoever writes it first has answered."""
BRIEFING = "briefing"
"""The text of a session's newest briefing."""
TO_SUMMARIZE = "to_summarize"
"""The text that a model is asked to put into fewer words."""
MEMORY = "memory"
"""The append-only list of a session's memory deltas."""
VECTORS = "vectors"
"""The append-only list of the vectors of a session's facts and searches, where they are embedded."""
RUN = "run"
"""The append-only list of what the decisions of a run have changed in its state."""
RECORDS = "records"
"""The append-only list of a session's step records."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One hand-over of a message."""

    event: AnyEvent
    log_entry: str
    """Where the event stands in its session's log; what later events name it by."""
    attempt: int = 0
    """How often a handler has failed at it before."""
    redelivered: bool = False
    """Whether another worker may have begun with it."""

    @property
    def asked_ms(self) -> int:
        """When it was asked for, in Unix milliseconds of Redis's clock; another attempt does not change that."""
        return int(self.log_entry.partition("-")[0])


@dataclass(frozen=True, slots=True)
class Put:
    """Write a document whole, if it still has the version it was read with (0: it must not exist).

    A document with one writer, which needs not know what stood there, is written with no version.
    """

    document: str
    version: int | None
    content: bytes


@dataclass(frozen=True, slots=True)
class Append:
    """Add one item to a list, if it still has the length it was read with; None: whatever length it has."""

    document: str
    length: int | None
    item: bytes


@dataclass(frozen=True, slots=True)
class Link:
    """Add one item to a list that ends with the item it was decided on.

    Items begin with the id of the event that they came of, and `after` is that of the item before; None: the first.
    So decisions can be handed over before those that they build upon are committed: all that follows one that fails
    is a conflict.
    """

    document: str
    after: UUID | None
    of: UUID
    content: bytes

    @property
    def item(self) -> bytes:
        """What is stored."""
        return self.of.bytes + self.content


@dataclass(frozen=True, slots=True)
class EndsWith:
    """Write nothing, and let the outcome be committed only if a list ends with the item that it was decided on."""

    document: str
    item: UUID | None
    """As `after` of a Link."""


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Have `event` delivered when it is `due`; a timer of the same name is replaced."""

    name: str
    due: datetime | timedelta
    """A moment on Redis's clock, or the time from the commit on."""
    event: EventData


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Forget a timer, if it is still set."""

    name: str


@dataclass(frozen=True, slots=True)
class Send:
    """Bring an event into another session of the same partition: one that is there, or one that it opens.

    Nothing happens where the session is not there, or is there already.
    """

    session_id: str
    event: EventData
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that handling one delivery changes, committed in one step with its acknowledgement."""

    events: tuple[EventData, ...] = ()
    """Appended to the session's log and put into the inboxes their classes name, in this order."""
    sends: tuple[Send, ...] = ()
    """Of the coordinator alone: events of other sessions, for the coordinators."""
    writes: tuple[Put | Append | Link | EndsWith, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    closes_session: bool = False
    """Whether the session no longer counts as open."""
    takes_room: bool | None = None
    """False: it waits for a person from now on, and others may have its room; True: it goes on, and counts again."""
    stops_work: bool = False
    """Whether engines and dispatchers are to drop, within a second, what they do for the session."""
    kept_s: float = 0.0
    """How long what belongs to the session is kept at least, beyond its retention: it may wait so long for news."""
    record: StepRecord | None = None
    """What a replay of this step needs beside the events."""


NOTHING = Outcome()
"""The message is acknowledged and changes nothing."""


class SessionStore(Protocol):
    """What Redis holds of one session. Reads begun together share one round trip."""

    session_id: str

    async def document(self, name: str) -> tuple[int, bytes | None]:
        """A document's version and content; (0, None) when there is none."""

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        """The items of an append-only list, from the `start`-th on."""

    async def event(self, log_entry: str) -> AnyEvent:
        """One event of the session's log. Raises UnreadableEvent when it is not there."""

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        """One of the newest events of the session's log, by its id, with its place; None when it is not there."""

    async def settled(self, journal: str) -> dict[str, bytes]:
        """All entries of a journal, by their name."""

    async def count(self, journal: str) -> int:
        """How many entries a journal has."""

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        """Add an entry to a journal at once, outside any commit. False, and no change, when it is there."""

    async def keep(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        """Keep content that never changes, at once, outside any commit; for so long beyond the retention."""

    async def kept(self, name: str) -> bytes | None:
        """What `keep` has kept under that name; None when there is nothing, or nothing any more."""

    def stream_text(self, text: str) -> Awaitable[None]:
        """Add text to the session's short-lived stream of deltas, for observers.

        The text is on its way at once; awaiting tells that it has arrived.
        """


def nothing() -> Awaitable[None]:
    """Return what `asyncio.gather` takes for a read that is not needed, without beginning a task for it."""
    import asyncio  # who only reads recordings needs none of it

    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done


Handler = Callable[[Delivery, SessionStore], Awaitable[Outcome]]
Handlers = Mapping[type[EventData], Handler]
