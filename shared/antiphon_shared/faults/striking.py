"""The execution of faults. Passing a point has no effect unless the process is armed."""

import asyncio
import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import assert_never

import structlog
from redis.exceptions import ConnectionError

from antiphon_shared.faults.plan import Fault

Disconnect = Callable[[], Awaitable[None]]


class FaultOnPurpose(RuntimeError):
    """The error of the action `raise`, which no code may catch by name."""


class Armed:
    """The faults of one process, and the number of its passes of each point."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._faults: dict[str, list[Fault]] = defaultdict(list)
        for fault in faults:
            self._faults[fault.point].append(fault)
        self._passed: Counter[str] = Counter()
        self.struck = 0
        """The number of faults that have struck."""

    async def pass_point(self, point: str, disconnect: Disconnect | None) -> None:
        if point not in self._faults:
            return
        self._passed[point] += 1
        nth = self._passed[point]
        for fault in self._faults[point]:
            if fault.strikes(nth):
                self.struck += 1
                await asyncio.sleep(0)  # lets tasks that were started before this one begin first
                structlog.get_logger().warning(STRUCK, fault=fault.text, at=point, nth=nth, pid=os.getpid())
                await _strike(fault, disconnect)


async def _strike(fault: Fault, disconnect: Disconnect | None) -> None:
    match fault.action:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise FaultOnPurpose(f"on purpose, at {fault.point}")
        case "unavailable":
            raise ConnectionError(f"out of reach on purpose, at {fault.point}")
        case "delay":
            await asyncio.sleep(fault.seconds)
        case "hang":
            await asyncio.get_running_loop().create_future()
        case "freeze":
            time.sleep(fault.seconds)  # noqa: ASYNC251  # the fault blocks the loop on purpose
        case "disconnect":
            if disconnect is not None:
                await disconnect()
        case _:
            assert_never(fault.action)


STRUCK = "a fault strikes"
"""The log line of each strike."""

_ARMED: ContextVar[Armed | None] = ContextVar("faults", default=None)
"""Set once at the start of a process; every task inherits it.

This is an exception from the rule against globals, as a parameter would pass through some thirty constructors, for a
feature that no deployment uses.
"""


def arm(faults: Iterable[Fault]) -> None:
    """Arm faults in this context and in all tasks started in it."""
    _ARMED.set(Armed(faults))


@contextmanager
def armed(faults: Iterable[Fault]) -> Iterator[Armed]:
    """Arm faults for a block, and for all tasks started in it."""
    own = Armed(faults)
    token = _ARMED.set(own)
    try:
        yield own
    finally:
        _ARMED.reset(token)


async def pass_point(point: str, disconnect: Disconnect | None = None) -> None:
    """Pass a named point of faults/points.py; `disconnect` closes the connection that is in use there."""
    armed = _ARMED.get()
    if armed is not None:
        await armed.pass_point(point, disconnect)
