"""One member of a consumer group, with its readers and its entries in flight, until it leaves."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import copy_context

import structlog
from redis.exceptions import RedisError

from antiphon_shared.bus import scripts
from antiphon_shared.bus.concurrency import ConcurrencyLimit, end_tasks
from antiphon_shared.bus.leases import Leases
from antiphon_shared.bus.reader import Entry, Reader
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.timers import Chore
from antiphon_shared.process.clock import monotonic_s

_LEAVE_TIMEOUT_S = 1.0


class GroupMember:
    """A reader for each stream, in one group under one name; each entry is processed in a task of its own."""

    def __init__(
        self,
        bus: Bus,
        group: str,
        name: str,
        limit: ConcurrencyLimit,
        process: Callable[[Entry], Awaitable[None]],
        duties: Mapping[str, Chore],
    ) -> None:
        """Take the streams to read and the function that processes an entry.

        Args:
            process: Handles one entry, and acknowledges it.
            duties: For each stream, the duty of its reader between reads.
        """
        self.leases = Leases(bus, group, name)
        self.readers = [
            Reader(
                bus,
                stream,
                group,
                name,
                limit=limit,
                take=self._take,
                in_flight=self.leases.in_flight,
                chores=chore,
            )
            for stream, chore in duties.items()
        ]
        self._bus, self._group, self._name = bus, group, name
        self._limit, self._process = limit, process
        self._reading: list[asyncio.Task[None]] = []
        self._context = copy_context()
        self._stopped = asyncio.Event()
        self._log = structlog.get_logger().bind(group=group)

    async def run(self) -> None:
        """Work until `stop` is called and entries in flight are finished or handed back."""
        renewing = asyncio.create_task(self.leases.renew_until_cancelled())
        self._reading = [asyncio.create_task(reader.run()) for reader in self.readers]
        try:
            await asyncio.gather(*self._reading, return_exceptions=True)
            await self._stopped.wait()
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def stop(self, grace_s: float) -> None:
        """Stop reading, finish entries in flight within `grace_s`, hand back the rest, leave the group."""
        deadline_s = monotonic_s() + grace_s
        self._limit.close()
        unblocking = [asyncio.create_task(reader.unblock()) for reader in self.readers]
        # The unblocking gets time to end, as its cancellation would leak a connection.
        await end_tasks([*self._reading, *unblocking], max(grace_s, _LEAVE_TIMEOUT_S))
        if tasks := self.leases.tasks:
            await asyncio.wait(tasks, timeout=max(0.0, deadline_s - monotonic_s()))
        try:
            async with asyncio.timeout(_LEAVE_TIMEOUT_S):
                await self.leases.hand_back()
                await end_tasks(self.leases.tasks, 0)
                await asyncio.gather(*(self._leave(reader.stream) for reader in self.readers))
        except (RedisError, TimeoutError):
            self._log.warning("deliveries_not_handed_back")
        await end_tasks(self.leases.tasks, 0)
        self._stopped.set()

    async def _leave(self, stream: str) -> None:
        try:
            await self._bus.batcher.run(scripts.LEAVE, [stream], [self._group, self._name])
        except RedisError:
            self._log.debug("consumer_not_removed", stream=stream)

    def _take(self, entry: Entry) -> None:
        # With a context of its own, as the caller may be the commit of another delivery.
        task = asyncio.create_task(self._end(entry), context=self._context.copy())
        self.leases.hold(entry, task)

    async def _end(self, entry: Entry) -> None:
        try:
            await self._process(entry)
        except Exception:  # noqa: BLE001  # the entry stays pending, and is delivered again after its lease
            self._log.exception("delivery_not_ended", stream=entry.stream, entry=entry.id)
        finally:
            self.leases.drop(entry)
            self._limit.release()
