"""Stepping of coroutines: the world decides when each continues, if at all."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from types import coroutine
from typing import Any, TypeVar, cast

ResultT = TypeVar("ResultT")


@coroutine
def pause(delay_ms: int) -> Generator[int, None, None]:
    """Wait for some simulated time; anything that can happen between two steps happens here."""
    yield delay_ms


class _Loop(asyncio.AbstractEventLoop):
    """A minimal event loop: the methods that `asyncio.gather` needs when no coroutine waits for I/O."""

    def __init__(self) -> None:
        self._ready: deque[tuple[Callable[..., object], tuple[Any, ...], Context | None]] = deque()

    def get_debug(self) -> bool:
        return False

    def call_soon(  # type: ignore[override]  # the handle is not used
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> None:
        self._ready.append((callback, args, context))

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> Any:
        return asyncio.Task(coro, loop=self, name=name, context=context)

    def run_in_executor(  # type: ignore[override]  # there is no other thread: the work is done at once
        self, executor: object, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        future = self.create_future()
        future.set_result(func(*args))
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        raise RuntimeError(context.get("message"))

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        asyncio._set_running_loop(self)
        try:
            task: asyncio.Task[ResultT] = asyncio.Task(work, loop=self)
            while not task.done():
                callback, args, context = self._ready.popleft()
                if context is None:
                    callback(*args)
                else:
                    context.run(callback, *args)
            return task.result()
        finally:
            asyncio._set_running_loop(None)


_loop = _Loop()  # type: ignore[abstract]  # nothing else of a loop is asked for


def at_once(work: Awaitable[ResultT]) -> ResultT:
    """Return the result of a coroutine that waits only for its own parts."""
    return _loop.run(cast(Coroutine[Any, Any, ResultT], work))
