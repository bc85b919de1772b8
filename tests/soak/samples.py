"""Memory, files and connections over time: of each process, and of Redis."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

import redis

from tests.soak.stage import REDIS, Stage

_KILOBYTES = 1024
MEGABYTES = 1024 * 1024
_HOUR_S = 3_600.0
_REDIS_LIMIT_S = 0.3
"""A frozen Redis must not block the thread that resumes it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample of a process: monotonic time, resident memory, and the number of open files."""

    at_s: float
    rss_mb: float
    open: int
    """The number of files and sockets; for Redis, of clients."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The trend of a series of samples."""

    first: float
    """Median of the first quarter."""
    last: float
    """Median of the last quarter."""
    per_hour: float
    """Slope of the least-squares line."""


class Samples:
    """The samples of each process, by name and process id."""

    def __init__(self, stage: Stage) -> None:
        self.rows: dict[tuple[str, int], list[Sample]] = defaultdict(list)
        self._stage = stage
        self._redis = redis.Redis.from_url(stage.redis.url, socket_timeout=_REDIS_LIMIT_S)

    def take(self) -> None:
        now = time.monotonic()
        for name, process in self._stage.running.items():
            folder = Path(f"/proc/{process.pid}")
            try:
                pages = (folder / "status").read_text()
                open_files = len(list((folder / "fd").iterdir()))
            except OSError:
                continue  # it has just ended
            rss = next((line for line in pages.splitlines() if line.startswith("VmRSS:")), None)
            if rss is not None:
                self.rows[name, process.pid].append(Sample(now, int(rss.split()[1]) / _KILOBYTES, open_files))
        try:
            info = self._redis.info()
        except redis.RedisError:
            return  # it is being restarted, or is stopped
        self.rows[REDIS, 0].append(Sample(now, info["used_memory"] / MEGABYTES, info["connected_clients"]))

    def close(self) -> None:
        self._redis.close()

    def now_mb(self) -> float:
        """Return the memory of all processes now, together; Redis by its own figure."""
        alive = {(name, process.pid) for name, process in self._stage.running.items()} | {(REDIS, 0)}
        return sum(row[-1].rss_mb for key, row in self.rows.items() if key in alive)


def trend(row: Sequence[Sample], of: Literal["rss_mb", "open"]) -> Trend:
    """Return the trend of a series of four samples or more."""
    values = [float(getattr(sample, of)) for sample in row]
    part = len(row) // 4
    slope = _slope([sample.at_s for sample in row], values)
    return Trend(median(values[:part]), median(values[-part:]), slope * _HOUR_S)


def _slope(at: Sequence[float], values: Sequence[float]) -> float:
    middle_at, middle = sum(at) / len(at), sum(values) / len(values)
    spread = sum((x - middle_at) ** 2 for x in at)
    return (
        sum((x - middle_at) * (y - middle) for x, y in zip(at, values, strict=True)) / spread
        if spread
        else 0.0
    )
