"""`antiphon replay verify --against`: the differences between the current code and another version."""

from collections.abc import Sequence
from pathlib import Path

from antiphon_shared.events import COMPONENTS

from antiphon.cli.output import stderr, stdout, write_json
from antiphon.cli.replay.verify_options import Extent, Printed, exit_code_of
from antiphon.replay.against.comparison import compare
from antiphon.replay.against.other_code import other_code
from antiphon.replay.reports import against
from antiphon.replay.verify_all import default_jobs

_HINT = (
    "{label} cannot read {lost} of the recordings. If it is too old for their format, compare its own recordings: "
    "git archive {name} FOLDER | tar -x -C then; antiphon replay verify then/FOLDER --against {name}"
)


def show_against(
    name: str,
    paths: Sequence[Path],
    printed: Printed,
    extent: Extent,
) -> int:
    """Report the effects of the change on the recordings; return the exit code."""
    jobs = default_jobs(paths) if extent.jobs is None else extent.jobs
    components = extent.components()
    only = () if len(components) == len(COMPONENTS) else components
    with stderr().status(f"loading the code of {name}") as progress:
        code = other_code(name)
        total, verified = 2 * len(paths), 0

        def done(count: int) -> None:
            nonlocal verified
            verified += count
            progress.update(f"{verified} of {total} verifications, with the current code and {code.label}")

        recordings, decisions = compare(code, paths, jobs, only, done)
    summary = against.Summary(code.label, code.commit, recordings, decisions, extent.allowed)
    if printed.is_json:
        write_json(against.document(summary))
    else:
        for line in against.reported(summary):
            stdout().print(line)
    if lost := sum("before" in recording.errors for recording in recordings):
        stderr().print(_HINT.format(label=code.label, lost=lost, name=name), style="dim")
    printed.summarize([against.headline(summary)])
    return exit_code_of(summary.result, extent.allowed)
