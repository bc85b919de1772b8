"""`antiphon replay rerun`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from antiphon.cli import output
from antiphon.cli.output import print_json, stderr, stdout
from antiphon.recording.recording_paths import find_recordings
from antiphon.replay.reports.rerun import reported
from antiphon.replay.rerun import is_independent
from antiphon.replay.rerun import rerun as run_again
from antiphon.replay.rerun_report import RerunReport


def rerun(
    paths: Annotated[list[Path], typer.Argument(help="Recordings, or folders of recordings.")],
    as_json: output.Json = False,
) -> None:
    """Run recorded sessions again in the current pipeline, with the recorded replies of the model and the tools.

    A request that was not recorded is refused and reported; no model or tool is called.

    Exit codes: 0 the same response; 1 another response, or a request that was not recorded; 2 usage error;
    3 unreadable.
    """
    # Recorded failures occur again, and are expected.
    output.run(_rerun(paths, as_json), logs="critical")


async def _rerun(paths: Sequence[Path], as_json: bool) -> int:
    files = find_recordings(paths)
    sessions = [path for path in files if is_independent(path)]
    for path in [path for path in files if path not in sessions]:
        stderr().print(
            f"{path}: skipped, because the session depends on other sessions. Use `antiphon replay verify`."
        )
    reports = await run_again(sessions) if sessions else []
    if as_json:
        print_json([_plain(report) for report in reports])
    else:
        for report in reports:
            stdout().print("\n".join(reported(report)))
    return output.EXIT_DONE if all(report.is_same for report in reports) else output.EXIT_FAILED


def _plain(report: RerunReport) -> dict[str, Any]:
    response = [one._asdict() for one in report.response]
    return {**asdict(report), "response": response, "is_same": report.is_same}
