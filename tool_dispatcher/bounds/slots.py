"""Slots: a limit on the calls of one tool in flight at once, across all dispatcher processes.

Within a process, the waiters for one tool form a queue. One poller asks Redis for all of them, and a slot
that becomes free in this process goes to the first in the queue without a round trip; but only for a while,
so that the queues of other processes move too.
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

_PAUSES_S = (0.01, 0.02, 0.04, 0.08, 0.1)
"""Pauses between two requests to Redis; each is drawn from half its value to the whole."""
_ASKED_AT_ONCE_MAX = 256
_IN_A_ROW_S = 1.0
"""How long a slot may pass from call to call within this process, in seconds."""


class Slots:
    """The slots of every bounded tool. A slot that is not renewed expires after `lease_s`."""

    def __init__(self, batcher: Batcher, keys: Keys, lease_s: float) -> None:
        self._leases = SlotLeases(batcher, keys, lease_s)
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def hold(self, tool: str, max_concurrency: int, wait_s: float) -> AsyncIterator[None]:
        """Hold one of the tool's `max_concurrency` slots for as long as the block runs.

        Waits up to `wait_s`, which must be more than a round trip, also while Redis is unavailable. Raises
        NoSlot when no slot became free in that time, BoundUnknown when Redis did not reply. Leaving the block
        neither waits nor fails.
        """
        queue = self._queues.get(tool) or self._queues.setdefault(tool, _Queue(tool, self._leases))
        slot = await queue.slot(max_concurrency, wait_s)
        try:
            yield
        finally:
            queue.pass_on(slot)


class _Queue:
    """The waiters of this process for a slot of one tool, first in, first out."""

    def __init__(self, tool: str, leases: SlotLeases) -> None:
        self._tool, self._leases = tool, leases
        self._waiting: deque[asyncio.Future[Slot]] = deque()
        self._poller: asyncio.Task[None] | None = None
        self._max_concurrency = 1
        self._is_answered = False

    async def slot(self, max_concurrency: int, wait_s: float) -> Slot:
        """Return the next slot for this process. Raises NoSlot and BoundUnknown."""
        self._max_concurrency = max_concurrency
        turn: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        try:
            await asyncio.wait((turn,), timeout=max(0.0, wait_s))
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        if turn.done():
            return turn.result()
        self._leave(turn)
        if self._is_answered:
            raise NoSlot(self._tool, max_concurrency, wait_s)
        raise BoundUnknown(self._tool)

    def pass_on(self, slot: Slot) -> None:
        """Pass the slot to the first in the queue, or back to Redis, where every process can acquire it."""
        is_worn = slot.is_lost or monotonic_s() - slot.taken_s >= _IN_A_ROW_S
        if self._waiting and not is_worn:
            self._waiting.popleft().set_result(slot)
        else:
            self._leases.give_back(self._tool, [slot.id])

    def _leave(self, turn: asyncio.Future[Slot]) -> None:
        if turn.done():
            self.pass_on(turn.result())
        else:
            self._waiting.remove(turn)

    async def _poll(self) -> None:
        """Ask for as many slots as there are waiters, until the queue is empty."""
        asked: list[str] = []
        tries, self._is_answered = 0, False
        try:
            while self._waiting:
                wanted = min(len(self._waiting), self._max_concurrency, _ASKED_AT_ONCE_MAX)
                asked += [new_id().hex for _ in range(wanted - len(asked))]
                slots = await self._ask(asked)
                if slots is not None:
                    is_short, asked = len(slots) < len(asked), []
                    for slot in slots:
                        self.pass_on(slot)
                    if not is_short:
                        continue
                await asyncio.sleep(_pause_s(tries))
                tries += 1
            if asked:
                self._leases.give_back(self._tool, asked)
        finally:
            self._poller = None

    async def _ask(self, ids: list[str]) -> list[Slot] | None:
        """Return the slots acquired for these ids; None if Redis did not reply, and the ids may hold some."""
        try:
            slots = await self._leases.take(self._tool, self._max_concurrency, ids)
        except RedisError as error:
            if self._is_answered:
                structlog.get_logger().warning("slots_unavailable", tool=self._tool, error=str(error))
            self._is_answered = False
            return None
        self._is_answered = True
        return slots


def _pause_s(tries: int) -> float:
    """Return the pause before the next request, with jitter."""
    longest_s = _PAUSES_S[min(tries, len(_PAUSES_S) - 1)]
    return longest_s * (0.5 + random_fraction() / 2)
