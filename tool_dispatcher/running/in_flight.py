"""The units of a batch that are in flight."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Self

from tool_dispatcher.batch import Unit
from tool_dispatcher.idempotency.write import Results

Work = Coroutine[None, None, Results]


class UnitsInFlight:
    """The units in flight, and their results in the order in which they end.

    An async context manager. If the block raises an error, it waits for the units; if the block is cancelled, it
    cancels them.
    """

    def __init__(self) -> None:
        self._begun: list[tuple[Unit, Work]] = []
        self._units: dict[asyncio.Task[Results], Unit] = {}
        self._ended: list[asyncio.Task[Results]] = []
        self._has_ended = asyncio.Event()

    def begin(self, unit: Unit, work: Work) -> None:
        """Start the unit's work."""
        self._begun.append((unit, work))

    async def ended(self) -> list[tuple[Unit, Results]]:
        """Wait for a unit to end; return all that have ended since the last call, with results. Raises their errors."""
        begun, self._begun = self._begun, []
        if len(begun) == 1 and not self._units:
            ((unit, work),) = begun
            # A single unit needs no separate task, and most batches are one call.
            return [(unit, await work)]
        for unit, work in begun:
            task = asyncio.create_task(work)
            self._units[task] = unit
            task.add_done_callback(self._end)
        while not self._ended:
            self._has_ended.clear()
            await self._has_ended.wait()
        ended = [(self._units.pop(task), task) for task in self._ended]
        self._ended.clear()
        return [(unit, task.result()) for unit, task in ended]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            for task in self._units:
                task.cancel()
        if self._units:
            await asyncio.gather(*self._units, return_exceptions=True)

    def _end(self, task: asyncio.Task[Results]) -> None:
        self._ended.append(task)
        self._has_ended.set()
