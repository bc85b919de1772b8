"""`antiphon replay rerun`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from antiphon.cli import output
from antiphon.cli.output import one_line, print_json, stdout
from antiphon.recording.found import found
from antiphon.recording.rerun import rerun as run_again
from antiphon.recording.rerun_report import RerunReport
from shared import logs
from shared.errors import UnreadableEvent
from shared.secret_values import secret_values

_SHOWN_CHARACTERS = 300
_DIFFERENCES_SHOWN_MAX = 10


def rerun(
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders with some.")],
    processes: Annotated[
        bool, typer.Option("--processes", help="The five components as processes, on a redis-server.")
    ] = False,
    match: Annotated[
        Literal["strict", "semantic"],
        typer.Option(
            help="How a request to the model is found: the same, or the same but for white space, ids of calls, "
            "the order of tools and max_tokens."
        ),
    ] = "strict",
    as_json: output.Json = False,
) -> None:
    """Run recorded sessions again by the whole pipeline of today; the model and the tools answer as recorded."""
    logs.silence("critical", secret_values())  # what failed then fails again, and is no news
    output.run(_rerun(paths, processes, match, as_json))


async def _rerun(
    paths: Sequence[Path], processes: bool, match: Literal["strict", "semantic"], as_json: bool
) -> int:
    try:
        reports = await run_again(found(paths), has_processes=processes, match=match)
    except OSError as error:
        raise UnreadableEvent(f"{error.filename or 'a recording'}: {error.strerror or error}.") from None
    if as_json:
        print_json([_plain(report) for report in reports])
    else:
        for report in reports:
            _show(report)
    return output.EXIT_DONE if all(report.is_same for report in reports) else output.EXIT_FAILED


def _plain(report: RerunReport) -> dict[str, Any]:
    response = [one._asdict() for one in report.response]
    return {**asdict(report), "response": response, "is_same": report.is_same}


def _show(report: RerunReport) -> None:
    """One line for a report, and what is not the same below it."""
    stdout().print(f"{report.path}: {_VERDICTS[report.answer]}")
    if (first := report.first) is not None:
        stdout().print(f"  first difference: event {first.event}, {first.type}")
        stdout().print(f"    {_told(first.path, first.expected, first.got)}")
    for one in report.response[:_DIFFERENCES_SHOWN_MAX]:
        stdout().print(f"  response: {_told(*one)}")
    if (more := len(report.response) - _DIFFERENCES_SHOWN_MAX) > 0:
        stdout().print(f"  response: and {more} more")
    for miss in report.misses:
        stdout().print(f"  not recorded: {one_line(miss.asked, _SHOWN_CHARACTERS)}")
    # The rest follows from the first.
    for line in report.misses[0].diff.splitlines() if report.misses else ():
        stdout().print(f"    {line}")


def _told(path: str, expected: object, got: object) -> str:
    then, now = (one_line(value, _SHOWN_CHARACTERS) for value in (expected, got))
    return f"{path}: recorded {then}; today {now}" if path else f"recorded {then}; today {now}"


_VERDICTS = {
    "same": "the same response",
    "different": "another response",
    "unfinished": "did not end in time",
    "none": "as far as the recording goes; it has no response",
}
