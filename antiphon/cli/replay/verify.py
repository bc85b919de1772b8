"""`antiphon replay verify`."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.collector import freeze_program_objects

from antiphon.cli.output import Json, UsageError, command, stdout, write, write_json
from antiphon.cli.replay import verify_options as options
from antiphon.recording.files import read_lines
from antiphon.recording.recording_paths import find_recordings
from antiphon.replay.reports import as_json, github, text
from antiphon.replay.reports.outcome import Outcome, Tally
from antiphon.replay.verify_all import verify_all

if TYPE_CHECKING:
    from antiphon.replay.tool_results.todays_tools import TodaysTools


@command
def verify(
    paths: options.Paths,
    *,
    json: Json = False,
    annotates: options.Annotates = False,
    is_quiet: options.Quiet = False,
    fails_fast: options.FailFast = False,
    jobs: options.Jobs = None,
    only: options.Only = None,
    allowed: options.Allowed = None,
    fault: options.Fault = None,
    other: options.Other = None,
    workflows: options.Workflows = None,
    tools: options.ToolModule = None,
    volatile: options.VolatileFields = None,
    allows_network: options.AllowNetwork = False,
) -> int:
    """Verify that the current code makes the recorded decisions, without network, Redis or a model.

    Every recorded step is repeated on its recorded input, and the first different decision is reported. Steps that
    could not be repeated are counted as unchecked, by component and reason.

    With --workflows, recorded runs are decided by other workflow files with their recorded results. The report names
    the first node that would decide differently, and the number of runs with that difference.

    Exit codes: 0 all are the same; 1 a decision differs; 2 usage error, or no recordings; 3 one is unreadable; 4 some
    steps are unchecked, and no decision differs (0 with --allow-unchecked). If several apply, the first of 3, 1, 4, 0.

    \b
    antiphon replay verify tests/recordings
    """
    printed = options.Printed(json, annotates, is_quiet)
    extent = options.Extent(jobs, fails_fast, tuple(only or ()), allowed)
    instead = options.Instead(fault, other, tuple(workflows or ()))
    todays = options.Tools(tools, tuple(volatile or ()), allows_network)
    options.check(printed, extent, instead, todays)
    chosen = find_recordings(paths)
    if instead.workflows:
        from antiphon.cli.replay.by_specification import show_by_specification  # it is large

        return show_by_specification(instead.workflows, chosen, printed, extent)
    if instead.other is not None:
        from antiphon.cli.replay.against import show_against

        return show_against(instead.other, chosen, printed, extent)
    if instead.fault is not None:
        from antiphon.cli.replay.injected import show_injected

        return show_injected(chosen, instead.fault, printed.is_json)
    return _verified(chosen, todays, printed, extent)


def _verified(
    chosen: list[Path], tools: options.Tools, printed: options.Printed, extent: options.Extent
) -> int:
    """Verify one recording after another and report each; return the exit code."""
    began_s, tally, outcomes, form = monotonic_s(), Tally(), list[Outcome](), printed.form
    with _todays_tools(*tools) as todays:
        freeze_program_objects()
        verified = verify_all(chosen, extent.jobs, extent.components())
        for result, path in zip(printed.track(verified, "verifying", len(chosen)), chosen, strict=True):
            outcome = replace(result, allowed=extent.allowed)
            if todays is not None and result.report is not None:
                outcome = replace(outcome, report=todays.check(list(read_lines(path)), result.report))
            tally.add(outcome)
            _tell(outcome, form, printed.is_quiet)
            if form == "json":
                outcomes.append(outcome)
            if extent.fails_fast and not outcome.passes:
                break
    if form == "json":
        write_json(as_json.document(outcomes))
    summary = text.summary(tally, monotonic_s() - began_s)
    printed.summarize(summary)
    if form == "github" and not printed.is_quiet:
        write(f"{github.counted(summary)}\n")
    return options.exit_code_of(tally.result, extent.allowed)


def _tell(outcome: Outcome, form: options.Form, is_quiet: bool) -> None:
    if form == "json" or (is_quiet and form == "text" and outcome.result == "same"):
        return
    if form == "github":
        write("".join(f"{line}\n" for line in github.annotations([outcome])))
        return
    style = {"diverged": "yellow", "unchecked": "yellow", "unreadable": "red"}.get(outcome.result)
    for line in text.reported(outcome):
        stdout().print(line, style=style)


def _todays_tools(
    modules: str | None, volatile: Sequence[str], allows_network: bool
) -> "AbstractContextManager[TodaysTools | None]":
    """Return today's tools, which are closed with the block; None without modules.

    Raises ConfigurationError if the tools cannot be loaded, UsageError for meaningless options.
    """
    if modules is not None:
        from antiphon.replay.tool_results.todays_tools import TodaysTools  # it imports the dispatcher

        return TodaysTools(modules, volatile, allows_network)
    if volatile or allows_network:
        raise UsageError("--volatile and --allow-network need --tools. Name the module of the tools.")
    return nullcontext()
