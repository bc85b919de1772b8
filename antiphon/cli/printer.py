"""The two streams of a command, whose texts cannot control a terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from html import unescape
from typing import TYPE_CHECKING, Any, TypeVar

from antiphon_shared.process.environment import load_environment
from antiphon_shared.text.control import harmless

if TYPE_CHECKING:  # the library for drawing is imported on use: many commands do not need it
    from rich.console import Console
    from rich.status import Status

WorkT = TypeVar("WorkT")
_TERMINAL_FORCED = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""The variables that make rich treat a pipe as a terminal, or a terminal as a pipe."""
_ENTITY = re.compile(r"&#?\w{1,32};")


class Printer:
    """One of the two streams, for the output of commands. Texts cannot control the terminal, nor act as rich markup."""

    def __init__(self, file: Any) -> None:
        self._file = file

    @cached_property
    def _console(self) -> "Console":
        from rich.console import Console

        # Lines in a pipe are not wrapped.
        width = None if self._file.isatty() else 1000
        return Console(
            file=self._file,
            width=width,
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=width is not None,
        )

    @property
    def is_terminal(self) -> bool:
        if any(map(load_environment, _TERMINAL_FORCED)):
            return self._console.is_terminal
        return bool(self._file.isatty())

    def print(self, text: str = "", *, style: str | None = None, end: str = "\n") -> None:
        """Print a text of one or several lines."""
        if self.is_terminal:
            self._console.print(harmless(text), style=style, end=end)
        else:  # as rich would, which is slow to import
            self._file.write(f"{harmless(text)}{end}")
            self._file.flush()

    def markdown(self, text: str) -> None:
        """Print Markdown as a terminal shows it; a link is shown next to its words."""
        from rich.markdown import Markdown

        self._console.print(Markdown(_ENTITY.sub(_harmless_entity, harmless(text)), hyperlinks=False))

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
        """Print rows under headings; without rows print nothing and return False."""
        from rich.table import Table

        table = Table(*headings, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(one_line(cell) for cell in row))
        if table.row_count:
            self._console.print(table)
        return bool(table.row_count)

    @contextmanager
    def status(self, text: str = "") -> Iterator["StatusLine"]:
        """Show a line with a spinner while the block runs."""
        from rich.text import Text

        with self._console.status(Text(one_line(text))) as status:
            yield StatusLine(status)

    def track(self, work: Iterable[WorkT], what: str, total: int, *, is_visible: bool) -> Iterable[WorkT]:
        """Return the work as an iterable with a progress bar."""
        if not is_visible:
            return work
        from rich.progress import track

        return track(work, one_line(what), total, console=self._console, transient=True)


def _harmless_entity(entity: re.Match[str]) -> str:
    """Return an entity, or a placeholder where its character controls a terminal: Markdown resolves entities."""
    sign = unescape(entity[0])
    return entity[0] if harmless(sign) == sign else "\ufffd"


class StatusLine:
    """The line of `Printer.status`."""

    def __init__(self, status: "Status") -> None:
        self._status = status
        self.start, self.stop = status.start, status.stop

    def update(self, text: str) -> None:
        from rich.text import Text

        # A Text, as rich would read a string as markup here, regardless of the console's setting.
        self._status.update(Text(one_line(text)))


def one_line(value: object, length_max: int = 0) -> str:
    """Return any text on one line, safe for a terminal."""
    text = harmless(str(value))
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return text if not length_max or len(text) <= length_max else f"{text[: length_max - 1]}…"
