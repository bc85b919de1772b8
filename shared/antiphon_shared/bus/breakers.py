"""Circuit breakers shared by all processes: the pure values of `breakers/breaker.py`, stored in one Redis hash.

Successful calls cost no round trip. Each process notes how its calls end. It writes to Redis only when one has
failed, or when other processes have reported failures, and includes the latest successes, so that the share of
failures is right.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from redis.exceptions import RedisError

from antiphon_shared.breakers.breaker import CLOSED, Allowed, Breaker, BreakerState, Ending, RefusedCall
from antiphon_shared.breakers.outages import NO_OUTAGES, Outages
from antiphon_shared.breakers.table import is_name, outages_of, read_state, write_state
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s, utc_now

_LOOK_S, _PAUSE_S = 0.2, 0.05
"""The time between two reads of Redis is between the second and the sum of both."""
_CLAIM_TIMEOUT_S = 0.5
"""The time that a call may wait to learn whether it is the probe."""
_TRIES_MAX = 20
_BREAKERS_NOTED_MAX = 1_000
_DELETED_AT_ONCE_MAX = 20


@dataclass(frozen=True, slots=True)
class _StoredBreaker:
    """A breaker as last read from Redis; `state` is newer than `raw` if a probe was claimed without Redis."""

    raw: bytes
    state: BreakerState


@dataclass(slots=True)
class _UnsentEndings:
    """The endings of this process's calls that are not in Redis yet."""

    endings: deque[Ending]
    is_probing: bool = False
    probe: Ending | None = field(default=None)

    @property
    def is_urgent(self) -> bool:
        return self.probe is not None or any(ending.is_failure for ending in self.endings)

    def forget(self, endings: tuple[Ending, ...], probe: Ending | None) -> None:
        """Drop the endings that have been written, and keep those that were noted meanwhile."""
        reported = {id(ending) for ending in endings}
        self.endings = deque((one for one in self.endings if id(one) not in reported), self.endings.maxlen)
        if self.probe is probe:
            self.probe = None


_NOT_STORED = _StoredBreaker(b"", CLOSED)


