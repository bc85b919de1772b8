"""What every command shares: where words go, how errors end, which number a program exits with."""

import asyncio
import os
import sys
from collections.abc import Coroutine, Iterable, Sequence
from typing import Annotated, Any

import orjson
import typer
from antiphon_shared.process.errors import (
    AntiphonError,
    ConfigurationError,
    RedisUnavailable,
    UnreadableEvent,
)
from antiphon_shared.process.secret_values import secret_values
from antiphon_shared.text.redaction import Redactor
from pydantic import BaseModel
from redis.exceptions import RedisError
from rich.console import Console
from rich.table import Table

from antiphon.errors import AlreadyThere, InvalidQuery, SubmissionRejected, UnknownSession

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREADABLE = 3
EXIT_INTERRUPTED = 130

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def run(work: Coroutine[Any, Any, int | None]) -> None:
    """Run a command to its exit code; an error of ours ends it with one clear line on stderr."""
    try:
        code = asyncio.run(work)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except AntiphonError as error:
        code = refuse(error)
    except (RedisError, OSError) as error:
        code = refuse(RedisUnavailable(f"Redis: {error}."))
    raise typer.Exit(code or EXIT_DONE)


def refuse(error: AntiphonError) -> int:
    """Say what is wrong and what to do; the exit code for it."""
    said = Redactor(secret_values()).text(str(error))
    stderr().print(f"antiphon: {said}", style="red")
    match error:
        case RedisUnavailable() | UnreadableEvent():
            return EXIT_UNREADABLE
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


def stdout() -> Console:
    return _console(sys.stdout)


def stderr() -> Console:
    return _console(sys.stderr)


def print_json(value: Any) -> None:
    """One JSON value on a line of its own."""
    sys.stdout.write(orjson.dumps(value, default=_plain).decode() + "\n")
    sys.stdout.flush()


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Rows under headings; `empty` on stderr when there is none."""
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(one_line(cell) for cell in row))
    if table.row_count:
        stdout().print(table)
    else:
        stderr().print(empty, style="dim")


def one_line(value: object, length_max: int = 0) -> str:
    """Text that came from anywhere, safe for a terminal and on one line."""
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in str(value)).split())
    return text if not length_max or len(text) <= length_max else f"{text[: length_max - 1]}…"


def _console(file: Any) -> Console:
    """Nothing that is printed counts as rich's markup; into a pipe, lines are as long as they are."""
    width = None if file.isatty() else 1000
    return Console(
        file=file, width=width, markup=False, highlight=False, emoji=False, soft_wrap=width is not None
    )


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(type(value).__name__)
