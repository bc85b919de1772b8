"""The simulated world: processes, clients, clocks and Redis, in one thread, driven by a seed.

Everything happens as an action at a time of the simulation. A world is a pure function of its seed, its sessions and
its kinds of faults: fewer sessions or faults give a smaller world to examine.
"""

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from random import Random
from uuid import UUID

from antiphon_shared.bus.committing import Operation
from antiphon_shared.bus.handling import Delivery
from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    Component,
    EventData,
    QuerySubmitted,
    QuestionAsked,
    ReasoningRequested,
    ResponseReady,
    SessionOpened,
    SummaryRequested,
    ToolsRequested,
)
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import Catalogue

from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings
from coordinator.decision import OfferBounds
from coordinator.handlers import Coordinator
from response_assembler.handlers import handlers as assembling
from tests.simulation.bus import Handed, SimulatedBus
from tests.simulation.clients import LEASE_MS, LIMITS, Client, Clients
from tests.simulation.faults import KINDS, Faults
from tests.simulation.process import Killed, Process, Work, of_handler
from tests.simulation.stand_ins import CATALOGUE, Engine, Life, Tools, a_life
from tests.simulation.weather import MODELS, Weather

BEGIN_MS = int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp() * 1000)
OFFER = OfferBounds()
CATALOGUE_HASH = "c0ffee"
CATALOGUE_WAIT_S = 20.0
END_MS = 3_600_000
_STOP_SEEN_MS = 250
_SETTINGS = BusSettings(lease_s=LEASE_MS / 1000, retry_delay_s=0.5, max_deliveries=5, max_attempts=5)
_SMALL_BRIEFINGS = ContextSynthesizerSettings(briefing_tokens=500)
_BRIEFINGS = ContextSynthesizerSettings()


class Broken(RuntimeError):
    """An error that a fault makes a handler raise."""


@dataclass(frozen=True, slots=True)
class Step:
    """One delivery that the coordinator has committed, in the order of the commits."""

    delivery: Delivery
    operations: list[Operation]


