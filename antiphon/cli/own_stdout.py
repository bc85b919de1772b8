"""The stdout of a command, apart from the output of tools, which print to stderr."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO, cast

from antiphon_shared.text.control import harmless


class _PrintedByTools:
    """A stream for code that prints by itself: its text goes to `file` and cannot control the terminal.

    Everything else is the file's own, such as `buffer`, `fileno` and `reconfigure`.
    """

    def __init__(self, file: TextIO, stdout: TextIO) -> None:
        self._file, self.stdout = file, stdout

    def write(self, text: str) -> int:
        self._file.write(harmless(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self._file.writelines(map(harmless, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def own_stdout() -> TextIO:
    """Return the stream for the results of the command."""
    stream: object = sys.stdout
    return stream.stdout if isinstance(stream, _PrintedByTools) else sys.stdout


@contextmanager
def tools_print_to_stderr() -> Iterator[None]:
    """Send to stderr what tools print within the block, so that it does not mix with the command's results."""
    with redirect_stdout(cast("TextIO", _PrintedByTools(sys.stderr, own_stdout()))):
        yield
