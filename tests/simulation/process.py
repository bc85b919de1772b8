"""One process of a component: the life of a message as in `bus/consumer.py`, one step at a time.

Between any two steps the world may kill or freeze the process. A killed process loses its memory.
"""

from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from types import coroutine
from typing import TYPE_CHECKING, cast

from antiphon_shared.bus import committing
from antiphon_shared.bus.committing import Operation
from antiphon_shared.bus.handling import NOTHING, Delivery, Handler, Outcome, SessionStore
from antiphon_shared.bus.reader import EXCLUSIVE_FROM_DELIVERY
from antiphon_shared.events import Component, EventData, encode
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, TryLater, UnreadableEvent

from tests.simulation.bus import KEYS, PARTITION, Handed, SimulatedSession
from tests.simulation.stepping import at_once, pause

if TYPE_CHECKING:
    from tests.simulation.world import World

Work = Callable[[Delivery, SessionStore], Coroutine[int, None, Outcome]]
STOPPING: tuple[Component, ...] = ("reasoning_engine", "tool_dispatcher")
"""Components that abandon the work of a stopped session."""
_CONFLICTS_MAX = 20
_RETRY_DELAY_MAX_S = 60.0
_TURN_MS = 20
_PATIENCE_MS = 300


class Killed(BaseException):
    """The message killed the process that handled it."""


