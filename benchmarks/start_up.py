"""Start-up: the time, CPU and memory that each component takes until it is ready.

Each is compared with the bare import of the libraries that an engine for the Messages API needs. CPU
time is compared, because a busy machine makes everything take longer.
"""

import resource
import statistics
import subprocess
import sys

from antiphon_shared.events import COMPONENTS, Component

from benchmarks.pipeline import pipeline

BARE = "import anthropic, redis.asyncio, pydantic"
ENGINE_MAX = 1.15
MEMORY_MB_MAX = 60

Row = tuple[str, str, str, str]


def measure(runs: int) -> list[Row]:
    """Return a row for each component, from so many starts of it, each paired with one of the bare import."""
    return [_row(component, [_start(component) for _ in range(runs)]) for component in COMPONENTS]


Start = tuple[float, float, float, float]
"""Seconds until ready, CPU seconds until then, memory in MB, CPU seconds of the bare import."""


def _start(component: Component) -> Start:
    before_s = _children_cpu_s()
    subprocess.run([sys.executable, "-P", "-c", BARE], check=True)
    bare_s = _children_cpu_s() - before_s
    with pipeline(modules={component: component}, ANTHROPIC_BASE_URL="http://127.0.0.1:1") as started:
        seconds = started.start()[component]
        return seconds, started.on_cpu_s()[component], started.memory_mb()[component], bare_s


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(component: Component, starts: list[Start]) -> Row:
    seconds, cpu_s, memory_mb, _ = (statistics.median(column) for column in zip(*starts, strict=True))
    ratio = statistics.median(cpu_s / bare_s for _, cpu_s, _, bare_s in starts)
    is_engine = component == "reasoning_engine"
    return (
        f"start-up: {component}",
        f"ready in {seconds:.2f} s, {memory_mb:.0f} MB",
        f"{cpu_s:.2f} s of CPU; {ratio:.2f} of a bare import",
        f"<= {ENGINE_MAX}" if is_engine else f"< 1, <= {MEMORY_MB_MAX} MB",
    )


if __name__ == "__main__":
    for row in measure(runs=3):
        print(*row, sep="  |  ")
