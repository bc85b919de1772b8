"""The right to work on what is in hand: renewed while the work goes on, given up when it was lost."""

import asyncio
from collections import defaultdict

import structlog
from redis.exceptions import RedisError

from shared.bus import scripts
from shared.bus.reader import Entry
from shared.bus.redis_bus import Bus

_HAND_BACK_IDLE_MS = 86_400_000


class Leases:
    """The deliveries one consumer has in hand, and the task that works on each."""

    def __init__(self, bus: Bus, group: str, consumer: str) -> None:
        self._bus, self._group, self._consumer = bus, group, consumer
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._log = structlog.get_logger()

    def hold(self, entry: Entry, task: asyncio.Task[None]) -> None:
        self._tasks[entry.stream, entry.id] = task

    def drop(self, entry: Entry) -> None:
        self._tasks.pop((entry.stream, entry.id), None)

    def holds(self, stream: str, entry_id: str) -> bool:
        return (stream, entry_id) in self._tasks

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return list(self._tasks.values())

    async def keep(self) -> None:
        """Renew every third of a lease, until cancelled; a lease that was lost cancels its handler."""
        while True:
            await asyncio.sleep(self._bus.settings.lease_s / 3)
            try:
                for stream, entry_id in await self._renew(idle_ms=0):
                    if task := self._tasks.get((stream, entry_id)):
                        self._log.warning(
                            "lease lost; the handler is cancelled", stream=stream, entry=entry_id
                        )
                        task.cancel()
            except (RedisError, OSError) as error:
                self._log.warning("leases could not be renewed", error=str(error))

    async def hand_back(self) -> None:
        """Let others take over at once what is still in hand."""
        await self._renew(idle_ms=_HAND_BACK_IDLE_MS)

    async def _renew(self, idle_ms: int) -> list[tuple[str, str]]:
        by_stream: dict[str, list[str]] = defaultdict(list)
        for stream, entry_id in self._tasks:
            by_stream[stream].append(entry_id)
        lost: list[tuple[str, str]] = []
        for stream, entries in by_stream.items():
            gone = await self._bus.batcher.run(
                scripts.RENEW, [stream], [self._group, self._consumer, idle_ms, *entries]
            )
            # Whatever was committed in the meantime is no longer ours either, and not in hand any more.
            lost += [(stream, entry.decode()) for entry in gone]
        return lost
