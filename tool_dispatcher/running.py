"""Units of a batch that are under way, each in a task of its own."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from shared.tools import ToolResult
from tool_dispatcher.batch import Unit

Results = tuple[ToolResult, ...]


class Running:
    """Begins units, and hands out what came of them in the order in which they end.

    An async context manager. When the block raises, those under way are let finish; when it is cancelled, they
    are cancelled too.
    """

    def __init__(self) -> None:
        self._units: dict[asyncio.Task[Results], Unit] = {}
        self._ended: deque[asyncio.Task[Results]] = deque()
        self._has_ended = asyncio.Event()

    def begin(self, unit: Unit, work: Coroutine[Any, Any, Results]) -> None:
        """Start the unit's work."""
        task = asyncio.create_task(work)
        self._units[task] = unit
        task.add_done_callback(self._end)

    async def next(self) -> tuple[Unit, Results]:
        """The next unit that has ended, and its results. Raises what its work raised."""
        while not self._ended:
            self._has_ended.clear()
            await self._has_ended.wait()
        task = self._ended.popleft()
        return self._units.pop(task), task.result()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            for task in self._units:
                task.cancel()
        await asyncio.gather(*self._units, return_exceptions=True)

    def _end(self, task: asyncio.Task[Results]) -> None:
        self._ended.append(task)
        self._has_ended.set()
