"""The runs of the writing tools, as they wrote them down themselves."""

from collections import defaultdict
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

Stage = Literal["begin", "sends", "end"]


class Run(BaseModel):
    """One run of one write, and how far it has come."""

    at: Stage
    run: str
    kind: str
    key: str
    fence: int
    pid: int


class Runs:
    """Reads on from where it stopped reading."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._runs: dict[str, dict[int, list[Run]]] = defaultdict(lambda: defaultdict(list))
        self._read_bytes = 0

    def of(self, key: str) -> list[Run]:
        """Return all runs of a write, by their fence."""
        return [run for _, runs in sorted(self._runs.get(key, {}).items()) for run in runs]

    def under(self, key: str, fence: int) -> Run | None:
        """Return the run of one claim; the last, if there are more."""
        runs = self._runs.get(key, {}).get(fence)
        return runs[-1] if runs else None

    def under_way(self, pid: int) -> int:
        """Return the runs of a process that have begun and not ended."""
        every = [run for by_fence in self._runs.values() for runs in by_fence.values() for run in runs]
        return sum(run.pid == pid and run.at != "end" for run in every)

    def read(self) -> None:
        if not self.file.exists():
            return
        with self.file.open("rb") as file:
            file.seek(self._read_bytes)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break
                self._read_bytes += len(raw)
                self._add(Run.model_validate_json(raw))

    def _add(self, line: Run) -> None:
        runs = self._runs[line.key][line.fence]
        if line.at == "begin":
            runs.append(line)
            return
        (run,) = [run for run in runs if run.run == line.run]
        run.at = line.at