class Process:
    """A worker with a name of its own and a clock of its own."""

    def __init__(self, world: "World", component: Component, name: str, clock_off_ms: int) -> None:
        self.world, self.component, self.name = world, component, name
        self.is_alive, self.frozen_until_ms = True, 0
        self.in_flight: dict[str, Coroutine[int, None, None]] = {}
        self.work: Mapping[type[EventData], Work] = world.work_of(component, self)
        self.steps_to_live = -1
        """Steps until the handled message kills the process; negative if it does not."""
        self._clock_off_ms = clock_off_ms
        self._inside, self._is_somebody_alone = 0, False

    @property
    def is_up(self) -> bool:
        return self.is_alive and self.frozen_until_ms <= self.world.time_ms

    def now(self) -> datetime:
        """Return the time of its own clock."""
        return datetime.fromtimestamp((self.world.time_ms + self._clock_off_ms) / 1000, UTC)

    async def deliver(self, handed: Handed) -> None:
        """Handle one message, from delivery to acknowledgement."""
        if handed.deliveries > self.world.settings.max_deliveries:
            lost = ErrorInfo(code="workers_lost", message=f"{handed.deliveries - 1} workers stopped")
            await self._dead_letter(handed, self._readable(handed), lost)
        elif handed.deliveries >= EXCLUSIVE_FROM_DELIVERY:
            await self._alone(handed)
        else:
            while self._is_somebody_alone:
                await pause(_TURN_MS)
            self._inside += 1
            try:
                await self._handle(handed)
            finally:
                self._inside -= 1

    async def _alone(self, handed: Handed) -> None:
        while self._is_somebody_alone:
            await pause(_TURN_MS)
        self._is_somebody_alone = True
        try:
            while self._inside:
                await pause(_TURN_MS)
            await self._reach_redis()
            if self.world.bus.renew(self.component, self.name, handed.entry, added=1):
                await self._handle(handed)
        finally:
            self._is_somebody_alone = False

    async def _handle(self, handed: Handed) -> None:
        try:
            delivery = self.world.bus.delivery(handed)
            work = self.work.get(type(delivery.event.data))
            if work is None:
                raise UnreadableEvent(f"{delivery.event.type} is no event for {self.component}.")
        except UnreadableEvent as error:
            await self._dead_letter(handed, None, ErrorInfo.of(error))
            return
        session = SimulatedSession(self.world.bus, delivery.event.subject)
        for _ in range(_CONFLICTS_MAX):
            try:
                await self._reach_redis()
                self.world.before_handling(self, delivery)
                outcome = await self._unless_stopped(work(delivery, session), delivery)
                operations = list(
                    committing.outcome_operations(
                        outcome, delivery, self.component, KEYS, self.world.settings, self.now()
                    )
                )
                result = await self._commit(handed, delivery, operations)
            except Exception as error:
                await self._fail(handed, delivery, error)
                return
            if result == "committed" and outcome.after_commit is not None:
                outcome.after_commit()
            if result != "conflict":
                return
        await self._fail(handed, delivery, RuntimeError("the session's documents kept changing."))

    @coroutine
    def _unless_stopped(
        self, work: Coroutine[int, None, Outcome], delivery: Delivery
    ) -> Generator[int, None, Outcome]:
        """Yield the outcome of the work; an engine or a dispatcher has none if its session is stopped."""
        while self.component not in STOPPING or not self.world.is_stop_seen(delivery):
            try:
                delay_ms = work.send(None)
            except StopIteration as ended:
                return cast(Outcome, ended.value)
            yield delay_ms
        self.world.trace_line(delivery.event.subject, f"{self.name} drops {delivery.event.type}")
        work.close()
        return NOTHING

    async def _fail(self, handed: Handed, delivery: Delivery, error: Exception) -> None:
        settings = self.world.settings
        self.world.after_failure(self, delivery, error)
        may_help = not isinstance(error, AntiphonError) or error.retryable
        if isinstance(error, TryLater):
            delay_s = error.delay_s
        elif may_help and delivery.attempt + 1 < settings.max_attempts:
            delay_s = min(_RETRY_DELAY_MAX_S, settings.retry_delay_s * 2**delivery.attempt)
            self.world.disturbed(delay_s * 1000)
        else:
            await self._dead_letter(handed, delivery, ErrorInfo.of(error))
            return
        self.world.trace_line(delivery.event.subject, f"{self.name} will try again in {delay_s} s: {error!r}")
        retry = committing.retry_operations(
            delivery, encode(delivery.event), self.component, timedelta(seconds=delay_s)
        )
        await self._commit(handed, delivery, retry)

    async def _dead_letter(self, handed: Handed, delivery: Delivery | None, error: ErrorInfo) -> None:
        if delivery is not None:
            self.world.trace_line(
                delivery.event.subject, f"{self.name} dead-letters {delivery.event.type}: {error}"
            )
        operations = committing.dead_letter_operations(
            handed.message.raw,
            b"{}",
            delivery,
            error,
            component=self.component,
            keys=KEYS,
            partition=PARTITION,
            settings=self.world.settings,
            now=self.now(),
        )
        await self._commit(handed, delivery, operations)

    async def _commit(
        self, handed: Handed, delivery: Delivery | None, operations: Iterable[Operation]
    ) -> str:
        """Commit, and retry until the reply arrives; a crash may happen before or after each attempt."""
        todo = list(operations)
        session_id = delivery.event.subject if delivery else None
        await pause(self.world.delay_ms())
        while True:
            await self._reach_redis()
            if self.world.faults.strikes("commit request lost"):
                await pause(_PATIENCE_MS)
                continue
            result = self.world.bus.commit(self.component, handed.entry, session_id, todo)
            if delivery is not None:
                self.world.after_commit(self, delivery, result, todo)
            if not self.world.faults.strikes("commit reply lost"):
                await pause(1)
                return result
            await pause(_PATIENCE_MS)

    async def _reach_redis(self) -> None:
        while self.world.is_redis_away:
            await pause(_PATIENCE_MS)

    def _readable(self, handed: Handed) -> Delivery | None:
        try:
            return self.world.bus.delivery(handed)
        except UnreadableEvent:
            return None


def of_handler(handler: Handler) -> Work:
    """Return a real handler as work: it waits only for the session store, which answers at once."""

    async def work(delivery: Delivery, session: SessionStore) -> Outcome:
        return at_once(handler(delivery, session))

    return work
