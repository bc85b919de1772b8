"""The options of `antiphon replay verify`, and their combinations."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

import typer
from antiphon_shared.events import COMPONENTS, Component

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNCHECKED,
    EXIT_UNREADABLE,
    UsageError,
    stderr,
)

ResultT = TypeVar("ResultT")
_JOBS_MAX = 256
Form = Literal["text", "json", "github"]

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Recordings, or folders of recordings.")]
Annotates = Annotated[
    bool, typer.Option("--github", help="Print annotations for GitHub Actions instead of text.")
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print only the recordings that are not the same, without a summary."),
]
FailFast = Annotated[
    bool, typer.Option("--fail-fast", help="Stop at the first recording that is not the same.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        max=_JOBS_MAX,
        metavar="N",
        help="The number of worker processes. Default: the number of cores, if there is enough work.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COMPONENT", help="Verify only the steps of this component, which is faster; repeatable."
    ),
]
Allowed = Annotated[
    str | None,
    typer.Option(
        "--allow-unchecked",
        metavar="REASON",
        help="Accept steps that cannot be checked; every report shows this reason.",
    ),
]
Fault = Annotated[
    str | None,
    typer.Option(
        "--inject",
        metavar="FAULT@N",
        help="Show instead the effects of a fault at an event, for example tool_timeout@8.",
    ),
]
Other = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="REF_OR_VERSION",
        help="Report only the differences from the code at a git ref, or from a released version.",
    ),
]
Workflows = Annotated[
    list[Path] | None,
    typer.Option(
        "--workflows",
        metavar="FILE",
        help="Show instead the effects of the workflows in this file on recorded runs; repeatable.",
    ),
]
ToolModule = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE",
        help="Repeat the recorded calls of read tools with the tools of these modules, separated by commas.",
    ),
]
VolatileFields = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD",
        help="With --tools: a field of results that may differ, as [TOOL:]PATH[=MATCHER]; repeatable.",
    ),
]
AllowNetwork = Annotated[
    bool, typer.Option("--allow-network", help="With --tools: allow the tools to use the network.")
]


class Printed(NamedTuple):
    """The reports to make."""

    is_json: bool
    annotates: bool
    is_quiet: bool

    @property
    def form(self) -> Form:
        return "json" if self.is_json else "github" if self.annotates else "text"

    def track(self, work: Iterable[ResultT], label: str, count: int) -> Iterable[ResultT]:
        """Return the `count` results of work that shows a progress bar on a terminal."""
        is_visible = not self.is_quiet and count > 1 and stderr().is_terminal
        return stderr().track(work, label, count, is_visible=is_visible)

    def summarize(self, lines: Iterable[str]) -> None:
        """Print the summary on stderr, unless the user wants none."""
        for line in () if self.is_quiet else lines:
            stderr().print(line, style="dim")


class Extent(NamedTuple):
    """The work to do, and what is accepted."""

    jobs: int | None
    fails_fast: bool
    only: tuple[str, ...]
    allow_unchecked: str | None

    @property
    def allowed(self) -> str:
        """Return the reason for accepting unchecked steps; empty without one."""
        return (self.allow_unchecked or "").strip()

    def components(self) -> tuple[Component, ...]:
        """Return the named components, or all. Raises UsageError."""
        for name in self.only:
            if name not in COMPONENTS:
                raise UsageError(
                    f"--only: component {name!r} does not exist. Name one of {', '.join(COMPONENTS)}."
                )
        return tuple(one for one in COMPONENTS if not self.only or one in self.only)


class Instead(NamedTuple):
    """Another report in place of the usual one."""

    fault: str | None
    other: str | None
    workflows: tuple[Path, ...]


class Tools(NamedTuple):
    """Today's tools, by which recorded calls are repeated."""

    modules: str | None
    volatile: tuple[str, ...]
    allows_network: bool


def exit_code_of(result: str, allowed: str) -> int:
    """Return the exit code for the worst result; `allowed` is the reason for accepting unchecked steps."""
    if result == "same" or (result == "unchecked" and allowed):
        return EXIT_DONE
    return {"unchecked": EXIT_UNCHECKED, "unreadable": EXIT_UNREADABLE}.get(result, EXIT_FAILED)


def check(printed: Printed, extent: Extent, instead: Instead, tools: Tools) -> None:
    """Raise UsageError for options that exclude or require each other, or that name no component."""
    if printed.is_json and printed.annotates:
        raise UsageError("--json and --github both write to standard output. Use one of them.")
    if extent.allow_unchecked is not None and not extent.allowed:
        raise UsageError(
            "--allow-unchecked: the reason is missing. Pass the reason why unchecked steps are acceptable."
        )
    shared: dict[str, object] = {
        "--inject": instead.fault,
        "--github": printed.annotates,
        "--tools": tools.modules,
    }
    excluded: dict[str, object] = shared | {"--fail-fast": extent.fails_fast}
    if instead.other is not None and (options := [name for name, value in excluded.items() if value]):
        raise UsageError(
            f"--against cannot be combined with {', '.join(options)}. Use it with --json, or without."
        )
    excluded = shared | {"--against": instead.other, "--only": extent.only, "--volatile": tools.volatile}
    if instead.workflows and (options := [name for name, value in excluded.items() if value]):
        raise UsageError(f"{options[0]} cannot be combined with --workflows. Omit one of them.")
    extent.components()
