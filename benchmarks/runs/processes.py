"""What runs are measured on: coordinators and tool dispatchers as processes, on a Redis of their own."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from antiphon_shared.workflows.specification import Specification

from antiphon import Antiphon, workflows
from benchmarks.pipeline import Pipeline
from tests.redis_server import running

PARTS = ("coordinator", "tool_dispatcher")
_LIMIT_S = 600.0


class Processes(Pipeline):
    """So many of each of the two; nobody reasons, files or writes answers in a run of calls."""

    def start_copies(self, copies: int) -> None:
        """Start them, and let a first run warm them up."""
        for copy in range(1, copies + 1):
            for name in PARTS:
                command = [sys.executable, "-P", "-m", name]
                self.processes[f"{name} {copy}"] = subprocess.Popen(command, env=self._environment)
        for name in PARTS:
            self._until(lambda name=name: self.client.hlen(self.keys.workers(name)) == copies)

    def seconds(self, specification: Specification, runs: int = 1) -> float:
        """Run `measured` so many times at once; seconds until the last response."""
        return asyncio.run(self._seconds(specification, runs))

    async def _seconds(self, specification: Specification, runs: int) -> float:
        async with Antiphon(self.server.url) as antiphon:
            begun = time.perf_counter()
            ids = [await workflows.start(antiphon, "measured", source=specification) for _ in range(runs)]
            for id in ids:
                response = await antiphon.result(id, _LIMIT_S)
                assert response.status == "complete", response.answer
            return time.perf_counter() - begun

    def peak_mb(self, name: str) -> float:
        """Return the most memory that a process has had."""
        status = Path(f"/proc/{self.processes[name].pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1e3


@contextlib.contextmanager
def processes(copies: int = 1) -> Iterator[Processes]:
    """Run such processes for the length of a block."""
    with running() as server:
        tools, open_max = "benchmarks.runs.tools", "1000"
        measured = Processes(server, ANTIPHON_TOOLS=tools, ANTIPHON_BUS_MAX_OPEN_SESSIONS=open_max)
        try:
            measured.start_copies(copies)
            yield measured
        finally:
            measured.stop()
