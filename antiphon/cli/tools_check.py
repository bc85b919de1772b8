"""`antiphon tools check`: the behaviour of tools with invalid and hostile arguments."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.tools.calls import ToolError

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    counted,
    print_json,
    print_table,
    run,
    stderr,
    stdout,
)
from antiphon.cli.printer import one_line
from tool_dispatcher.catalogue import load_tools
from tool_dispatcher.check.memory import bounded_memory
from tool_dispatcher.check.run import EXAMPLES_MAX, RUN_S_MAX, CheckedCase, Options, ToolReport, check_tool
from tool_dispatcher.check.verdict import Fault

_FAULTS_MAX = 20
_CASES_MAX = 3
_TEXT_LENGTH_MAX = 200
_MEMORY_BYTES_MAX = 4 * 1024**3
"""The memory that a tool may use in addition to the memory of the command."""


def check(
    modules: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE[:NAME]...", help="Python modules with tools, in the form of ANTIPHON_TOOLS."
        ),
    ],
    *,
    runs_writes: Annotated[
        bool,
        typer.Option(
            "--runs-writes", help="Also run tools that write, many times: use it only with a test system."
        ),
    ] = False,
    examples_max: Annotated[
        int,
        typer.Option(
            min=0,
            max=10_000,
            metavar="N",
            help="The number of valid arguments generated from each schema, in addition to fixed ones.",
        ),
    ] = EXAMPLES_MAX,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of the generator; the same seed gives the same cases.")
    ] = 0,
    run_s_max: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="The time limit per tool; later cases are only validated.",
        ),
    ] = RUN_S_MAX,
    cases: Annotated[
        bool, typer.Option("--cases", help="Print every case with its message to the model.")
    ] = False,
    json: Json = False,
) -> None:
    """Call each tool with careless and hostile arguments, and check its messages to the model.

    Tools that read are run with all arguments that they accept; for tools that write, arguments are only validated.
    The arguments are harmless even if a tool acts on them. Exit code 1 if a tool fails.

    \b
    antiphon tools check examples.courses
    """
    options = Options(runs_writes, examples_max, seed, secret_values(), run_s_max)
    run(_check(modules, options, cases, json))


async def _check(modules: list[str], options: Options, shows_cases: bool, is_json: bool) -> int:
    tools = load_tools(",".join(modules))
    reports = []
    for name in sorted(tools):
        stderr().print(f"checking {name}", style="dim")
        with bounded_memory(_MEMORY_BYTES_MAX):
            reports.append(await check_tool(tools[name], options, _progress(name)))
    if is_json:
        print_json([_as_json(report) for report in reports])
    else:
        _print(reports, shows_cases)
    return EXIT_FAILED if any(report.failed for report in reports) else EXIT_DONE


def _progress(tool: str) -> Callable[[CheckedCase], None]:
    """Return a function that prints each fault on stderr when it is first found, before the report."""
    printed = set[str]()

    def show(checked: CheckedCase) -> None:
        for (problem, _), ((_, fault), *_) in _by_fault([checked] if checked.faults else []).items():
            if problem not in printed and len(printed) < _FAULTS_MAX:
                printed.add(problem)
                text = f"{fault.what}: {fault.detail}" if fault.detail else fault.what
                stderr().print(f"  {tool}: {one_line(text, _TEXT_LENGTH_MAX)}", style="red")

    return show


def _print(reports: list[ToolReport], shows_cases: bool) -> None:
    rows = [
        (report.tool, report.effect, len(report.checked), *_counts(report).values()) for report in reports
    ]
    print_table(("tool", "effect", "cases", "refused", "ran", "not run", "failures"), rows, "No tools.")
    for report in reports:
        for note in report.notes:
            stdout().print(f"\n{report.tool}: {note}")
        _print_faults(report)
        if shows_cases:
            _print_cases(report)


def _print_faults(report: ToolReport) -> None:
    """Print each fault once, with the first of its cases, as one mistake may cause faults in many cases."""
    faults = _by_fault(report.failed)
    for (problem, change), cases in list(faults.items())[:_FAULTS_MAX]:
        count = counted(len(cases), "case")
        stdout().print(f"\n{report.tool}: {one_line(problem)} ({count})", style="red")
        for case, fault in cases[:_CASES_MAX]:
            stdout().print(f"  {one_line(case.label, 80)}: {one_line(case.arguments, 400)}")
            if fault.detail:
                stdout().print(f"    {one_line(fault.detail, _TEXT_LENGTH_MAX)}")
        stdout().print(f"  change: {change}")
    if (more := len(faults) - _FAULTS_MAX) > 0:
        stdout().print(f"\n{report.tool}: {more} more problems; --json shows all.")


def _by_fault(failed: Iterable[CheckedCase]) -> dict[tuple[str, str], list[tuple[CheckedCase, Fault]]]:
    """Return the faults grouped by kind; exceptions of different types are different kinds."""
    groups: dict[tuple[str, str], list[tuple[CheckedCase, Fault]]] = defaultdict(list)
    for case in failed:
        for fault in case.faults:
            what = f"{fault.what}: {fault.raised}" if fault.raised else fault.what
            groups[what, fault.change].append((case, fault))
    return groups


def _print_cases(report: ToolReport) -> None:
    stdout().print("")
    rows = [
        (one.kind, one_line(one.label, 60), one.happened, one_line(_model_view_text(one), _TEXT_LENGTH_MAX))
        for one in report.checked
    ]
    print_table((report.tool, "case", "happened", "message to the model"), rows, "No cases.")


def _model_view_text(one: CheckedCase) -> str:
    if isinstance(one.model_view, ToolError):
        return f"{one.model_view.error_type}: {one.model_view.message} {one.model_view.suggested_action}"
    return one.model_view


def _counts(report: ToolReport) -> dict[str, int]:
    return {
        "refused": report.count("refused"),
        "ran": report.count("ran"),
        "not_run": report.count("accepted"),
        "failures": len(report.failed),
    }


def _as_json(report: ToolReport) -> dict[str, Any]:
    checked = [
        {
            "kind": one.kind,
            "label": one.label,
            "arguments": one.arguments,
            "schema_says": one.judgement.word,
            "happened": one.happened,
            "told": one.model_view,
            "faults": [
                {"what": fault.what, "change": fault.change, "detail": fault.detail} for fault in one.faults
            ],
        }
        for one in report.checked
    ]
    return {
        "tool": report.tool,
        "effect": report.effect,
        "cases": len(report.checked),
        **_counts(report),
        "notes": report.notes,
        "checked": checked,
    }
