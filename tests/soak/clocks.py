"""Wall clocks of processes that can be set wrong; see clock.c."""

import shutil
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")
_NANOSECONDS = 1_000_000_000


class Clocks:
    """The clocks of some processes, by name. Without a C compiler they show the machine's time."""

    def __init__(self, folder: Path) -> None:
        self.ahead_s: dict[str, float] = {}
        """The seconds by which each process's clock is ahead of the machine's."""
        self._folder = folder
        self._library = _compiled(folder)

    @property
    def why_not(self) -> str:
        """The reason why clocks cannot be set; empty if they can."""
        return "" if self._library else "no C compiler that works, so no clock was set: install gcc"

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment in which a process's clock can be set. A new process starts with a right clock."""
        if self._library is None:
            return {}
        self.set(name, 0.0)
        return {"LD_PRELOAD": str(self._library), "CLOCK_FILE": str(self._file(name))}

    def set(self, name: str, ahead_s: float) -> None:
        """Set the clock of a process ahead of the machine's, or behind; it jumps at once."""
        self.ahead_s[name] = ahead_s
        content = round(ahead_s * _NANOSECONDS).to_bytes(8, "little", signed=True)
        with self._file(name).open("r+b" if self._file(name).exists() else "wb") as file:
            file.write(content)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.clock"


def _compiled(folder: Path) -> Path | None:
    """Compile the library; return None without a compiler, or on an unsupported system."""
    compiler, library = shutil.which("cc"), folder / "clock.so"
    if compiler is None:
        return None
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE)]
    return library if subprocess.run(command, capture_output=True).returncode == 0 else None
