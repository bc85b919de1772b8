"""The promises of `antiphon_shared.bus`, in plain Python and memory: the commit, deliveries, timers, documents, lists.

The operations of a commit come from `bus/committing.py` itself, so what is modelled here is what Redis does
with them: `commit.lua`, `publish.lua`, `arrive.lua`, `admit.lua`, `due.lua`, `reclaim.lua`, `missed.lua` and
`renew.lua`, line by line but without keys of foreign types, retention, or lengths. `test_bus.py` holds it against
those scripts on a real Redis.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from antiphon_shared.bus.committing import Operation
from antiphon_shared.bus.handling import Delivery
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.reader import EXCLUSIVE_FROM_DELIVERY
from antiphon_shared.bus.waiting import position_of
from antiphon_shared.events import AnyEvent, Component, decode, encode
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.process.errors import UnreadableEvent

from tests.simulation.waiting import WaitingRoom

KEYS = Keys("sim", partitions=1)
PARTITION = 0
_TIMER = re.compile(rb"([+=])(\d+) (\S+) (\S+) (\S+) (\S+) (\d+)\n(.*)", re.DOTALL)
_INBOXES: dict[str, Component] = {KEYS.inbox(PARTITION, component): component for component in COMPONENTS}


@dataclass(slots=True)
class Message:
    """One entry of an inbox."""

    raw: bytes
    log: str
    attempt: int = 0


@dataclass(slots=True)
class Pending:
    """A pending entry."""

    consumer: str
    since_ms: int
    deliveries: int = 1


@dataclass(frozen=True, slots=True)
class Handed:
    """One hand-over of an entry."""

    entry: str
    message: Message
    deliveries: int
    is_taken_over: bool = False


@dataclass(slots=True)
class Inbox:
    """A stream with its one group. Entries not delivered yet are `unread`."""

    messages: dict[str, Message] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    pending: dict[str, Pending] = field(default_factory=dict)


@dataclass(slots=True)
class Timer:
    """An event that is delivered later. If it has no log id yet, it is logged when it is due."""

    due_ms: int
    to: Component
    session_id: str
    type: str
    log: str
    attempt: int
    raw: bytes


def _ignore(*_: object) -> None:
    pass


@dataclass
class SimulatedBus:
    """The whole of Redis, of one partition. `now_ms` is its clock, set by the simulation."""

    now_ms: int
    sessions_max: int = 1_000
    waiting_max: int = 20_000
    weights: dict[str, float] = field(default_factory=dict)
    has_shortcuts: bool = True
    """Whether decoded events are cached by their bytes; events are immutable."""
    inboxes: dict[Component, Inbox] = field(default_factory=lambda: {c: Inbox() for c in COMPONENTS})
    documents: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    lists: dict[str, list[bytes]] = field(default_factory=dict)
    logs: dict[str, dict[str, bytes]] = field(default_factory=dict)
    handled: dict[str, set[object]] = field(default_factory=dict)
    journals: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict)
    timers: dict[str, Timer] = field(default_factory=dict)
    open_sessions: set[str] = field(default_factory=set)
    stopped: dict[str, int] = field(default_factory=dict)
    """Stopped sessions, with the time of the request."""
    waiting: WaitingRoom = field(default_factory=WaitingRoom)
    responses: list[tuple[str, bytes]] = field(default_factory=list)
    dead: list[bytes] = field(default_factory=list)
    on_arrival: Callable[[Component], None] = _ignore
    on_timer: Callable[[int], None] = _ignore
    on_logged: Callable[[str, str, str], None] = _ignore
    """Called with the session, type and log id of each logged event: the feed."""
    _last: tuple[int, int] = (0, 0)
    _decoded: dict[bytes, AnyEvent] = field(default_factory=dict)

    def commit(
        self, component: Component, entry: str, session_id: str | None, operations: Iterable[Operation]
    ) -> str:
        """Commit as commit.lua does: `committed`, `duplicate` or `conflict`; all or nothing."""
        inbox, todo, is_handled = self.inboxes[component], list(operations), False
        for name, key, first, _ in todo:
            is_stale = False
            if name in ("once", "unless"):
                is_handled = first in self.handled.get(str(key), ())
            elif name == "put":
                is_stale = first not in ("any", self.documents.get(str(key), (0, b""))[0])
            elif name == "append":
                is_stale = first not in ("any", len(self.lists.get(str(key), ())))
            if is_stale and not is_handled:
                return "conflict" if entry in inbox.pending else "duplicate"
        if inbox.pending.pop(entry, None) is None:
            return "duplicate"
        del inbox.messages[entry]
        if is_handled:
            return "duplicate"
        for name, key, first, second in todo:
            self._write(name, str(key) if key else "", first, second, session_id or "-")
        return "committed"

    def _write(self, name: str, key: str, first: Any, second: Any, session_id: str) -> None:
        match name:
            case "event":
                at = self._log(session_id, first, second)
                if key:
                    self._arrive(_INBOXES[key], Message(second, at))
            case "once":
                self.handled.setdefault(key, set()).add(first)
            case "put":
                self.documents[key] = (1 if first == "any" else first + 1, second)
            case "append":
                self.lists.setdefault(key, []).append(second)
            case "answer":
                self.responses.append((session_id, second))
            case "timer":
                self._set_timer(f"{session_id}/{first}", second)
            case "cancel":
                self.timers.pop(f"{session_id}/{first}", None)
            case "close":
                self.open_sessions.discard(session_id)
            case "stop":
                self._stop(session_id)
            case "reopen":
                self.open_sessions.add(session_id)
            case "dead_letter":
                self.dead.append(second.partition(b"\n")[2])

    def _stop(self, session_id: str) -> None:
        """Stop the session at a time no earlier than its last request or an earlier stop."""
        logged_ms = max((_place(at)[0] for at in self.logs.get(session_id, ())), default=0)
        self.stopped[session_id] = max([self.now_ms, logged_ms, *(at + 1 for at in self.stopped.values())])

    def has_stopped(self, delivery: Delivery) -> bool:
        """Return whether the session is stopped, as cancellations.py and claim.lua ask."""
        return delivery.requested_at_ms <= self.stopped.get(delivery.event.subject, -1)

    def _set_timer(self, name: str, header: bytes) -> None:
        match = _TIMER.fullmatch(header)
        assert match is not None, header
        sign, amount, to, session_id, kind, log, attempt, raw = match.groups()
        due_ms = int(amount) + (self.now_ms if sign == b"+" else 0)
        component = cast(Component, to.decode())
        self.timers[name] = Timer(
            due_ms, component, session_id.decode(), kind.decode(), log.decode(), int(attempt), raw
        )
        self.on_timer(due_ms)

    def publish(self, event: AnyEvent, mode: str, deadline_s: float = 300.0, tenant: str = "default") -> str:
        """Send as publish.lua: `sent` or `unknown`; or as arrive.lua: `sent`, `known`, `waiting` or `overloaded`."""
        session_id = event.subject
        if mode == "open":
            if session_id in self.logs or session_id in self.waiting.queries:
                return "known"
            if self.waiting.queries or len(self.open_sessions) >= self.sessions_max:
                place = position_of(event, tenant, deadline_s)
                is_in = self.waiting.add(session_id, encode(event), place, self.waiting_max)
                return "waiting" if is_in else "overloaded"
            self.open_sessions.add(session_id)
        elif session_id not in self.logs:
            return "unknown"
        assert event.data.inbox is not None
        raw = encode(event)
        self._arrive(event.data.inbox, Message(raw, self._log(session_id, event.type, raw)))
        return "sent"

    def admit(self, most: int = 64) -> tuple[int, int]:
        """Admit as admit.lua does; return how many were admitted, and how many still wait."""
        free, taken = self.sessions_max - len(self.open_sessions), 0
        for session_id in self.waiting.due(self.now_ms)[:most]:
            self._open(session_id, is_counted=False)
            taken += 1
        while free > 0 and taken < most and self.waiting.queries:
            free -= self._open(self.waiting.next(self.weights), is_counted=True)
            taken += 1
        self.waiting.forget_past()
        return taken, len(self.waiting.queries)

    def _open(self, session_id: str, is_counted: bool) -> bool:
        """Open a waiting session; return whether it was opened and takes room."""
        raw = self.waiting.take_out(session_id)
        if session_id in self.logs:
            return False
        event = self.decoded(raw)
        assert event.data.inbox is not None
        if is_counted:
            self.open_sessions.add(session_id)
        self._arrive(event.data.inbox, Message(raw, self._log(session_id, event.type, raw)))
        return is_counted

    def read(self, component: Component, consumer: str, count: int) -> list[Handed]:
        """Read as XREADGROUP does: the entries that were not delivered yet, the oldest first."""
        inbox = self.inboxes[component]
        given, inbox.unread = inbox.unread[:count], inbox.unread[count:]
        inbox.pending.update({entry: Pending(consumer, self.now_ms) for entry in given})
        return [Handed(entry, inbox.messages[entry], 1) for entry in given]

    def reclaim(
        self, component: Component, consumer: str, lease_ms: int, most: int, in_flight: Iterable[str] = ()
    ) -> list[Handed]:
        """Reclaim as reclaim.lua: deliveries idle for a lease change owner; a suspect's delivery is counted later."""
        inbox, excluded = self.inboxes[component], set(in_flight)
        taken: list[Handed] = []
        for entry, pending in sorted(inbox.pending.items(), key=lambda item: _place(item[0])):
            if entry not in excluded and len(taken) < most and self.now_ms - pending.since_ms >= lease_ms:
                taken.append(Handed(entry, inbox.messages[entry], pending.deliveries + 1, True))
                is_suspect = pending.deliveries >= EXCLUSIVE_FROM_DELIVERY - 1
                deliveries = pending.deliveries + (not is_suspect)
                inbox.pending[entry] = Pending(consumer, self.now_ms, deliveries)
        return taken

    def missed(self, component: Component, consumer: str) -> list[Handed]:
        """Return the pending entries of a consumer after a lost reply to a read, as missed.lua does."""
        inbox, entries = self.inboxes[component], []
        for entry, pending in sorted(inbox.pending.items(), key=lambda item: _place(item[0])):
            if pending.consumer == consumer:
                is_suspect = pending.deliveries >= EXCLUSIVE_FROM_DELIVERY - 1
                entries.append(Handed(entry, inbox.messages[entry], pending.deliveries + is_suspect, True))
        return entries

    def renew(self, component: Component, consumer: str, entry: str, added: int = 0) -> bool:
        """Renew as renew.lua does: False, and no change, when the entry is no longer the consumer's."""
        pending = self.inboxes[component].pending.get(entry)
        if pending is None or pending.consumer != consumer:
            return False
        pending.since_ms, pending.deliveries = self.now_ms, pending.deliveries + added
        return True

    def move_due_timers(self) -> None:
        """Move due timers, as due.lua does."""
        due = sorted(
            (timer.due_ms, name) for name, timer in self.timers.items() if timer.due_ms <= self.now_ms
        )
        for _, name in due:
            timer = self.timers.pop(name)
            log = timer.log if timer.log != "-" else self._log(timer.session_id, timer.type, timer.raw)
            self._arrive(timer.to, Message(timer.raw, log, timer.attempt))

    def put_foreign(self, component: Component, raw: bytes, log: str) -> None:
        """Add a foreign entry directly to an inbox."""
        self._arrive(component, Message(raw, log))

    def decoded(self, raw: bytes) -> AnyEvent:
        """Decode an event. Raises UnreadableEvent."""
        if not self.has_shortcuts:
            return decode(raw)
        if raw not in self._decoded:
            self._decoded[raw] = decode(raw)
        return self._decoded[raw]

    def delivery(self, handed: Handed) -> Delivery:
        """Return an entry as a handler gets it. Raises UnreadableEvent."""
        message = handed.message
        is_begun = handed.is_taken_over or message.attempt > 0
        return Delivery(self.decoded(message.raw), message.log, message.attempt, redelivered=is_begun)

    def new_place(self) -> str:
        """Return the id of a new entry: never before an earlier one, even if the clock goes back."""
        milliseconds, sequence = self._last
        self._last = (self.now_ms, 0) if self.now_ms > milliseconds else (milliseconds, sequence + 1)
        return f"{self._last[0]}-{self._last[1]}"

    def _log(self, session_id: str, kind: str, raw: bytes) -> str:
        at = self.new_place()
        self.logs.setdefault(session_id, {})[at] = raw
        self.on_logged(session_id, kind, at)
        return at

    def _arrive(self, component: Component, message: Message) -> None:
        entry, inbox = self.new_place(), self.inboxes[component]
        inbox.messages[entry] = message
        inbox.unread.append(entry)
        self.on_arrival(component)


