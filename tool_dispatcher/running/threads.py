"""Threads for plain functions. They are daemons, so that the process can end while a function never returns."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar, cast

T = TypeVar("T")

Done = tuple[object, BaseException | None]
"""The return value of a function, or the exception it raised."""


class NoThread(Exception):
    """No thread became free in time."""


class Threads:
    """A pool of at most `threads_max` threads, which are started when needed and then reused.

    An abandoned function cannot be stopped. An extra thread replaces its thread, so that a tool that hangs does not
    block the others; there may be up to `threads_max` extra threads.
    """

    def __init__(self, threads_max: int) -> None:
        self._free = asyncio.Semaphore(threads_max)
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads_max = threads_max
        self._started = self.busy = self.abandoned = 0

    @asynccontextmanager
    async def reserve(self, wait_s: float) -> AsyncIterator["HeldThread"]:
        """Hold a free thread, which may run one function. Raises NoThread."""
        try:
            async with asyncio.timeout(wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise NoThread from None
        thread = HeldThread(self)
        try:
            yield thread
        finally:
            if not thread.is_used:
                self._free.release()

    def start(self, function: Callable[[], object], thread: "HeldThread") -> asyncio.Future[Done]:
        """Run the function in the thread, which is free again when the function returns."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Done] = loop.create_future()
        context = copy_context()

        def finish(done: Done) -> None:
            with suppress(RuntimeError):  # the loop is closed, so the result is dropped
                loop.call_soon_threadsafe(self._finish, thread, future, done)

        def job() -> None:
            try:
                finish((context.run(function), None))
            except BaseException as error:  # noqa: BLE001  # a tool may raise anything, SystemExit too
                finish((None, error))

        self._jobs.put(job)
        self.busy += 1
        if self.busy > self._started:
            self._started += 1
            Thread(target=_work, args=(self._jobs,), name=f"tool-{self._started}", daemon=True).start()
        return future

    def abandon(self, thread: "HeldThread") -> None:
        """Abandon the function in the thread, and allow an extra thread, up to the limit."""
        if thread.is_running and self.abandoned < self._threads_max:
            thread.is_abandoned = True
            self.abandoned += 1
            self._free.release()

    def close(self) -> None:
        """End the idle threads now, and each other thread when its function returns."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _finish(self, thread: "HeldThread", future: asyncio.Future[Done], done: Done) -> None:
        self.busy -= 1
        thread.is_running = False
        if thread.is_abandoned:
            self.abandoned -= 1
        else:
            self._free.release()
        if not future.done():
            future.set_result(done)


class HeldThread:
    """A thread held for one function."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.is_used = self.is_running = self.is_abandoned = False

    async def run(self, function: Callable[[], T]) -> T:
        """Return the function's result, or raise its exception. After a cancellation its result is dropped."""
        self.is_used = self.is_running = True
        result, error = await self._threads.start(function, self)
        if error is not None:
            raise error
        return cast(T, result)

    def abandon(self) -> None:
        """Abandon the function."""
        if not self.is_abandoned:
            self._threads.abandon(self)


def _work(jobs: "SimpleQueue[Callable[[], None] | None]") -> None:
    while (job := jobs.get()) is not None:
        job()
