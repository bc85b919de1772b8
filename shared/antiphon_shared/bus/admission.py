"""Admission: sessions are opened as slots become free, and waiting tenants take turns by their weights.

A query that finds no free slot waits in its session's partition (arrive.lua). Every coordinator checks repeatedly
which waiting queries can be opened (admit.lua). The script is atomic, so that no query is opened twice, and each
coordinator also opens queries that another one has queued.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import structlog
from redis.exceptions import ResponseError

from antiphon_shared.bus import scripts
from antiphon_shared.bus.connection import BLOCK_S, is_unavailable, retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.waiting import TURN, turn_costs
from antiphon_shared.bus.wire import Argument
from antiphon_shared.values import Tenant

_INTERVALS_S = (0.02, 0.25)
"""The pauses between two checks: while queries wait, and while no query waits."""
_BATCH_SIZE = 64


class Admission:
    """The admission of waiting queries, in all partitions."""

    def __init__(self, bus: Bus, weights: Mapping[Tenant, float]) -> None:
        self._bus = bus
        self._costs: list[Argument] = [TURN, *turn_costs(weights)]
        self._woken = asyncio.Event()
        self._log = structlog.get_logger()

    def wake(self) -> None:
        """Wake `run`, because a query waits."""
        self._woken.set()

    async def run(self) -> None:
        """Open waiting sessions as slots become free, until cancelled."""
        often_s, seldom_s = _INTERVALS_S
        while True:
            self._woken.clear()
            waiting = await asyncio.gather(*map(self._admit_all, range(self._bus.keys.partitions)))
            if any(waiting):
                await asyncio.sleep(often_s)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(seldom_s):
                    await self._woken.wait()

    async def admit(self, partition: int) -> tuple[int, int]:
        """Open waiting sessions of a partition, at most one batch, as far as slots are free.

        Returns how many sessions stopped waiting, and how many still wait.
        """
        keys, settings = self._bus.keys, self._bus.settings
        removed, waiting = await self._bus.batcher.run(
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
                _BATCH_SIZE,
                settings.retention_ms,
                settings.feed_length,
                *self._costs,
            ],
        )
        return removed, waiting

    async def _admit_all(self, partition: int) -> int:
        """Open batch after batch while they are full; return how many sessions still wait."""
        admitted, waiting = _BATCH_SIZE, 1
        while admitted == _BATCH_SIZE and waiting:
            try:
                admitted, waiting = await retry_while_unavailable(
                    "admit sessions", lambda: self.admit(partition)
                )
            except ResponseError as error:
                if is_unavailable(error):
                    raise
                # A key that holds foreign content must not delay the other partitions.
                self._log.error("admission_failed", partition=partition, error=str(error))
                await asyncio.sleep(BLOCK_S)
                return 0
        return waiting
