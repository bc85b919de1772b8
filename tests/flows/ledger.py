"""What the tools of a test really did, as they wrote it down themselves."""

from collections import defaultdict
from pathlib import Path
from typing import Literal

from pydantic import BaseModel


class Line(BaseModel):
    """The beginning or the end of one run of one call."""

    at: Literal["begin", "end"]
    pid: int
    key: str
    run: str
    tool: str


class Ledger:
    """Reads on from where it stopped reading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[str, list[str]] = defaultdict(list)
        """The runs of each idempotency key, in the order in which they began."""
        self._under_way: dict[int, dict[str, str]] = defaultdict(dict)
        """The tool of each run that has begun and not ended, of each process."""
        self._read_bytes = 0

    def under_way(self, pid: int, tool: str | None = None) -> int:
        """Return the runs of a process, of one tool or of any, that have begun and not ended."""
        self.read()
        return sum(tool in (None, name) for name in self._under_way[pid].values())

    def read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read_bytes)
            for raw in file:
                if not raw.endswith(b"\n"):
                    break
                self._read_bytes += len(raw)
                line = Line.model_validate_json(raw)
                if line.at == "begin":
                    self.runs[line.key].append(line.run)
                    self._under_way[line.pid][line.run] = line.tool
                else:
                    self._under_way[line.pid].pop(line.run, None)
