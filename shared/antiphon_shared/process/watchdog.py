"""A watchdog that ends a process whose event loop is stuck, so that other workers take over its deliveries.

A tool that blocks the loop also blocks the renewal of leases, the handling of SIGTERM and all other tasks. Only
another thread can detect it.
"""

import asyncio
import faulthandler
import os
import sys
import threading
from types import TracebackType
from typing import Self

_TICK_S = 0.5
EXIT_STUCK = 70
"""`EX_SOFTWARE` of sysexits.h."""


class Watchdog:
    """A watchdog over the running loop, within a block.

    Time is counted in the thread's own ticks, as a process that was suspended as a whole is not stuck.
    """

    def __init__(self, limit_s: float) -> None:
        self._ticks_max = max(1, round(limit_s / _TICK_S))
        self._silent_ticks = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._resetting: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        self._resetting = asyncio.get_running_loop().create_task(self._reset_ticks())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._resetting is not None, "the block was entered"
        self._resetting.cancel()
        self._ended.set()
        self._thread.join()

    async def _reset_ticks(self) -> None:
        while True:
            self._silent_ticks = 0
            await asyncio.sleep(_TICK_S)

    def _watch(self) -> None:
        while not self._ended.wait(_TICK_S):
            self._silent_ticks += 1
            if self._silent_ticks > self._ticks_max:
                sys.stderr.write("The event loop has stopped turning; the process ends. What blocks it:\n")
                faulthandler.dump_traceback(all_threads=True)
                os._exit(EXIT_STUCK)
