"""The command line at a terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.antiphon.conftest import clean_environment

LIMIT_S = 180.0


class Terminal:
    """A command with a terminal of its own, which ends with the block."""

    def __init__(self, *arguments: str, folder: Path, **variables: str) -> None:
        self._ours, theirs = pty.openpty()
        self.model_view = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "antiphon", *arguments],
            env=clean_environment(TERM="dumb", **variables),
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all its processes at the end of the test."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=LIMIT_S)
        os.close(self._ours)

    def until(self, text: str, times: int = 1) -> None:
        """Read the output until a text has appeared the given number of times."""
        deadline = time.monotonic() + LIMIT_S
        while self.model_view.count(text) < times:
            assert time.monotonic() < deadline, f"no {text!r} in:\n{self.model_view}"
            assert self._read(), f"it ended before it said {text!r}:\n{self.model_view}"

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> int:
        """Send Ctrl-C to the command alone; return its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self) -> int:
        """Read the rest; return the exit code."""
        while self._read():
            pass
        return self.process.wait(timeout=LIMIT_S)

    def _read(self) -> bool:
        """Read a piece; return whether there was one before the other side was closed."""
        ready, _, _ = select.select([self._ours], [], [], LIMIT_S)
        assert ready, self.model_view
        with suppress(OSError):  # the other side is closed
            if piece := os.read(self._ours, 65_536):
                self.model_view += piece.decode(errors="replace").replace("\r\n", "\n")
                return True
        return False
