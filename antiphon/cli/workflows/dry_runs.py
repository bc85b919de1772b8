"""Dry runs of workflows, as lines for people and as JSON for programs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from antiphon_shared.process.logs import as_line
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.params import short_json
from antiphon_shared.workflows.specification import Specification

from antiphon.cli.input_files import json_of, text_of
from antiphon.cli.output import UsageError, counted, print_json, print_table, stdout
from antiphon.cli.printer import one_line
from antiphon.workflows.dry_run import SCENARIOS_MAX, DryRun, cover, dry_run
from coordinator.workflows.messages import AskPerson, CallTool, End, Reason, SetTimer
from coordinator.workflows.plan import Plan, pinned_tool

_VALUE_LENGTH = 60


def plan_of(specification: Specification, name: str, catalogue: Catalogue | None) -> Plan:
    """Return the plan of a workflow's runs."""
    tools = catalogue.tools if catalogue else ()
    pinned = {tool.name: pinned_tool(tool, tool.contract) for tool in tools}
    return Plan(compile_graph(specification, name), pinned)


def params_of(plan: Plan, options: Sequence[str]) -> dict[str, Any]:
    """Return the params from the command line: text for a param of type str, else JSON. Raises UsageError."""
    declared = plan.graph.scopes[""].workflow.params
    params: dict[str, Any] = {}
    for one in options:
        name, equals, text = one.partition("=")
        if not equals:
            raise UsageError(f"--param {one!r} has no value. Use NAME=VALUE.")
        if name not in declared:
            raise UsageError(
                f"param {name!r} does not exist.",
                hint=did_you_mean(name, declared, "The workflow has no params."),
            )
        params[name] = text if declared[name].type == "str" else json_of(text, f"--param {name}")
    return params


def results_of(plan: Plan, file: Path | None) -> dict[str, Any]:
    """Return the results of a file, by the path of their node. Raises UsageError, and as `text_of`."""
    if file is None:
        return {}
    results = json_of(text_of(file, "--results"), str(file))
    if not isinstance(results, dict):
        raise UsageError(f"{file} does not contain an object. Map the path of each node to its result.")
    for path in results:
        if path not in plan.graph.nodes:
            raise UsageError(
                f"{file}: node {path!r} does not exist.", hint=did_you_mean(path, plan.graph.nodes)
            )
    return results


def walked(plan: Plan, params: Mapping[str, object], results: Mapping[str, object], is_json: bool) -> bool:
    """Show one run, call by call, and return True. Raises UnfitParams."""
    run = dry_run(plan, params, results)
    if is_json:
        print_json({**_as_json(run), "steps": [_step(command) for command in run.commands]})
        return True
    for command in run.commands:
        stdout().print(_step(command))
    stdout().print("")
    for line in _end(run.end):
        stdout().print(line)
    return True


def covered(plan: Plan, params: Mapping[str, object], results: Mapping[str, object], is_json: bool) -> bool:
    """Show the end of every path through a workflow; return whether all nodes were reached. Raises UnfitParams."""
    coverage = cover(plan, params, results)
    is_complete = not coverage.never_reached and not coverage.is_cut
    if is_json:
        print_json(
            {"runs": [_as_json(run) for run in coverage.runs], "never_reached": list(coverage.never_reached)}
        )
        return is_complete
    rows = [
        (one_line(run.scenario.name), run.end.status, _why(run.end), _final_state(run.end))
        for run in coverage.runs
    ]
    print_table(("scenario", "ends as", "because", "remaining writes"), rows, "No runs.")
    ends = Counter(run.end.status for run in coverage.runs)
    by_status = ", ".join(f"{status} {count}" for status, count in ends.most_common())
    stdout().print(f"\n{counted(len(coverage.runs), 'run')}: {by_status}.")
    if coverage.is_cut:
        stdout().print(f"The workflow has more than {SCENARIOS_MAX:,} paths; the others were not checked.")
    if coverage.never_reached:
        stdout().print(f"Never reached: {', '.join(coverage.never_reached)}.")
    return is_complete


def _step(command: CallTool | Reason | AskPerson | SetTimer) -> str:
    match command:
        case CallTool(path=path, tool=tool, arguments=arguments):
            text = ", ".join(f"{name}={_cut(value)}" for name, value in arguments.items())
            return one_line(f"{path}: calls {tool}({text})")
        case Reason(path=path, question=question):
            return one_line(f"{path}: lets the model answer {_cut(question)}")
        case AskPerson(path=path, message=message, expects=expects):
            return one_line(f"{path}: asks a person {_cut(message)} for {', '.join(expects)}")
        case SetTimer(path=path, until=None, seconds=seconds):
            return one_line(f"{path}: waits {seconds:g} s")
        case SetTimer(path=path, until=until):
            return one_line(f"{path}: waits until {until}")


def _end(end: End) -> list[str]:
    lines = [f"{end.status}{f': {_why(end)}' if end.failure else ''}"]
    if end.output is not None:
        lines.append(f"output: {one_line(as_line(end.output))}")
    lines += [f"undone: {', '.join(end.undone)}"] if end.undone else []
    lines += [f"remaining writes: {_final_state(end)}"] if end.standing and end.status != "completed" else []
    return lines


def _why(end: End) -> str:
    return one_line(end.failure.message, _VALUE_LENGTH) if end.failure else ""


def _final_state(end: End) -> str:
    return "" if end.status == "completed" else one_line(", ".join(end.standing), _VALUE_LENGTH)


def _as_json(run: DryRun) -> dict[str, Any]:
    return {
        "scenario": run.scenario.name,
        "status": run.end.status,
        "because": run.end.failure.message if run.end.failure else None,
        "output": run.end.output,
        "standing": list(run.end.standing),
        "undone": list(run.end.undone),
        "nodes": dict(run.nodes),
    }


def _cut(value: object) -> str:
    return one_line(short_json(value), _VALUE_LENGTH)
