"""The only place that reads a clock.

Decisions never call it: time reaches them as `event.time`. The runtime and the shells do.
"""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The wall clock, timezone-aware, in UTC."""
    return datetime.now(UTC)


def monotonic_s() -> float:
    """Seconds on a clock that never steps back, for measuring and for local waits."""
    return time.monotonic()


def milliseconds(seconds: float) -> int:
    """Seconds as the whole milliseconds Redis takes, at least one."""
    return max(1, round(seconds * 1000))