def _place(entry: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry.partition("-")
    return int(milliseconds), int(sequence)


class SimulatedSession:
    """A session store on the simulated bus; see `handling.SessionStore`."""

    def __init__(self, bus: SimulatedBus, session_id: str) -> None:
        self.session_id = session_id
        self._bus = bus

    async def document(self, name: str) -> tuple[int, bytes | None]:
        return self._bus.documents.get(KEYS.of_session(self.session_id, name), (0, None))

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        return self._bus.lists.get(KEYS.of_session(self.session_id, name), [])[start:]

    async def event(self, log_entry: str) -> AnyEvent:
        raw = self._bus.logs.get(self.session_id, {}).get(log_entry)
        if raw is None:
            raise UnreadableEvent(f"the log of session {self.session_id} has no entry {log_entry}")
        return self._bus.decoded(raw)

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        events = ((at, self._bus.decoded(raw)) for at, raw in self._bus.logs.get(self.session_id, {}).items())
        return next(((at, event) for at, event in events if event.id == id), None)

    async def settled(self, journal: str) -> dict[str, bytes]:
        return dict(self._bus.journals.get((self.session_id, journal), {}))

    async def count(self, journal: str) -> int:
        return len(self._bus.journals.get((self.session_id, journal), {}))

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        entries = self._bus.journals.setdefault((self.session_id, journal), {})
        is_new = entry not in entries
        entries.setdefault(entry, content)
        return is_new

    async def store(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        raise NotImplementedError("the simulation does not keep results whole")

    async def load(self, name: str) -> bytes | None:
        raise NotImplementedError("the simulation does not read kept results")

    def stream_text(self, text: str) -> Awaitable[None]:
        raise NotImplementedError("the simulation does not stream text")
