"""One dispatcher process's share of the bounds: `process MODE URL NAMESPACE`."""

import asyncio
import sys

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.contract import RateLimit

from tool_dispatcher.bounds.rate import RateLimiter
from tool_dispatcher.bounds.slots import Slots

MAX_CONCURRENCY = 3
TASKS = 8
CALLS_OF_A_TASK = 15
LIMIT = RateLimit(calls=10, per_s=0.1)
LEASE_S, LONG_S = 1.0, 600.0
"""The lease of a killed process, and that of live ones, which stalls must not exceed."""

_BEGIN = """
local under_way = redis.call('INCR', KEYS[1])
if under_way > tonumber(redis.call('GET', KEYS[2]) or '0') then redis.call('SET', KEYS[2], under_way) end
"""


async def count_calls(bus: Bus) -> None:
    """Make many calls, counted where all processes see it."""
    slots, name = Slots(bus.batcher, bus.keys, LONG_S), bus.keys.namespace

    async def work() -> None:
        for _ in range(CALLS_OF_A_TASK):
            async with slots.hold("t", MAX_CONCURRENCY, 60):
                await bus.batcher.submit("EVAL", _BEGIN, 2, f"{name}:under_way", f"{name}:most")
                await asyncio.sleep(0.002)
                await bus.batcher.submit("DECR", f"{name}:under_way")
                await bus.batcher.submit("INCR", f"{name}:done")

    await asyncio.gather(*(work() for _ in range(TASKS)))


async def hold(bus: Bus) -> None:
    """Take every slot, until the end."""
    slots = Slots(bus.batcher, bus.keys, LEASE_S)

    async def keep() -> None:
        async with slots.hold("t", MAX_CONCURRENCY, 60):
            sys.stdout.write("held\n")
            sys.stdout.flush()
            await asyncio.Event().wait()

    await asyncio.gather(*(keep() for _ in range(MAX_CONCURRENCY)))


async def be_admitted(bus: Bus) -> None:
    """Pass the rate limiter as often as a task calls, as fast as possible."""
    limiter = RateLimiter(bus.batcher, bus.keys)
    await asyncio.gather(*(limiter.admit("t", LIMIT, 60) for _ in range(CALLS_OF_A_TASK)))


async def main(mode: str, url: str, namespace: str) -> None:
    bus = Bus(Connections(url), Keys(namespace), BusSettings())
    await bus.open()
    await {"count": count_calls, "hold": hold, "rate": be_admitted}[mode](bus)
    await bus.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
