"""A deployment in which a worker of an earlier release still runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from antiphon_shared.bus.live_format import FORGET_MS
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import HEARTBEAT
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.health import HEARTBEAT_S


@contextlib.asynccontextmanager
async def opening_in(format: int, bus: Bus) -> AsyncIterator[None]:
    """Make sessions open in a format within the block, by the heartbeat of a worker of that release."""

    async def beat() -> None:
        worker = f'{{"pid":0,"format":{format}}}'
        await bus.batcher.run(HEARTBEAT, [bus.keys.workers("coordinator")], ["recorded", worker, FORGET_MS])

    async def beat_on() -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await beat()

    if format >= FORMAT:
        yield
        return
    await beat()
    beating = asyncio.create_task(beat_on())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
