"""Checks of calls against the catalogue of tools. Pure."""

from collections.abc import Iterable, Iterator

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.checks.arguments import check_arguments
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.nodes import CallNode, CompensateCall, ReasonNode, undoing_calls
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.sql import SQL_TOOL


def check_sql_calls(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each query without SQL, with other arguments, or as an undoing. These need no catalogue."""
    for _, path, node in flow.nodes():
        for way, undo in undoing_calls(node).items():
            if undo.call == SQL_TOOL:
                why = f"{SQL_TOOL} only reads, and undoes nothing"
                yield error((*path, *way, "call"), "undoes_nothing", why, "Call a tool that writes")
        if not isinstance(node, CallNode) or node.call != SQL_TOOL:
            continue
        if not isinstance(node.args.get("sql"), str):
            yield error((*path, "args"), "missing_argument", f"{SQL_TOOL} needs sql, a text", "Add sql")
        for name in node.args:
            if name != "sql":
                why = f"{SQL_TOOL} takes sql alone"
                yield error((*path, "args", name), "unknown_argument", why, "Remove it")


def check_tools(flow: Flow, catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a problem for each call of a tool that does not exist, and each argument that the tool does not take."""
    for _, path, node in flow.nodes():
        if isinstance(node, CallNode):
            yield from _call(flow, path, node, catalogue)
        for way, undo in undoing_calls(node).items():
            yield from _call(flow, (*path, *way), undo, catalogue)
        if isinstance(node, ReasonNode):
            for key, names in (("tools", node.tools), ("validation_tools", node.validation_tools)):
                for n, name in enumerate(names):
                    yield from _read((*path, key, n), name, catalogue)


def check_contracts(flows: Iterable[Flow], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a problem for each call of a tool that first needs another one, which no workflow of the file calls."""
    calls = [
        (path, node.call) for flow in flows for _, path, node in flow.nodes() if isinstance(node, CallNode)
    ]
    called = {name for _, name in calls}
    for path, name in calls:
        tool = catalogue.by_name.get(name)
        for needed in tool.contract.depends_on if tool is not None else ():
            if needed.tool not in called:
                why = f"{name} may be called once {needed.tool} has succeeded, and nothing here calls {needed.tool}"
                yield error((*path, "call"), "missing_call", why, f"Call {needed.tool} in a node before it")


def _call(flow: Flow, path: Path, call: CallNode | CompensateCall, catalogue: Catalogue) -> Iterator[Problem]:
    tool = catalogue.by_name.get(call.call)
    if call.call == SQL_TOOL:
        return
    if tool is None:
        yield _unknown((*path, "call"), call.call, catalogue)
    else:
        yield from check_arguments(path, call.args, tool, flow.workflow.params)


def _read(path: Path, name: str, catalogue: Catalogue) -> Iterator[Problem]:
    tool = catalogue.by_name.get(name)
    if tool is None:
        yield _unknown(path, name, catalogue)
    elif tool.effect != "read":
        why = f"{name} is a write, and a reason node only reads"
        yield error(path, "not_a_read", why, "Leave it out, and call it in a node of its own")


def _unknown(path: Path, name: str, catalogue: Catalogue) -> Problem:
    hint = did_you_mean(name, catalogue.by_name, "Name modules with tools")
    return error(path, "unknown_tool", f"there is no tool {name}", hint)
