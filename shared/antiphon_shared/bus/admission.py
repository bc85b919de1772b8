"""Admission: sessions are opened as there is room, and the tenants that wait take turns by their weights.

A query that finds no room waits in its session's partition (arrive.lua). Every coordinator looks again and again
whom there is room for (admit.lua), the same way: two of them at once open nothing twice, and what one of them has
let wait another opens.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import structlog
from redis.exceptions import ResponseError

from antiphon_shared.bus import scripts
from antiphon_shared.bus.connection import BLOCK_S, is_unavailable, patiently
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.waiting import TURN, turn_costs
from antiphon_shared.bus.wire import Argument
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.values import Tenant

_EVERY_S = (0.02, 0.25)
"""The pause between two looks while somebody waits, and while nobody does."""
_AT_ONCE = 64


class Admission:
    """Opens what waits, in all partitions."""

    def __init__(self, bus: Bus, weights: Mapping[Tenant, float]) -> None:
        self._bus = bus
        self._costs: list[Argument] = [TURN, *turn_costs(weights)]
        self._wanted = asyncio.Event()
        self._log = structlog.get_logger()

    def look_soon(self) -> None:
        """A query has found no room."""
        self._wanted.set()

    async def run(self) -> None:
        """Open what waits as there is room, until cancelled."""
        often_s, seldom_s = _EVERY_S
        while True:
            self._wanted.clear()
            waiting = await asyncio.gather(*map(self._admit_all, range(self._bus.keys.partitions)))
            if any(waiting):
                await asyncio.sleep(often_s)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(seldom_s):
                    await self._wanted.wait()

    async def admit(self, partition: int) -> tuple[int, int]:
        """Open what there is room for in a partition, a batch at most. How many left the waiting; how many wait."""
        keys, settings = self._bus.keys, self._bus.settings
        taken, left = await self._bus.batcher.run(
            scripts.ADMIT,
            [
                keys.queries_waiting(partition),
                keys.tenants_waiting(partition),
                keys.waiting_deadlines(partition),
                keys.turns(partition),
                keys.open_sessions(partition),
                keys.sessions(partition),
                keys.inbox(partition, "coordinator"),
                keys.feed(partition),
            ],
            [
                keys.prefix(partition),
                settings.max_open_sessions,
                _AT_ONCE,
                milliseconds(settings.retention_s),
                settings.feed_length,
                *self._costs,
            ],
        )
        return taken, left

    async def _admit_all(self, partition: int) -> int:
        """Batch after batch, as long as they are full; how many wait then."""
        taken, left = _AT_ONCE, 1
        while taken == _AT_ONCE and left:
            try:
                taken, left = await patiently("let sessions in", lambda: self.admit(partition))
            except ResponseError as error:
                if is_unavailable(error):
                    raise
                # A key of ours that something foreign holds must not keep the other partitions waiting.
                self._log.error("sessions could not be let in", partition=partition, error=str(error))
                await asyncio.sleep(BLOCK_S)
                return 0
        return left
