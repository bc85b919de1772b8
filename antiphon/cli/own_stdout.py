"""The stdout of a command, apart from the output of tools, which print to stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOBase
from typing import TextIO

from antiphon_shared.text.control import harmless


class _PrintedByTools(TextIOBase):
    """A stream for code that prints by itself: its output goes to `file` and cannot control the terminal."""

    def __init__(self, file: TextIO, stdout: TextIO) -> None:
        self._file, self.stdout = file, stdout

    def write(self, text: str) -> int:
        self._file.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        self._file.flush()


def own_stdout() -> TextIO:
    """Return the stream for the results of the command."""
    return sys.stdout.stdout if isinstance(sys.stdout, _PrintedByTools) else sys.stdout


@contextmanager
def tools_print_to_stderr() -> Iterator[None]:
    """Send to stderr what tools print within the block, so that it does not mix with the command's results."""
    with redirect_stdout(_PrintedByTools(sys.stderr, own_stdout())):
        yield
