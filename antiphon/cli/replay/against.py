"""`antiphon replay verify --against`: the differences of today's code from another version."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from antiphon_shared.events import Component
from antiphon_shared.process.errors import AntiphonError

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNCHECKED,
    EXIT_UNREADABLE,
    UsageError,
    refuse,
    stderr,
    stdout,
    write_json,
)
from antiphon.replay.against.changes import Kind
from antiphon.replay.against.comparison import compare
from antiphon.replay.against.other_code import other_code
from antiphon.replay.reports import against

_EXIT_CODES: dict[Kind, int] = {
    "same": EXIT_DONE,
    "changed": EXIT_FAILED,
    "unchecked": EXIT_UNCHECKED,
    "unreadable": EXIT_UNREADABLE,
}
_HINT = (
    "{label} cannot read {lost} of the recordings. If it is too old for their format, compare its own recordings: "
    "git archive {name} FOLDER | tar -x -C then; antiphon replay verify then/FOLDER --against {name}"
)


def show_against(
    name: str,
    paths: Sequence[Path],
    *,
    is_json: bool,
    markdown_file: Path | None,
    is_quiet: bool,
    jobs: int,
    only: Sequence[Component],
    allowed: str = "",
) -> int:
    """Report the effects of the change on the recordings; return the exit code."""
    try:
        with stderr().status(f"loading the code of {name}") as progress:
            code = other_code(name)
            total, verified = 2 * len(paths), 0

            def done(count: int) -> None:
                nonlocal verified
                verified += count
                progress.update(
                    f"{verified} of {total} verifications, with the current code and {code.label}"
                )

            recordings, decisions = compare(code, paths, jobs, only, done)
    except AntiphonError as error:
        return refuse(error)
    summary = against.Summary(code.label, code.commit, recordings, decisions, allowed)
    if is_json:
        write_json(against.document(summary))
    else:
        for line in against.reported(summary):
            stdout().print(line)
    if markdown_file is not None:
        try:
            markdown_file.write_text(against.markdown(summary), encoding="utf-8")
        except OSError as error:
            return refuse(UsageError(f"{markdown_file} cannot be written: {error.strerror}."))
    if lost := sum(any(one.startswith("before: ") for one in found.errors) for found in recordings):
        stderr().print(_HINT.format(label=code.label, lost=lost, name=name), style="dim")
    if not is_quiet:
        stderr().print(against.headline(summary), style="dim")
    return EXIT_DONE if summary.passes else _EXIT_CODES[summary.result]


def check_options(other: str | None, markdown_file: Path | None, excluded: Mapping[str, object]) -> None:
    """Raise UsageError for options that exclude a comparison, or require one."""
    if other is None and markdown_file is not None:
        raise UsageError("--markdown needs a comparison. Name the other version with --against.")
    if markdown_file is not None and not markdown_file.parent.is_dir():
        raise UsageError(f"The folder of {markdown_file} does not exist. Create it first.")
    if other is not None and (given := [name for name, value in excluded.items() if value]):
        raise UsageError(
            f"--against cannot be combined with {', '.join(given)}. Use it with --json or --markdown, "
            "or without either."
        )
