"""Slots: a limit on the calls of one tool in flight at once, across all dispatcher processes.

Within a process, the waiters for one tool form a queue. One poller requests slots from Redis for all of them. A
slot that becomes free in this process goes to the first in the queue without a round trip, but only for a
limited time, so that the queues of other processes move too.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.keys import Keys
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.ids import new_id, random_fraction
from redis.exceptions import RedisError

from tool_dispatcher.bounds.refusals import BoundUnknown, NoSlot
from tool_dispatcher.bounds.slot_leases import Slot, SlotLeases

_DELAYS_S = (0.01, 0.02, 0.04, 0.08, 0.1)
"""Pauses between requests to Redis, in seconds; jitter shortens each by up to a half."""
_REQUESTED_MAX = 256
_PASSED_ON_S_MAX = 1.0
"""How long a slot may be passed from call to call within this process, in seconds."""


class Slots:
    """The slots of every bounded tool. A slot that is not renewed expires after `lease_s`."""

    def __init__(self, batcher: Batcher, keys: Keys, lease_s: float) -> None:
        self._leases = SlotLeases(batcher, keys, lease_s)
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def hold(self, tool: str, max_concurrency: int, wait_s: float) -> AsyncIterator[None]:
        """Hold one of the tool's `max_concurrency` slots while the block runs.

        Leaving the block neither waits nor fails.

        Args:
            wait_s: how long to wait, also while Redis is unavailable; more than a round trip.

        Raises:
            NoSlot: no slot became free in that time.
            BoundUnknown: Redis did not reply in that time.
        """
        queue = self._queues.get(tool) or self._queues.setdefault(tool, _Queue(tool, self._leases))
        slot = await queue.slot(max_concurrency, wait_s)
        try:
            yield
        finally:
            queue.pass_on(slot)


class _Queue:
    """The waiters of this process for a slot of one tool, first in first out."""

    def __init__(self, tool: str, leases: SlotLeases) -> None:
        self._tool, self._leases = tool, leases
        self._waiting: deque[asyncio.Future[Slot]] = deque()
        self._poller: asyncio.Task[None] | None = None
        self._max_concurrency = 1
        self._redis_replies = False

    async def slot(self, max_concurrency: int, wait_s: float) -> Slot:
        """Return the next slot for this process. Raises NoSlot and BoundUnknown."""
        self._max_concurrency = max_concurrency
        waiter: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        try:
            await asyncio.wait((waiter,), timeout=max(0.0, wait_s))
        except asyncio.CancelledError:
            self._remove(waiter)
            raise
        if waiter.done():
            return waiter.result()
        self._remove(waiter)
        if self._redis_replies:
            raise NoSlot(self._tool, max_concurrency, wait_s)
        raise BoundUnknown(self._tool)

    def pass_on(self, slot: Slot) -> None:
        """Pass the slot to the first in the queue, or release it, so that every process can acquire it."""
        must_be_released = slot.is_lost or monotonic_s() - slot.acquired_s >= _PASSED_ON_S_MAX
        if self._waiting and not must_be_released:
            self._waiting.popleft().set_result(slot)
        else:
            self._leases.release(self._tool, [slot.id])

    def _remove(self, waiter: asyncio.Future[Slot]) -> None:
        if waiter.done():
            self.pass_on(waiter.result())
        else:
            self._waiting.remove(waiter)

    async def _poll(self) -> None:
        """Request as many slots as there are waiters, until the queue is empty."""
        ids: list[str] = []
        tries, self._redis_replies = 0, False
        try:
            while self._waiting:
                count = min(len(self._waiting), self._max_concurrency, _REQUESTED_MAX)
                ids += [new_id().hex for _ in range(count - len(ids))]
                slots = await self._acquire(ids)
                if slots is not None:
                    is_short, ids = len(slots) < len(ids), []
                    for slot in slots:
                        self.pass_on(slot)
                    if not is_short:
                        continue
                await asyncio.sleep(_pause_s(tries))
                tries += 1
            if ids:
                self._leases.release(self._tool, ids)
        finally:
            self._poller = None

    async def _acquire(self, ids: list[str]) -> list[Slot] | None:
        """Return the slots acquired for these ids; None if Redis did not reply, so that the ids may hold some."""
        try:
            slots = await self._leases.acquire(self._tool, self._max_concurrency, ids)
        except RedisError as error:
            if self._redis_replies:
                structlog.get_logger().warning("slots_unavailable", tool=self._tool, error=str(error))
            self._redis_replies = False
            return None
        self._redis_replies = True
        return slots


def _pause_s(tries: int) -> float:
    """Return the pause before the next request, with jitter."""
    longest_s = _DELAYS_S[min(tries, len(_DELAYS_S) - 1)]
    return longest_s * (0.5 + random_fraction() / 2)
