"""The peer: DBOS on SQLite, each node a step of one workflow.

It has no graphs: its workflow begins, level by level, the steps whose dependencies are done, which is the order that
its replay needs. Its steps are functions in the same process.
"""

import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.runs.graphs import Graph


def nodes_per_second(graph: Graph) -> float:
    """Run a graph once, after a run of two nodes has been made."""
    from dbos import DBOS

    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder) / 'dbos.sqlite'}"
        config: Any = {
            "name": "benchmark",
            "system_database_url": database,
            "log_level": "ERROR",
            "run_admin_server": False,
        }
        DBOS(config=config)

        @DBOS.step()
        async def nothing(n: int) -> int:
            return n

        @DBOS.workflow()
        async def run(sizes: list[int]) -> int:
            for size in sizes:
                await asyncio.gather(*(nothing(1) for _ in range(size)))
            return sum(sizes)

        DBOS.launch()
        try:
            return asyncio.run(_timed(run, _sizes(graph)))
        finally:
            DBOS.destroy()


async def _timed(run: Any, sizes: list[int]) -> float:
    await run([1, 1])
    begun = time.perf_counter()
    done: int = await run(sizes)
    return done / (time.perf_counter() - begun)


def _sizes(graph: Graph) -> list[int]:
    """Return how many nodes there are on each level."""
    depth: dict[str, int] = {}
    for node, before in graph.items():
        depth[node] = 1 + max((depth[one] for one in before), default=0)
    counted = Counter(depth.values())
    return [counted[level] for level in sorted(counted)]
