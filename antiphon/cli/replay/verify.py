"""`antiphon replay verify`."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.collector import spare_the_collector
from antiphon_shared.process.errors import AntiphonError

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNCHECKED,
    EXIT_UNREADABLE,
    EXIT_USAGE,
    Json,
    UsageError,
    refuse,
    stderr,
    stdout,
    write,
    write_json,
)
from antiphon.cli.replay.tool_results import Check, tools_checked
from antiphon.recording.recording_paths import NoRecordings, found
from antiphon.replay.reports import as_json, github, text
from antiphon.replay.reports.outcome import Outcome, Result, Tally
from antiphon.replay.verify_all import sensible_jobs, verify_all

EXIT_CODES: dict[Result, int] = {
    "same": EXIT_DONE,
    "diverged": EXIT_FAILED,
    "unchecked": EXIT_UNCHECKED,
    "unreadable": EXIT_UNREADABLE,
}
Form = Literal["text", "json", "github"]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Recordings, or folders of recordings.")]
_JOBS_MAX = 256


def verify(
    paths: Paths,
    json: Json = False,
    annotates: Annotated[
        bool, typer.Option("--github", help="Print annotations for GitHub Actions instead of text.")
    ] = False,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML, for a CI system.")
    ] = None,
    is_quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Print only the recordings that are not the same, without a summary."
        ),
    ] = False,
    fails_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first recording that is not the same.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=_JOBS_MAX,
            metavar="N",
            help="The number of worker processes. Default: the number of cores, if there is enough work.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMPONENT", help="Verify only the steps of this component, which is faster; repeatable."
        ),
    ] = None,
    allowed: Annotated[
        str | None,
        typer.Option(
            "--allow-unchecked",
            metavar="REASON",
            help="Accept steps that cannot be checked; every report shows this reason.",
        ),
    ] = None,
    fault: Annotated[
        str | None,
        typer.Option(
            "--inject",
            metavar="FAULT@N",
            help="Show instead the effects of a fault at an event, for example tool_timeout@8.",
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="REF_OR_VERSION",
            help="Report only the differences from the code at a git ref, or from a released version.",
        ),
    ] = None,
    markdown_file: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help="With --against: also write the report as Markdown, for a pull request.",
        ),
    ] = None,
    workflows: Annotated[
        list[Path] | None,
        typer.Option(
            "--workflows",
            metavar="FILE",
            help="Show instead the effects of the workflows in this file on recorded runs; repeatable.",
        ),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE",
            help="Repeat the recorded calls of read tools with the tools of these modules, separated "
            "by commas.",
        ),
    ] = None,
    volatile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD",
            help="With --tools: a field of results that may differ, as [TOOL:]PATH[=MATCHER]; repeatable.",
        ),
    ] = None,
    allows_network: Annotated[
        bool, typer.Option("--allow-network", help="With --tools: allow the tools to use the network.")
    ] = False,
) -> None:
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
    try:
        if json and annotates:
            raise UsageError("--json and --github both write to standard output. Use one of them.")
        if allowed is not None and not allowed.strip():
            raise UsageError(
                "--allow-unchecked: the reason is missing. Pass the reason why "
                "unchecked steps are acceptable."
            )
        if other is not None or markdown_file is not None:
            from antiphon.cli.replay.against import check_options  # imports more than everything else here

            check_options(
                other,
                markdown_file,
                {
                    "--inject": fault,
                    "--github": annotates,
                    "--junit": junit_file,
                    "--fail-fast": fails_fast,
                    "--tools": tools,
                },
            )
        if workflows:
            from antiphon.cli.replay.by_specification import check_options as check_others

            check_others(
                {
                    "--against": other,
                    "--inject": fault,
                    "--github": annotates,
                    "--only": only,
                    "--tools": tools,
                    "--volatile": volatile,
                }
            )
        components = _components(only or ())
        chosen = found(paths)
        if junit_file is not None and not junit_file.parent.is_dir():
            raise UsageError(f"The folder of {junit_file} does not exist. Create it first.")
    except (NoRecordings, UsageError) as error:
        refuse(error)
        raise typer.Exit(EXIT_USAGE) from None
    if workflows:
        from antiphon.cli.replay.by_specification import show_by_specification

        raise typer.Exit(
            show_by_specification(
                workflows,
                chosen,
                is_json=json,
                junit_file=junit_file,
                is_quiet=is_quiet,
                jobs=jobs,
                fails_fast=fails_fast,
                allowed=(allowed or "").strip(),
            )
        )
    if other is not None:
        from antiphon.cli.replay.against import show_against

        raise typer.Exit(
            show_against(
                other,
                chosen,
                is_json=json,
                markdown_file=markdown_file,
                is_quiet=is_quiet,
                jobs=sensible_jobs(chosen) if jobs is None else jobs,
                only=() if len(components) == len(COMPONENTS) else components,
                allowed=(allowed or "").strip(),
            )
        )
    if fault is not None:
        from antiphon.cli.replay.injected import show_injected

        raise typer.Exit(show_injected(chosen, fault, json))
    form: Form = "json" if json else "github" if annotates else "text"
    raise typer.Exit(
        _verified(
            chosen,
            jobs,
            components,
            tools_checked(tools, volatile or (), allows_network),
            form=form,
            junit_file=junit_file,
            is_quiet=is_quiet,
            fails_fast=fails_fast,
            allowed=(allowed or "").strip(),
        )
    )


def _verified(
    chosen: list[Path],
    jobs: int | None,
    components: Sequence[Component],
    checking: AbstractContextManager[Check],
    *,
    form: Form,
    junit_file: Path | None,
    is_quiet: bool,
    fails_fast: bool,
    allowed: str,
) -> int:
    """Verify one recording after another and report each; return the exit code."""
    began_s, tally, outcomes = monotonic_s(), Tally(), list[Outcome]()
    keeps = form == "json" or junit_file is not None
    try:
        with checking as checked:
            spare_the_collector()
            verified = _each(chosen, jobs, components, shows_progress=not is_quiet)
            for found_out, path in zip(verified, chosen, strict=True):
                outcome = replace(checked(path, found_out), allowed=allowed)
                tally.add(outcome)
                _tell(outcome, form, is_quiet)
                if keeps:
                    outcomes.append(outcome)
                if fails_fast and not outcome.passes:
                    break
    except AntiphonError as error:
        return refuse(error)
    if form == "json":
        write_json(as_json.document(outcomes))
    if junit_file is not None:
        from antiphon.replay.reports.junit import junit  # imports a library for XML

        try:
            junit_file.write_bytes(junit(outcomes))
        except OSError as error:
            refuse(UsageError(f"{junit_file} cannot be written: {error.strerror}."))
            return EXIT_USAGE
    if not is_quiet:
        _summarize(text.summary(tally, monotonic_s() - began_s), form)
    return EXIT_DONE if tally.passes else EXIT_CODES[tally.result]


def _summarize(lines: list[str], form: Form) -> None:
    for line in lines:
        stderr().print(line, style="dim")
    if form == "github":
        write(f"{github.counted(lines)}\n")


def _components(names: Sequence[str]) -> tuple[Component, ...]:
    """Return the named components, or all. Raises UsageError."""
    for name in names:
        if name not in COMPONENTS:
            raise UsageError(
                f"--only: component {name!r} does not exist. Name one of {', '.join(COMPONENTS)}."
            )
    return tuple(one for one in COMPONENTS if not names or one in names)


def _each(
    paths: list[Path], jobs: int | None, only: Sequence[Component], shows_progress: bool
) -> Iterator[Outcome]:
    """Yield the outcome of each recording, with a progress bar on a terminal."""
    shows = shows_progress and len(paths) > 1 and stderr().is_terminal
    work = verify_all(paths, jobs, only)
    return iter(stderr().track(work, "verifying", len(paths), is_shown=shows))


def _tell(outcome: Outcome, form: Form, is_quiet: bool) -> None:
    if form == "json" or (is_quiet and form == "text" and outcome.result == "same"):
        return
    if form == "github":
        write("".join(f"{line}\n" for line in github.annotations([outcome])))
        return
    style = {"diverged": "yellow", "unchecked": "yellow", "unreadable": "red"}.get(outcome.result)
    for line in text.told(outcome):
        stdout().print(line, style=style)
