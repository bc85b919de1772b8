"""`antiphon replay verify`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from antiphon_shared.events import Component
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.collector import freeze_program_objects

from antiphon.cli.output import Json, UsageError, command, stderr, stdout, write, write_json
from antiphon.cli.replay import verify_options as options
from antiphon.recording.files import read_lines
from antiphon.recording.recording_paths import find_recordings
from antiphon.replay.reports import as_json, github, text
from antiphon.replay.reports.outcome import Outcome, Tally
from antiphon.replay.verify_all import verify_all


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
    return _verify(paths, printed, extent, instead, todays)


def _verify(
    paths: Sequence[Path],
    printed: options.Printed,
    extent: options.Extent,
    instead: options.Instead,
    tools: options.Tools,
) -> int:
    options.check(printed, extent, instead, tools)
    components = extent.components()
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
    return _verified(chosen, components, tools, printed, extent)


def _verified(
    chosen: list[Path],
    components: Sequence[Component],
    tools: options.Tools,
    printed: options.Printed,
    extent: options.Extent,
) -> int:
    """Verify one recording after another and report each; return the exit code."""
    began_s, tally, outcomes, form = monotonic_s(), Tally(), list[Outcome](), printed.form
    with tools_checked(*tools) as checked:
        freeze_program_objects()
        verified = _each(chosen, extent.jobs, components, shows_progress=not printed.is_quiet)
        for result, path in zip(verified, chosen, strict=True):
            outcome = replace(checked(path, result), allowed=extent.allowed)
            tally.add(outcome)
            _tell(outcome, form, printed.is_quiet)
            if form == "json":
                outcomes.append(outcome)
            if extent.fails_fast and not outcome.passes:
                break
    if form == "json":
        write_json(as_json.document(outcomes))
    if not printed.is_quiet:
        _summarize(text.summary(tally, monotonic_s() - began_s), form)
    return options.exit_code_of(tally.result, extent.allowed)


def _summarize(lines: list[str], form: options.Form) -> None:
    for line in lines:
        stderr().print(line, style="dim")
    if form == "github":
        write(f"{github.counted(lines)}\n")


def _each(
    paths: list[Path], jobs: int | None, only: Sequence[Component], shows_progress: bool
) -> Iterator[Outcome]:
    """Yield the outcome of each recording, with a progress bar on a terminal."""
    shows = shows_progress and len(paths) > 1 and stderr().is_terminal
    work = verify_all(paths, jobs, only)
    return iter(stderr().track(work, "verifying", len(paths), is_visible=shows))


def _tell(outcome: Outcome, form: options.Form, is_quiet: bool) -> None:
    if form == "json" or (is_quiet and form == "text" and outcome.result == "same"):
        return
    if form == "github":
        write("".join(f"{line}\n" for line in github.annotations([outcome])))
        return
    style = {"diverged": "yellow", "unchecked": "yellow", "unreadable": "red"}.get(outcome.result)
    for line in text.reported(outcome):
        stdout().print(line, style=style)


Check = Callable[[Path, Outcome], Outcome]


@contextmanager
def tools_checked(modules: str | None, volatile: Sequence[str], allows_network: bool) -> Iterator[Check]:
    """Yield a function that adds the results of today's tools to an outcome; without modules it changes nothing.

    Raises ConfigurationError if the tools cannot be loaded, UsageError for meaningless options.
    """
    if modules is None:
        if volatile or allows_network:
            raise UsageError("--volatile and --allow-network need --tools. Name the module of the tools.")
        yield lambda path, outcome: outcome
        return
    from antiphon.replay.tool_results.todays_tools import (  # the dispatcher is not needed otherwise
        TodaysTools,
        ToolOptions,
    )
    from antiphon.replay.tool_results.volatile import Volatile

    options = ToolOptions(modules, tuple(map(Volatile.of, volatile)), allows_network)
    with TodaysTools(options) as tools:

        def check(path: Path, outcome: Outcome) -> Outcome:
            if outcome.report is None:
                return outcome
            return replace(outcome, report=tools.check(list(read_lines(path)), outcome.report))

        yield check
