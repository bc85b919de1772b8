"""The function calls of a session, which a busy machine changes far less than the CPU time."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from antiphon.replay.against.trees import ROOT
from benchmarks.pipeline import MODULES, Pipeline
from tests.redis_server import RedisServer

COUNTED = Path(__file__).with_name("counted.py")
"""It is started by its path, as an earlier tree may not contain it."""


class CountedPipeline(Pipeline):
    """A pipeline whose processes count the calls of their functions."""

    def __init__(
        self, server: RedisServer, tree: Path = ROOT, modules: Mapping[str, str] = MODULES, **environment: str
    ) -> None:
        super().__init__(server, tree, modules, **environment)
        self._folder = tempfile.TemporaryDirectory(prefix="antiphon-calls-")
        self.command = (sys.executable, "-P", str(COUNTED), self._folder.name)

    def stop(self) -> None:
        super().stop()
        self._folder.cleanup()

    def spent(self) -> dict[str, float]:
        """Return the number of calls so far, by "PROCESS PLACE", where a place is a file and a function."""
        return {
            f"{name} {place}": number
            for name, process in self.processes.items()
            for place, number in self._counts(process.pid).items()
        }

    def _counts(self, pid: int) -> dict[str, int]:
        file = Path(self._folder.name) / f"{pid}.json"
        file.unlink(missing_ok=True)
        os.kill(pid, signal.SIGUSR1)
        self._until(file.exists)
        return dict(json.loads(file.read_text()))