@dataclass
class World:
    """The world of one seed."""

    seed: int
    sessions: Collection[int] = range(10)
    kinds: Iterable[str] = KINDS
    is_reported: bool = False
    is_exact: bool = False
    """Whether each delivery decodes its message again, as in real processes."""
    settings: BusSettings = _SETTINGS
    clients: dict[str, Client] = field(default_factory=dict)
    steps: dict[str, list[Step]] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    trace: list[tuple[int, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.time_ms = BEGIN_MS
        self.random = Random(self.seed)
        self.faults = Faults(self.seed, self.kinds)
        self.bus = SimulatedBus(
            BEGIN_MS, sessions_max=self.random.choice((2, 1_000, 1_000)), has_shortcuts=not self.is_exact
        )
        self.bus.on_arrival, self.bus.on_timer, self.bus.on_logged = (
            self._wake,
            self._await_timer,
            self._receive,
        )
        self._memory_settings = self.random.choice((_BRIEFINGS, _SMALL_BRIEFINGS))
        self.weather = Weather(BEGIN_MS, self.faults)
        self._actions: list[tuple[int, int, Callable[[], object]]] = []
        self._count = self._names = 0
        self._redis_off_ms, self._away_until_ms = 0, 0
        self._disturbances: list[tuple[int, float]] = []
        self._outside = Clients(self)
        self._lives: dict[str, Life] = {}
        self.poisoned: dict[str, tuple[Component, int, str]] = {}
        self._poisons: dict[UUID, str] = {}
        self._has_catalogue = not self.faults.strikes("catalogue late")
        self._processes: dict[Component, list[Process]] = {
            component: [self._new_process(component) for _ in range(2)] for component in COMPONENTS
        }

    def run(self) -> None:
        """Run until no event is left, or an hour is over."""
        for number in self.sessions:
            self._outside.add(number)
        if not self._has_catalogue:
            self.at(self.random.choice((500, 3_000, 20_000)), self._publish_catalogue)
        self._plan_faults()
        self._tick()
        while self._actions:
            time_ms, _, action = heapq.heappop(self._actions)
            if time_ms > BEGIN_MS + END_MS:
                break
            self.time_ms = max(time_ms, self.time_ms)
            self.bus.now_ms = self.time_ms + self._redis_off_ms
            action()

    def at(self, delay_ms: float, action: Callable[[], object]) -> None:
        self._count += 1
        heapq.heappush(self._actions, (self.time_ms + max(0, int(delay_ms)), self._count, action))

    def trace_line(self, session_id: str, what: str) -> None:
        """Write a line of the trace, if it is wanted."""
        if self.is_reported:
            self.trace.append((self.time_ms - BEGIN_MS, session_id, what))

    def disturbed(self, cost_ms: float) -> None:
        """Note a fault that may delay answers by a duration."""
        self._disturbances.append((self.time_ms, cost_ms))

    def disturbance_ms(self, since_ms: int) -> float:
        return sum(cost_ms for time_ms, cost_ms in self._disturbances if time_ms + cost_ms >= since_ms)

    def delay_ms(self) -> int:
        """Return the duration of a small step: mostly zero, so that steps coincide; sometimes long."""
        return self.random.choice((0, 0, 1, 1, 2, 5, 30, 300))

    @property
    def is_redis_away(self) -> bool:
        return self._away_until_ms > self.time_ms

    # Processes

    def work_of(self, component: Component, process: Process) -> Mapping[type[EventData], Work]:
        """Return the real handlers without cached state; stand-ins for model and tools."""
        match component:
            case "coordinator":
                coordinator = Coordinator(
                    LIMITS,
                    CATALOGUE_WAIT_S,
                    self._current_catalogue,
                    self._catalogue,
                    offer=OFFER,
                    models=MODELS,
                    outages=lambda: self.weather.seen(self.time_ms),
                )
                return {kind: of_handler(handler) for kind, handler in coordinator.handlers.items()}
            case "context_synthesizer":
                handlers = ContextSynthesizer(self._memory_settings).handlers
                return {kind: of_handler(handler) for kind, handler in handlers.items()}
            case "response_assembler":
                return {kind: of_handler(handler) for kind, handler in assembling(None).items()}
            case "reasoning_engine":
                engine = Engine(self.life, process.now, self._model_out_for_s)
                return {
                    ReasoningRequested: engine.on_reasoning_requested,
                    SummaryRequested: engine.on_summary_requested,
                }
            case "tool_dispatcher":
                tools = Tools(self.life, process.now, self.bus.has_stopped)
                return {ToolsRequested: tools.on_tools_requested}

    def _model_out_for_s(self, model: str) -> float | None:
        return self.weather.model_out_for_s(model, self.time_ms)

    def is_served(self, component: Component) -> bool:
        """Return whether a process of the component runs."""
        return any(process.is_up for process in self._processes[component])

    def life(self, session_id: str) -> Life:
        if session_id not in self._lives:
            self._lives[session_id] = a_life(f"{self.seed}/life/{session_id}")
        return self._lives[session_id]

    def is_stop_seen(self, delivery: Delivery) -> bool:
        """Return whether the workers know that a session is stopped; they look a few times a second."""
        stopped_ms = self.bus.stopped.get(delivery.event.subject)
        return (
            stopped_ms is not None
            and self.bus.has_stopped(delivery)
            and (self.bus.now_ms >= stopped_ms + stopped_ms % _STOP_SEEN_MS)
        )

    def before_handling(self, process: Process, delivery: Delivery) -> None:
        """Inject the faults of a handler. Raises Broken; Killed kills the process."""
        event = delivery.event
        self.trace_line(event.subject, f"{process.name} handles {event.type} {event.id}")
        self._poison(process.component, event)
        match self._poisons.get(event.id):
            case "kills":
                process.steps_to_live = self.faults.random("poison").choice((0, 1, 2, 4))
                if not process.steps_to_live:
                    raise Killed
            case "raises":
                raise Broken("poisoned")
            case "is hopeless":
                raise AntiphonError("poisoned.")
        if self.faults.strikes("handler error"):
            raise Broken("this once")

    def _poison(self, component: Component, event: AnyEvent) -> None:
        """Poison the n-th event of a session that reaches a certain component, permanently."""
        poison = self.poisoned.get(event.subject)
        if poison is None or poison[0] != component or event.id in self._poisons:
            return
        _, left, effect = poison
        if left:
            self.poisoned[event.subject] = (component, left - 1, effect)
        else:
            del self.poisoned[event.subject]
            self._poisons[event.id] = effect

    def after_commit(
        self, process: Process, delivery: Delivery, result: str, operations: list[Operation]
    ) -> None:
        session_id = delivery.event.subject
        self.trace_line(session_id, f"{process.name} commits {delivery.event.type}: {result}")
        if result == "committed" and process.component == "coordinator":
            self.steps.setdefault(session_id, []).append(Step(delivery, operations))

    def after_failure(self, process: Process, delivery: Delivery, error: Exception) -> None:
        if not isinstance(error, (Broken, AntiphonError)):
            self.unexpected.append(f"{process.component} at {delivery.event.type}: {error!r}")

    def _new_process(self, component: Component) -> Process:
        self._names += 1
        is_off = self.faults.strikes("process clock off")
        off_ms = self.faults.random("process clock off").choice((-90_000, -500, 700, 60_000)) if is_off else 0
        return Process(self, component, f"{component}-{self._names}", off_ms)

    def _crash(self, process: Process) -> None:
        if not process.is_alive:
            return
        process.is_alive = False
        for work in process.in_flight.values():
            work.close()
        process.in_flight.clear()
        self._processes[process.component].remove(process)
        back_ms = self.random.choice((50, 1_000, 4_000))
        self.disturbed(LEASE_MS * 1.25 + back_ms)
        self.at(
            back_ms, lambda: self._processes[process.component].append(self._new_process(process.component))
        )

    def _freeze(self, process: Process) -> None:
        """Freeze the process for a while: its leases expire without its knowledge."""
        for entry in process.in_flight:
            self.bus.renew(process.component, process.name, entry)
        length_ms = self.faults.random("freeze").choice((100, LEASE_MS, 3 * LEASE_MS))
        process.frozen_until_ms = self.time_ms + length_ms
        self.disturbed(length_ms + LEASE_MS * 1.25)

    def _go_on(self, process: Process, entry: str) -> None:
        """Run one step of one delivery."""
        work = process.in_flight.get(entry)
        if work is None or not process.is_alive:
            return
        if not process.is_up:
            self.at(
                process.frozen_until_ms - self.time_ms + self.delay_ms(), lambda: self._thaw(process, entry)
            )
            return
        process.steps_to_live -= 1
        if process.steps_to_live == 0 or self.faults.strikes("crash"):
            self.trace_line("", f"{process.name} crashes")
            self._crash(process)
            return
        if self.faults.strikes("freeze"):
            self.trace_line("", f"{process.name} freezes")
            self._freeze(process)
            self.at(0, lambda: self._go_on(process, entry))
            return
        try:
            delay_ms = work.send(None)
        except StopIteration:
            process.in_flight.pop(entry, None)
        except Killed:
            self.faults.counts["killed by a message"] += 1
            process.in_flight.pop(entry, None)
            self._crash(process)
        else:
            self.at(delay_ms, lambda: self._go_on(process, entry))

    def _thaw(self, process: Process, entry: str) -> None:
        """Resume the process. It may commit a delivery that it lost, or learn of the loss before that."""
        is_renewed = self.random.random() < 0.5
        if is_renewed and not self.bus.renew(process.component, process.name, entry):
            if (work := process.in_flight.pop(entry, None)) is not None:
                work.close()
            return
        self._go_on(process, entry)

    # Reading

    def _wake(self, component: Component) -> None:
        self.at(self.delay_ms(), lambda: self._read(component))

    def _one_up(self, component: Component) -> Process | None:
        up = [process for process in self._processes[component] if process.is_up]
        return self.random.choice(up) if up and not self.is_redis_away else None

    def _read(self, component: Component) -> None:
        process = self._one_up(component) if self.bus.inboxes[component].unread else None
        if process is None:
            return  # the next tick reads it
        given = self.bus.read(component, process.name, count=self.random.choice((1, 1, 4)))
        if self.faults.strikes("read reply lost"):
            self.disturbed(LEASE_MS * 1.25)
            self.at(50, lambda: self._read_missed(process))
            return
        self._take(process, given)

    def _read_missed(self, process: Process) -> None:
        if process.is_up and not self.is_redis_away:
            entries = self.bus.missed(process.component, process.name)
            self._take(process, [handed for handed in entries if handed.entry not in process.in_flight])

    def _take(self, process: Process, given: Iterable[Handed]) -> None:
        for handed in given:
            process.in_flight[handed.entry] = process.deliver(handed)
            self.at(self.delay_ms(), partial(self._go_on, process, handed.entry))

    def _tick(self) -> None:
        """Do the duties of readers between reads: timers, takeovers, and missed wake-ups."""
        if not self.is_redis_away:
            self.bus.move_due_timers()
            for component in COMPONENTS:
                self._renew(component)
                if (process := self._one_up(component)) is not None:
                    self._take(
                        process, self.bus.reclaim(component, process.name, LEASE_MS, 10, process.in_flight)
                    )
                self._read(component)
        if self._is_busy():
            self.at(LEASE_MS / 4, self._tick)

    def _renew(self, component: Component) -> None:
        for process in self._processes[component]:
            if process.is_up:
                for entry in process.in_flight:
                    self.bus.renew(component, process.name, entry)

    def _is_busy(self) -> bool:
        has_messages = any(inbox.messages for inbox in self.bus.inboxes.values())
        return bool(has_messages or self.bus.timers or self._actions)

    def _await_timer(self, due_ms: int) -> None:
        self.at(due_ms - self.bus.now_ms + self.random.choice((0, 1, 50)), self._move_due_timers)

    def _move_due_timers(self) -> None:
        if not self.is_redis_away:
            self.bus.move_due_timers()

    # Watching the feed

    def _receive(self, session_id: str, kind: str, at: str) -> None:
        self.trace_line(session_id, f"logged at {at}: {kind}")
        client = self.clients[session_id]
        if kind == ApprovalRequested.type:
            self._outside.decides(session_id, at)
        elif kind == QuestionAsked.type:
            self._outside.answers(session_id, at)
        elif kind == QuerySubmitted.type and client.opened_ms is None:
            client.opened_ms = self.time_ms
        elif kind == SessionOpened.type:
            client.begun_ms = self.time_ms
        elif kind == ResponseReady.type and client.answered_ms is None:
            client.answered_ms = self.time_ms
        if self.faults.strikes("duplicate entry"):
            self.at(
                self.faults.random("duplicate entry").randrange(20_000), lambda: self._repeat(session_id, at)
            )
        if self.faults.strikes("foreign entry"):
            self.at(self.random.randrange(2_000), lambda: self._put_foreign(session_id, at))

    def _repeat(self, session_id: str, at: str) -> None:
        """Repeat the same event in another entry."""
        raw = self.bus.logs[session_id][at]
        inbox = self.bus.decoded(raw).data.inbox
        if inbox is not None:
            self.trace_line(session_id, f"a duplicate of {at} appears")
            self.bus.put_foreign(inbox, raw, at)

    def _put_foreign(self, session_id: str, at: str) -> None:
        """Add an entry of a foreign sender to any inbox."""
        random = self.faults.random("foreign entry")
        raw = random.choice((b"{}", b"\xff\x00", self.bus.logs[session_id][at]))
        self.bus.put_foreign(random.choice(COMPONENTS), raw, at)

    # Events for all processes

    def _plan_faults(self) -> None:
        for _ in range(2):
            if self.faults.strikes("redis away"):
                drawn = self.faults.random("redis away")
                self.at(drawn.randrange(40_000), partial(self._go_away, drawn.choice((300, 3_000, 20_000))))
            if self.faults.strikes("redis clock jump"):
                drawn = self.faults.random("redis clock jump")
                self.at(
                    drawn.randrange(40_000), partial(self._jump, drawn.choice((-30_000, -50, 900, 45_000)))
                )

    def _go_away(self, length_ms: int) -> None:
        self.trace_line("", f"Redis is away for {length_ms} ms")
        self._away_until_ms = self.time_ms + length_ms
        self.disturbed(length_ms + LEASE_MS * 1.25)

    def _jump(self, by_ms: int) -> None:
        self.trace_line("", f"Redis's clock jumps by {by_ms} ms")
        self._redis_off_ms += by_ms
        self.bus.now_ms += by_ms
        # Later events have the time of a clock that is wrong, or does not go back.
        self._disturbances.append((BEGIN_MS + END_MS, abs(by_ms)))

    def _publish_catalogue(self) -> None:
        self._has_catalogue = True

    async def _current_catalogue(self) -> str | None:
        return CATALOGUE_HASH if self._has_catalogue else None

    async def _catalogue(self, content_hash: str) -> Catalogue:
        return CATALOGUE
