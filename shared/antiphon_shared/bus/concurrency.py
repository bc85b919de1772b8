"""The concurrency of a process: the number of deliveries in flight, and deliveries that run alone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

_CANCEL_TIMEOUT_S = 0.5


class ConcurrencyLimit:
    """The free slots for deliveries, shared by the readers of one process."""

    def __init__(self, slots: int, readers: int) -> None:
        self._free = slots
        self._share = max(1, slots // readers)
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()

    @property
    def free(self) -> int:
        return self._free

    @property
    def is_closed(self) -> bool:
        return self._closing.is_set()

    @property
    def has_waiting_reader(self) -> bool:
        """Return whether a reader waits for a slot; a reader with unused slots should then soon release them."""
        return self._turn.locked()

    async def reserve(self) -> int:
        """Wait for a free slot, in turn, and take a reader's share of the free ones; return 0 once closed."""
        async with self._turn:
            while not self._free and not self.is_closed:
                self._changed.clear()
                await self._changed.wait()
            if self.is_closed:
                return 0
            reserved = min(self._free, self._share)
            self._free -= reserved
            return reserved

    def take_free(self) -> bool:
        """Take a free slot at once; return False if no slot is free, a reader waits for one, or the limit is closed."""
        if self.is_closed or self.has_waiting_reader or not self._free:
            return False
        self._free -= 1
        return True

    def release(self, slots: int = 1) -> None:
        self._free += slots
        self._changed.set()

    def close(self) -> None:
        """Close the limit: waiters return, and no further delivery gets a slot."""
        self._closing.set()
        self._changed.set()

    async def pause(self, seconds: float) -> None:
        """Sleep until the limit is closed, at most `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()


class Gate:
    """A lock with shared and exclusive holders; an exclusive one waits for the shared ones, and blocks new ones."""

    def __init__(self) -> None:
        self._inside = 0
        self._open = asyncio.Event()
        self._open.set()
        self._empty = asyncio.Event()
        self._turn = asyncio.Lock()

    async def enter(self) -> None:
        """Enter together with others, until `leave`."""
        while not self._open.is_set():
            await self._open.wait()
        self._inside += 1

    def leave(self) -> None:
        self._inside -= 1
        if not self._inside:
            self._empty.set()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        async with self._turn:
            self._open.clear()
            try:
                while self._inside:
                    self._empty.clear()
                    await self._empty.wait()
                yield
            finally:
                self._open.set()


async def end_tasks(tasks: Sequence[asyncio.Task[None]], grace_s: float) -> None:
    """Wait for tasks, cancel the unfinished ones after `grace_s`, and wait half a second at most for their end."""
    if tasks:
        _, unfinished = await asyncio.wait(tasks, timeout=grace_s)
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished, timeout=_CANCEL_TIMEOUT_S)
