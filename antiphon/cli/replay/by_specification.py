"""`antiphon replay verify --workflows`: recorded runs, decided by another specification."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import AntiphonError

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNCHECKED,
    EXIT_UNREADABLE,
    EXIT_USAGE,
    UsageError,
    refuse,
    stderr,
    stdout,
    write_json,
)
from antiphon.replay.by_specification.compared_run import Specifications
from antiphon.replay.by_specification.many import hold_all
from antiphon.replay.by_specification.sums import Held, Result, result_of
from antiphon.replay.reports import by_specification as report
from antiphon.workflows.load import InvalidWorkflow, load

_EXIT_CODES: dict[Result, int] = {
    "same": EXIT_DONE,
    "differs": EXIT_FAILED,
    "unchecked": EXIT_UNCHECKED,
    "unreadable": EXIT_UNREADABLE,
}


def check_options(others: Mapping[str, object]) -> None:
    """Raise UsageError for options that have no meaning with --workflows."""
    given = [name for name, value in others.items() if value]
    if given:
        raise UsageError(f"{given[0]} cannot be combined with --workflows. Omit one of them.")


def show_by_specification(
    files: Sequence[Path],
    paths: Sequence[Path],
    *,
    is_json: bool,
    junit_file: Path | None,
    is_quiet: bool,
    jobs: int | None,
    fails_fast: bool,
    allowed: str,
) -> int:
    """Report how recorded runs would go with the workflows in `files`; return the exit code."""
    began_s = monotonic_s()
    try:
        specifications = Specifications.of(load(file) for file in files)
    except InvalidWorkflow as invalid:
        for problem in invalid.problems:
            stderr().print(str(problem), style="red")
        return EXIT_USAGE
    except AntiphonError as error:
        return refuse(error)
    held: list[Held] = []
    shows = not is_quiet and len(paths) > 1 and stderr().is_terminal
    work = hold_all(paths, specifications, jobs)
    for one in stderr().track(work, "deciding again", len(paths), is_shown=shows):
        held.append(one)
        if fails_fast and one.result not in ("same", "other"):
            break
    if is_json:
        write_json(report.document(held))
    else:
        for line in report.told(held):
            stdout().print(line)
    if junit_file is not None:
        try:
            junit_file.write_bytes(report.junit(held))
        except OSError as error:
            refuse(UsageError(f"{junit_file} cannot be written: {error.strerror}."))
            return EXIT_USAGE
    if not is_quiet:
        for line in report.summary(held, monotonic_s() - began_s):
            stderr().print(line, style="dim")
    result = result_of(held)
    return EXIT_DONE if result == "unchecked" and allowed else _EXIT_CODES[result]
