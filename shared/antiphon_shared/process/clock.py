"""The only place that reads a clock.

The runtime and the shells use it. Decisions never do: time reaches them as `event.time`.
"""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the wall-clock time, timezone-aware, in UTC."""
    return datetime.now(UTC)


def monotonic_s() -> float:
    """Return the seconds of a clock that never steps back, for measuring and for local waits."""
    return time.monotonic()


def milliseconds(seconds: float) -> int:
    """Return seconds as whole milliseconds, as Redis takes them, at least one."""
    return max(1, round(seconds * 1000))
