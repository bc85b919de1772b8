"""The breakers of several processes: each `SharedBreakers` represents one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from antiphon_shared.breakers.breaker import Breaker, BreakerState, RefusedCall
from antiphon_shared.breakers.table import model_breaker, tool_breaker, write_state
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s

LONG = Breaker(calls_min=3, window_calls=10, open_s=600)
"""Stays open for as long as a test takes."""
SHORT = replace(LONG, open_s=1.0)
"""Half-open soon, but not before others have looked."""
LOOK, MODEL = tool_breaker("look"), model_breaker("claude")


class Ahead:
    """A process's clock, ahead of the machine's by as much as a test says."""

    def __init__(self) -> None:
        self.by_s = 0.0

    def __call__(self) -> float:
        return monotonic_s() + self.by_s


@asynccontextmanager
async def processes(
    bus: Bus, count: int, breaker: Breaker = LONG, clock: Callable[[], float] = monotonic_s
) -> AsyncIterator[list[SharedBreakers]]:
    """Run the breakers of a number of processes, and check that no duty ended with an error."""
    all_of_them = [SharedBreakers(bus, breaker, clock) for _ in range(count)]
    duties = [asyncio.create_task(breakers.run()) for breakers in all_of_them]
    try:
        yield all_of_them
        assert not any(duty.done() for duty in duties)
    finally:
        for duty in duties:
            duty.cancel()
        await asyncio.gather(*duties, return_exceptions=True)


def fail(breakers: SharedBreakers, times: int = 3, name: str = LOOK) -> None:
    for _ in range(times):
        breakers.note(name, True)


async def refuses(breakers: SharedBreakers, name: str = LOOK) -> bool:
    return isinstance(await breakers.ask(name), RefusedCall)


async def all_refuse(all_of_them: Sequence[SharedBreakers], name: str = LOOK) -> bool:
    return all([await refuses(breakers, name) for breakers in all_of_them])


async def kept(bus: Bus) -> dict[str, BreakerState]:
    return (await BreakerStore(bus.batcher, bus.keys).look()).states


async def time_passes(bus: Bus) -> None:
    """Move the opening of a breaker back in time: a probe is let through, and has the whole time for it."""
    state = (await kept(bus))[LOOK]
    assert state.opened is not None
    long_ago = state.model_copy(update={"opened": state.opened - LONG.open_s})
    await BreakerStore(bus.batcher, bus.keys).swap(LOOK, write_state(state), write_state(long_ago))


async def is_gone(bus: Bus) -> bool:
    return not await bus.batcher.submit("EXISTS", bus.keys.breakers())


async def is_reported(bus: Bus, name: str) -> bool:
    return name in await kept(bus)


async def allows(breakers: SharedBreakers, name: str = LOOK) -> bool:
    return not await refuses(breakers, name)
