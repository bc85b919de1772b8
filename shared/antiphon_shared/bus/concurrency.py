"""The concurrency of a process: how many deliveries are in flight, and which run alone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

_REFUSAL_S = 0.5


class ConcurrencyLimit:
    """The free places for deliveries, shared by the readers of one process."""

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
    def is_sought(self) -> bool:
        """Return whether a reader waits for a place: a reader with idle places should soon return them."""
        return self._turn.locked()

    async def reserve(self) -> int:
        """Wait for a free place, in turn, and take a reader's share of the free ones; 0 once closed."""
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
        if self.is_closed or self.is_sought or not self._free:
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
    """A lock with shared and exclusive holders: an exclusive holder waits for the shared ones and blocks new ones."""

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


async def end_tasks(tasks: Sequence[asyncio.Task[None]], patience_s: float) -> None:
    """Wait for tasks, then cancel them; with a limit, as a task may ignore its cancellation.

    Args:
        patience_s: the seconds before they are cancelled.
    """
    if tasks:
        _, unfinished = await asyncio.wait(tasks, timeout=patience_s)
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished, timeout=_REFUSAL_S)
