"""The leases of deliveries in flight, renewed while their handlers run; a lost lease cancels its handler."""

import asyncio
from collections import defaultdict

import structlog
from redis.exceptions import RedisError

from antiphon_shared import faults
from antiphon_shared.bus import scripts
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus

_HAND_BACK_IDLE_MS = 86_400_000


class Leases:
    """The deliveries in flight of one consumer, and the task of each."""

    def __init__(self, bus: Bus, group: str, consumer: str) -> None:
        self._bus, self._group, self._consumer = bus, group, consumer
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._log = structlog.get_logger()

    def hold(self, entry: Entry, task: asyncio.Task[None]) -> None:
        self._tasks[entry.stream, entry.id] = task

    def drop(self, entry: Entry) -> None:
        self._tasks.pop((entry.stream, entry.id), None)

    def in_flight(self, stream: str) -> list[str]:
        """Return the entries of one stream that are in flight."""
        return [entry_id for own_stream, entry_id in self._tasks if own_stream == stream]

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return list(self._tasks.values())

    async def renew_until_cancelled(self) -> None:
        """Renew every lease at each third of its time, until cancelled; cancel the handler of a lost lease."""
        while True:
            await asyncio.sleep(self._bus.settings.lease_s / 3)
            try:
                await faults.pass_point("lease.renewal.before")
                lost = await self._renew(list(self._tasks), idle_ms=0, added=0)
            except RedisError as error:
                self._log.warning("leases_not_renewed", error=str(error))
                continue
            except Exception:  # noqa: BLE001  # without renewals the process would keep losing its deliveries
                self._log.exception("leases_not_renewed")
                continue
            for stream, entry_id in lost:
                # A delivery that was committed meanwhile is listed too, but is no longer in flight.
                if task := self._tasks.get((stream, entry_id)):
                    self._log.warning("lease_lost", stream=stream, entry=entry_id)
                    task.cancel()

    async def begin(self, entry: Entry) -> bool:
        """Count the delivery of an entry that has waited for its turn; return False if it was taken over."""
        return not await self._renew([(entry.stream, entry.id)], idle_ms=0, added=1)

    async def hand_back(self) -> None:
        """Let other workers take over the deliveries in flight at once; these do not count as deliveries."""
        await self._renew(list(self._tasks), idle_ms=_HAND_BACK_IDLE_MS, added=-1)

    async def _renew(self, leases: list[tuple[str, str]], idle_ms: int, added: int) -> list[tuple[str, str]]:
        by_stream: dict[str, list[str]] = defaultdict(list)
        for stream, entry_id in leases:
            by_stream[stream].append(entry_id)
        renewals = [
            self._bus.batcher.run(
                scripts.RENEW, [stream], [self._group, self._consumer, idle_ms, added, *entries]
            )
            for stream, entries in by_stream.items()
        ]
        lost = await asyncio.gather(*renewals)
        return [
            (stream, entry.decode()) for stream, ids in zip(by_stream, lost, strict=True) for entry in ids
        ]
