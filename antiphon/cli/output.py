"""The common parts of all commands: their run, errors and exit codes, and what they print."""

import json
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, ParamSpec, TypeVar

import orjson
import typer
from antiphon_shared.process.errors import (
    AntiphonError,
    ConfigurationError,
    MissingFile,
    RedisUnavailable,
    UnreadableEvent,
)
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.text.control import harmless, harmless_json
from pydantic import BaseModel

from antiphon.cli.own_stdout import own_stdout, tools_print_to_stderr
from antiphon.cli.printer import Printer
from antiphon.errors import AlreadyThere, InvalidQuery, Overloaded, SubmissionRejected, UnknownSession

if TYPE_CHECKING:  # imported on use: many commands do not need Redis
    from redis.exceptions import RedisError

WorkT = TypeVar("WorkT")
Args = ParamSpec("Args")

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREADABLE = 3
EXIT_UNCHECKED = 4  # no check has failed, but some were impossible
EXIT_INTERRUPTED = 130

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def command(
    work: Callable[Args, Coroutine[Any, Any, int | None]] | Callable[Args, int | None],
) -> Callable[Args, None]:
    """Return a command for Typer that ends with the exit code of `work`, by default 0.

    An error of Antiphon ends it with one clear line on stderr.
    """

    @wraps(work)
    def call(*args: Args.args, **kwargs: Args.kwargs) -> None:
        try:
            result = work(*args, **kwargs)
        except AntiphonError as error:
            result = refuse(error)
        if isinstance(result, Coroutine):
            run(result)
        raise typer.Exit(result or EXIT_DONE)

    return call


def run(work: Coroutine[Any, Any, int | None], *, logs: Literal["error", "critical"] = "error") -> NoReturn:
    """Run a command to its exit code; an error of Antiphon ends it with one clear line on stderr.

    `logs` is the least severity of log lines that are shown.
    """
    raise typer.Exit(result_of(work, logs=logs) or EXIT_DONE)


def result_of(work: Coroutine[Any, Any, WorkT], *, logs: Literal["error", "critical"] = "error") -> WorkT:
    """Return the result of a part of a command; an error of Antiphon ends the command, as in `run`."""
    try:
        import asyncio

        from antiphon_shared.process.logs import silence

        silence(logs, secret_values())
        with tools_print_to_stderr():
            return asyncio.run(work)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except AntiphonError as error:
        code = refuse(error)
    except _redis_error() as error:
        from antiphon.cli.redis_failures import failure_of

        code = refuse(failure_of(error))
    except OSError as error:
        code = refuse(RedisUnavailable(f"Redis: {error}."))
    finally:
        work.close()  # if Ctrl-C is pressed before the loop starts
    raise typer.Exit(code)


def _redis_error() -> "type[RedisError]":
    """Return the error class of Redis, imported only once something was raised."""
    from redis.exceptions import RedisError

    return RedisError


def refuse(error: AntiphonError) -> int:
    """Print an error and its hint; return the exit code for it."""
    message = Redactor(secret_values()).text(str(error))
    stderr().print(f"antiphon: {message}", style="red")
    match error:
        case MissingFile() | AlreadyThere() | UsageError():
            return EXIT_USAGE
        case RedisUnavailable() | UnreadableEvent():
            return EXIT_UNREADABLE
        case Overloaded():
            return EXIT_FAILED  # not a usage error, as the same command may be accepted later
        case ConfigurationError() | InvalidQuery() | UnknownSession() | SubmissionRejected():
            return EXIT_USAGE
        case _:
            return EXIT_FAILED


class UsageError(AntiphonError):
    """The command line asks for something impossible."""

    code = "usage"


def stdout() -> Printer:
    return Printer(own_stdout())


def stderr() -> Printer:
    return Printer(sys.stderr)


def write(text: str) -> None:
    """Write text to stdout without characters that control a terminal, otherwise unchanged."""
    own_stdout().write(harmless(text))
    own_stdout().flush()


def write_file(file: Path, content: str | bytes, option: str = "") -> None:
    """Write the file that an option names. Raises UsageError."""
    try:
        file.write_bytes(content.encode(errors="replace") if isinstance(content, str) else content)
    except OSError as error:
        prefix = f"{option}: " if option else ""
        raise UsageError(f"{prefix}{file} cannot be written: {error.strerror or error}.") from None


def write_json(document: str) -> None:
    """Write encoded JSON to stdout, with a line break."""
    own_stdout().write(harmless_json(document) + "\n")
    own_stdout().flush()


def print_json(value: Any, *, is_indented: bool = False) -> None:
    """Print one JSON value: on its own line, or indented over several."""
    option = orjson.OPT_INDENT_2 if is_indented else None
    try:
        document = orjson.dumps(value, default=_plain, option=option).decode()
    except TypeError:  # lone surrogates, integers beyond 64 bits
        document = json.dumps(value, default=_plain, indent=2 if is_indented else None)
    write_json(document)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Print rows under headings; without rows print `empty` on stderr."""
    if not stdout().table(headings, rows):
        stderr().print(empty, style="dim")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(type(value).__name__)
