"""Checks of calls against the catalogue of tools. Pure."""

from collections.abc import Iterable, Iterator

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.contract import Contract
from antiphon_shared.workflows.checks.arguments import check_arguments
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.nodes import CallNode, CompensateCall, CompensateNode, ReasonNode, WorkflowNode
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.sql import SQL_TOOL


def check_sql_calls(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each query without SQL, with other arguments, or as an undoing. These need no catalogue."""
    for _, path, node in flow.nodes():
        for undo_path, undo in _undoings(path, node):
            if undo.call == SQL_TOOL:
                why = f"{SQL_TOOL} only reads, and undoes nothing"
                yield error((*undo_path, "call"), "undoes_nothing", why, "Call a tool that writes")
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
    """Yield a problem for each call of a tool that does not exist, and each argument that the tool does not take."""
    for _, path, node in flow.nodes():
        if isinstance(node, CallNode):
            yield from _call(flow, path, node, catalogue)
        for undo_path, undo in _undoings(path, node):
            yield from _call(flow, undo_path, undo, catalogue)
        if isinstance(node, ReasonNode):
            for key, names in (("tools", node.tools), ("validation_tools", node.validation_tools)):
                for n, name in enumerate(names):
                    yield from _read((*path, key, n), name, catalogue)


def _undoings(path: Path, node: object) -> Iterator[tuple[Path, CompensateCall]]:
    """Yield the calls with which a node undoes something."""
    if isinstance(node, CallNode | WorkflowNode) and node.compensate:
        yield (*path, "compensate"), node.compensate
    if isinstance(node, CompensateNode):
        for n, step in enumerate(node.steps):
            yield (*path, "steps", n), step


def check_contracts(flows: Iterable[Flow], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a problem for each call of a tool that first needs another one, which no workflow of the file calls."""
    calls = [
        (path, node.call) for flow in flows for _, path, node in flow.nodes() if isinstance(node, CallNode)
    ]
    called = {name for _, name in calls}
    for path, name in calls:
        tool = catalogue.by_name.get(name)
        if tool is None:
            continue
        for needed in Contract.of_schema(tool.input_schema, tool.effect).depends_on:
            if needed.tool not in called:
                why = f"{name} may be called once {needed.tool} has succeeded, and nothing here calls {needed.tool}"
                yield error((*path, "call"), "missing_call", why, f"Call {needed.tool} in a node before it")


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
    hint = did_you_mean(name, catalogue.by_name, "Name modules with tools").rstrip(".")
    return error(path, "unknown_tool", f"there is no tool {name}", hint)