class SharedBreakers:
    """One process's view of all breakers. `run` refreshes it, and publishes the endings of this process's calls.

    Without Redis, and before `run`, each process decides by its own calls.
    """

    def __init__(self, bus: Bus, breaker: Breaker, clock: Callable[[], float] = monotonic_s) -> None:
        self._store, self._breaker = BreakerStore(bus.batcher, bus.keys), breaker
        self._formats = bus.formats
        self._clock = clock
        self._clock_offset_s = utc_now().timestamp() - clock()
        """Redis's clock minus ours."""
        self._stored: dict[str, _StoredBreaker] = {}
        self._notes: dict[str, _UnsentEndings] = {}
        self._urgent: set[str] = set()
        self._wake = asyncio.Event()
        self._is_redis_unavailable = False

    async def run(self) -> None:
        """Publish the noted endings and read all breakers, repeatedly, until cancelled."""
        while True:
            self._wake.clear()
            try:
                await self._send_all_notes()
                await self._look()
                self._is_redis_unavailable = False
            except RedisError as error:
                if not self._is_redis_unavailable:
                    structlog.get_logger().warning("breakers_not_shared", error=str(error))
                self._is_redis_unavailable = True
            await asyncio.sleep(_PAUSE_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._wake.wait()

    async def ask(self, name: str) -> Allowed | RefusedCall:
        """Return whether a call may be made now.

        An allowed caller must make the call and `note` its ending, as it may be the probe. Only the claim to
        be the probe takes a round trip. Raises only CancelledError.
        """
        answer = self._breaker.ask(self._view(name), self._now())
        if isinstance(answer, RefusedCall) or answer.state.opened is None:
            return answer
        try:
            async with asyncio.timeout(_CLAIM_TIMEOUT_S):
                return await self._claim(name)
        except (RedisError, TimeoutError):
            return self._probe_here(name)

    def note(self, name: str, is_failure: bool) -> None:
        """Note how a call ended; a failure is published soon."""
        if not is_name(name):
            return
        notes, ending = self._notes_of(name), Ending(at=self._now(), is_failure=is_failure)
        if notes.is_probing:
            notes.is_probing, notes.probe = False, ending
            notes.endings.clear()  # from before the circuit opened
        elif self._view(name).opened is None:
            notes.endings.append(ending)
        else:
            return  # the call began before the circuit opened
        if is_failure or notes.probe is not None:
            self._urgent.add(name)
            self._wake.set()

    def outages(self) -> Outages:
        """Return the open circuits, as last read."""
        if not self._stored:
            return NO_OUTAGES
        return outages_of({name: one.state for name, one in self._stored.items()}, self._breaker, self._now())

    def _now(self) -> float:
        return self._clock() + self._clock_offset_s

    def _notes_of(self, name: str) -> _UnsentEndings:
        notes = self._notes.get(name)
        if notes is None:
            if len(self._notes) >= _BREAKERS_NOTED_MAX:
                oldest = next(iter(self._notes))
                del self._notes[oldest]
                self._urgent.discard(oldest)
            notes = self._notes[name] = _UnsentEndings(deque(maxlen=self._breaker.window_calls))
        return notes

    def _view(self, name: str) -> BreakerState:
        """Return the stored state, with the endings of this process's calls since then."""
        stored = self._stored.get(name)
        if stored is None and name not in self._urgent:
            return CLOSED
        return self._with_notes(name, CLOSED if stored is None else stored.state)

    def _with_notes(self, name: str, state: BreakerState) -> BreakerState:
        notes = self._notes.get(name)
        if notes is None:
            return state
        if notes.probe is not None:
            state = self._breaker.after(state, notes.probe.is_failure, notes.probe.at)
        return self._breaker.after_all(state, notes.endings, self._now())

    async def _claim(self, name: str) -> Allowed | RefusedCall:
        """Claim to be the probe, unless another process has. Raises RedisError."""
        raw = self._stored.get(name, _NOT_STORED).raw
        for _ in range(_TRIES_MAX):
            state = self._with_notes(name, read_state(raw))
            answer = self._breaker.ask(state, self._now())
            if isinstance(answer, RefusedCall) or answer.state.opened is None:
                return answer
            swap = await self._store.swap(name, raw, write_state(answer.state, self._formats.current))
            raw = swap.raw
            if swap.outcome == "done":
                self._stored[name] = _StoredBreaker(raw, answer.state)
                self._notes_of(name).is_probing = True
                return answer
            if swap.outcome == "full":
                return self._probe_here(name)
            self._stored[name] = _StoredBreaker(raw, read_state(raw))
        return RefusedCall(_LOOK_S, state)

    def _probe_here(self, name: str) -> Allowed | RefusedCall:
        """Claim to be the probe of this process, without Redis."""
        answer = self._breaker.ask(self._view(name), self._now())
        if isinstance(answer, Allowed) and answer.state.opened is not None:
            self._stored[name] = _StoredBreaker(self._stored.get(name, _NOT_STORED).raw, answer.state)
            self._notes_of(name).is_probing = True
        return answer

    async def _send_all_notes(self) -> None:
        for name in [*self._urgent, *(self._stored.keys() - self._urgent)]:
            if (notes := self._notes.get(name)) is not None and (notes.endings or notes.probe is not None):
                await self._send_notes(name, notes)

    async def _send_notes(self, name: str, notes: _UnsentEndings) -> None:
        """Add the noted endings to the stored state.

        If no reply arrives, they are written again, as counting an ending twice does less harm than losing it.
        """
        endings, probe = tuple(notes.endings), notes.probe
        raw = self._stored.get(name, _NOT_STORED).raw
        for _ in range(_TRIES_MAX):
            before = read_state(raw)
            after = before if probe is None else self._breaker.after(before, probe.is_failure, probe.at)
            after = self._breaker.after_all(after, endings, self._now())
            new = self._stored_form(after)
            if new == raw or after == before:
                break
            swap = await self._store.swap(name, raw, new)
            raw = swap.raw
            if swap.outcome == "done":
                self._log(name, before, after)
                break
            if swap.outcome == "full":
                return
        else:
            return
        self._stored[name] = _StoredBreaker(raw, read_state(raw))
        notes.forget(endings, probe)
        if not notes.is_urgent:
            self._urgent.discard(name)

    async def _look(self) -> None:
        """Read all breakers, and delete those whose state no longer has an effect."""
        snapshot = await self._store.look()
        await self._formats.now()
        self._clock_offset_s = snapshot.now - self._clock()
        states = snapshot.states
        useless = [
            name
            for name, state in states.items()
            if not is_name(name) or self._breaker.is_droppable(state, snapshot.now)
        ]
        for name in useless:
            del states[name]
        self._stored = {name: _StoredBreaker(snapshot.raw[name], state) for name, state in states.items()}
        for name in useless[:_DELETED_AT_ONCE_MAX]:
            await self._store.swap(name, snapshot.raw[name], b"")

    def _stored_form(self, state: BreakerState) -> bytes:
        return (
            b""
            if self._breaker.is_droppable(state, self._now())
            else write_state(state, self._formats.current)
        )

    def _log(self, name: str, before: BreakerState, after: BreakerState) -> None:
        if (before.opened is None) == (after.opened is None):
            return
        log = structlog.get_logger().bind(breaker=name)
        if after.opened is not None:
            log.warning(
                "circuit_opened",
                failures=after.failures,
                calls=len(after.endings),
                open_s=self._breaker.open_s,
            )
        else:
            log.info("circuit_closed")
