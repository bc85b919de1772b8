"""`antiphon replay verify --workflows`: recorded runs, decided by another specification."""

from collections.abc import Sequence
from pathlib import Path

from antiphon_shared.process.clock import monotonic_s

from antiphon.cli.output import EXIT_USAGE, stdout, write_json
from antiphon.cli.replay.verify_options import Extent, Printed, exit_code_of
from antiphon.cli.workflows.sources import show_problems
from antiphon.replay.by_specification.compared_run import Specifications
from antiphon.replay.by_specification.many import compare_all
from antiphon.replay.by_specification.sums import ComparedRun, result_of
from antiphon.replay.reports import by_specification as report
from antiphon.workflows.load import InvalidWorkflow, load


def show_by_specification(
    files: Sequence[Path],
    paths: Sequence[Path],
    printed: Printed,
    extent: Extent,
) -> int:
    """Report how recorded runs would go with the workflows in `files`; return the exit code."""
    began_s = monotonic_s()
    try:
        specifications = Specifications.of(load(file) for file in files)
    except InvalidWorkflow as invalid:
        return max(EXIT_USAGE, show_problems(invalid.problems))
    results: list[ComparedRun] = []
    work = compare_all(paths, specifications, extent.jobs)
    for one in printed.track(work, "deciding again", len(paths)):
        results.append(one)
        if extent.fails_fast and one.result not in ("same", "other"):
            break
    if printed.is_json:
        write_json(report.document(results))
    else:
        for line in report.reported(results):
            stdout().print(line)
    printed.summarize(report.summary(results, monotonic_s() - began_s))
    return exit_code_of(result_of(results), extent.allowed)
