"""A monotonic clock that a test controls, so that the test need not wait.

A limit of 50 ms expires too soon on a stalled machine, and a limit of a minute makes the test slow. Therefore the limit
is long, and the clock is advanced once the limited work has begun.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

DAY_S = 86_400.0


class Clock:
    """Ahead of the real one by as much as a test has put it forward."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def forward(self, seconds: float) -> None:
        """Move the clock forward, which ends the waits of this process up to that time."""
        self.ahead_s += seconds


@contextmanager
def controlled_clock() -> Iterator[Clock]:
    """Control the clock of this process and of its event loops, for the length of a block."""
    clock, right_s = Clock(), time.monotonic
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: right_s() + clock.ahead_s)
        yield clock
