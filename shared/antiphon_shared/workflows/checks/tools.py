"""Calls against the catalogue of tools. Pure."""

from collections.abc import Iterator

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.checks.arguments import check_arguments
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.nodes import CallNode, CompensateCall, CompensateNode, ReasonNode, WorkflowNode
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.sql import SQL_TOOL


def check_sql_calls(flow: Flow) -> Iterator[Problem]:
    """Yield queries without SQL, or with other arguments. No catalogue is needed for that."""
    for _, path, node in flow.nodes():
        if not isinstance(node, CallNode) or node.call != SQL_TOOL:
            continue
        if not isinstance(node.args.get("sql"), str):
            yield error((*path, "args"), "missing_argument", f"{SQL_TOOL} needs sql, a text", "Add sql")
        for name in node.args:
            if name != "sql":
                yield error(
                    (*path, "args", name), "unknown_argument", f"{SQL_TOOL} takes sql alone", "Remove it"
                )


def check_tools(flow: Flow, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield calls of tools that are not there, and arguments that they do not take."""
    for _, path, node in flow.nodes():
        if isinstance(node, CallNode):
            yield from _call(flow, path, node, catalogue)
        if isinstance(node, CallNode | WorkflowNode) and node.compensate:
            yield from _call(flow, (*path, "compensate"), node.compensate, catalogue)
        if isinstance(node, CompensateNode):
            for n, step in enumerate(node.steps):
                yield from _call(flow, (*path, "steps", n), step, catalogue)
        if isinstance(node, ReasonNode):
            for key, names in (("tools", node.tools), ("validation_tools", node.validation_tools)):
                for n, name in enumerate(names):
                    yield from _read((*path, key, n), name, catalogue)


def _call(flow: Flow, path: Path, call: CallNode | CompensateCall, catalogue: Catalogue) -> Iterator[Problem]:
    name, args = call.call, call.args
    if name == SQL_TOOL:
        return
    tool = catalogue.by_name.get(name)
    if tool is None:
        yield _unknown((*path, "call"), name, catalogue)
    else:
        yield from check_arguments(path, args, tool, flow.workflow.params)


def _read(path: Path, name: str, catalogue: Catalogue) -> Iterator[Problem]:
    tool = catalogue.by_name.get(name)
    if tool is None:
        yield _unknown(path, name, catalogue)
    elif tool.effect != "read":
        why = f"{name} is a write, and a reason node only reads"
        yield error(path, "not_a_read", why, "Leave it out, and call it in a node of its own")


def _unknown(path: Path, name: str, catalogue: Catalogue) -> Problem:
    hint = did_you_mean(name, catalogue.by_name).rstrip(".")
    return error(path, "unknown_tool", f"there is no tool {name}", hint)
