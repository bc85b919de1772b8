"""What every command shares: where words go, how errors end, which number a program exits with."""

import json
import os
import re
import sys
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from html import unescape
from io import TextIOBase
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeVar

import orjson
import typer
from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.errors import (
    AntiphonError,
    ConfigurationError,
    RedisUnavailable,
    UnreadableEvent,
)
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.text.control import harmless, harmless_json
from pydantic import BaseModel

from antiphon.errors import AlreadyThere, InvalidQuery, Overloaded, SubmissionRejected, UnknownSession

if (
    TYPE_CHECKING
):  # what draws, logs and speaks to Redis is imported where it is used: many commands do none of it
    from redis.exceptions import RedisError
    from rich.console import Console
    from rich.status import Status

WorkT = TypeVar("WorkT")

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREADABLE = 3
EXIT_UNCHECKED = 4
"""Nothing has diverged, but not everything could be checked."""
EXIT_INTERRUPTED = 130

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def run(work: Coroutine[Any, Any, int | None], *, logs: Literal["error", "critical"] = "error") -> None:
    """Run a command to its exit code; an error of ours ends it with one clear line on stderr.

    `logs`: how severe a line of the log must be to be shown.
    """
    raise typer.Exit(result_of(work, logs=logs) or EXIT_DONE)


def result_of(work: Coroutine[Any, Any, WorkT], *, logs: Literal["error", "critical"] = "error") -> WorkT:
    """Return what a part of a command comes to; an error of ours ends the command, as in `run`."""
    import asyncio

    from antiphon_shared.process.logs import silence

    silence(logs, secret_values())
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except AntiphonError as error:
        code = refuse(error)
    except _redis_error() as error:
        from antiphon_shared.bus.connection import is_unavailable
        from antiphon_shared.bus.unavailable import unavailable

        code = refuse(unavailable(error) if is_unavailable(error) else RedisUnavailable(f"Redis: {error}."))
    except OSError as error:
        code = refuse(RedisUnavailable(f"Redis: {error}."))
    raise typer.Exit(code)


def _redis_error() -> "type[RedisError]":
    """What to catch, asked for once something has been raised: until then nobody needs the library."""
    from redis.exceptions import RedisError

    return RedisError


def refuse(error: AntiphonError) -> int:
    """Say what is wrong and what to do; the exit code for it."""
    said = Redactor(secret_values()).text(str(error))
    stderr().print(f"antiphon: {said}", style="red")
    match error:
        case RedisUnavailable() | UnreadableEvent():
            return EXIT_UNREADABLE
        case Overloaded():
            return EXIT_FAILED  # nothing is wrong with what was typed: the same may be accepted later
        case ConfigurationError() | InvalidQuery() | UnknownSession() | SubmissionRejected() | UsageError():
            return EXIT_USAGE
        case AlreadyThere():
            return EXIT_USAGE
        case _:
            return EXIT_FAILED


class UsageError(AntiphonError):
    """The command line asks for something that cannot be."""

    code = "usage"


def have_standard_streams() -> None:
    """Put /dev/null where this program was started without standard input, output or errors.

    Else every word would end it with a traceback, and a connection could be given the number of a closed one.
    """
    for name, mode in (
        ("stdin", "r"),
        ("stdout", "w"),
        ("stderr", "w"),
    ):  # the lowest free number is the next one
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # for as long as the program lives


class Printer:
    """One of the two streams, as commands print to it. Nothing in a text steers the terminal, or is rich's markup."""

    def __init__(self, file: Any) -> None:
        self._file = file

    @cached_property
    def _console(self) -> "Console":
        from rich.console import Console

        # Into a pipe, lines are as long as they are.
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
        """Print a text; of several lines too."""
        if self.is_terminal:
            self._console.print(harmless(text), style=style, end=end)
        else:  # as rich would, which takes a while to import
            self._file.write(f"{harmless(text)}{end}")
            self._file.flush()

    def markdown(self, text: str) -> None:
        """Print Markdown as a terminal shows it; a link stands beside its words."""
        from rich.markdown import Markdown

        self._console.print(Markdown(_ENTITY.sub(_harmless_entity, harmless(text)), hyperlinks=False))

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
        """Print rows under headings; False, and nothing, when there is none."""
        from rich.table import Table

        table = Table(*headings, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(one_line(cell) for cell in row))
        if table.row_count:
            self._console.print(table)
        return bool(table.row_count)

    @contextmanager
    def status(self, text: str = "") -> Iterator["StatusLine"]:
        """A line with a spinner that comes and goes."""
        from rich.text import Text

        with self._console.status(Text(one_line(text))) as status:
            yield StatusLine(status)

    def track(self, work: Iterable[WorkT], what: str, total: int, *, is_shown: bool) -> Iterable[WorkT]:
        """The work, with a bar that says how far it is."""
        if not is_shown:
            return work
        from rich.progress import track

        return track(work, one_line(what), total, console=self._console, transient=True)


_TERMINAL_FORCED = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""By which rich takes a pipe for a terminal, or a terminal for none."""
_ENTITY = re.compile(r"&#?\w{1,32};")


def _harmless_entity(entity: re.Match[str]) -> str:
    """Markdown puts signs in the place of entities: those that steer a terminal come in this way too."""
    sign = unescape(entity[0])
    return entity[0] if harmless(sign) == sign else "\ufffd"


class StatusLine:
    """The line of `Printer.status`."""

    def __init__(self, status: "Status") -> None:
        self._status = status
        self.start, self.stop = status.start, status.stop

    def update(self, text: str) -> None:
        from rich.text import Text

        # As a text of its own: a string would be read as rich's markup here, whatever the console says.
        self._status.update(Text(one_line(text)))


class HarmlessStream(TextIOBase):
    """A stream in the place of another, for code that prints by itself: what it prints steers no terminal."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        self._file.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        self._file.flush()


def stdout() -> Printer:
    return Printer(sys.stdout)


def stderr() -> Printer:
    return Printer(sys.stderr)


def write(text: str) -> None:
    """Put text on stdout as it is, but for what would steer a terminal."""
    sys.stdout.write(harmless(text))
    sys.stdout.flush()


def write_json(document: str) -> None:
    """Put JSON on stdout that is written already, with a line break behind it."""
    sys.stdout.write(harmless_json(document) + "\n")
    sys.stdout.flush()


def print_json(value: Any, *, is_indented: bool = False) -> None:
    """One JSON value: on a line of its own, or indented over several."""
    option = orjson.OPT_INDENT_2 if is_indented else None
    try:
        document = orjson.dumps(value, default=_plain, option=option).decode()
    except TypeError:  # lone surrogates, integers beyond 64 bits
        document = json.dumps(value, default=_plain, indent=2 if is_indented else None)
    write_json(document)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Rows under headings; `empty` on stderr when there is none."""
    if not stdout().table(headings, rows):
        stderr().print(empty, style="dim")


def one_line(value: object, length_max: int = 0) -> str:
    """Text that came from anywhere, safe for a terminal and on one line."""
    text = harmless(str(value))
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return text if not length_max or len(text) <= length_max else f"{text[: length_max - 1]}…"


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(type(value).__name__)
