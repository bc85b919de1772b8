"""The only place that reads a clock.

The runtime and the shells use it. Decisions do not, but take `event.time`.
"""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the wall-clock time, timezone-aware, in UTC."""
    return datetime.now(UTC)


def monotonic_s() -> float:
    """Return the seconds of a clock that never steps back, for measurements and local waits."""
    return time.monotonic()


def milliseconds(seconds: float) -> int:
    """Return seconds in whole milliseconds for Redis, at least one."""
    return max(1, round(seconds * 1000))
