"""A workflow in words: its nodes, its ways, and an outline of the whole for a model. Pure."""

from collections.abc import Collection, Iterator

from antiphon_shared.text.excerpt import cut
from antiphon_shared.workflows.activations import activations
from antiphon_shared.workflows.nodes import (
    CallNode,
    CompensateNode,
    ForeachNode,
    Node,
    ParallelNode,
    WaitNode,
    WorkflowNode,
    compensate_of,
    parts,
)
from antiphon_shared.workflows.params import Param, short_json
from antiphon_shared.workflows.specification import Workflow

_LINE_CHARACTERS, _LINES_MAX = 100, 40


def outline(workflow: Workflow) -> str:
    """Return a short indented text: the order of nodes, their choices, and the handling of failures."""
    lines: list[str] = []
    for id, node in workflow.graph.items():
        after = f" after {', '.join(node.depends_on)}" if node.depends_on else ""
        only = f" if {node.when}" if node.when else ""
        lines.append(f"- {id}: {node_text(node)}{after}{only}{_undone(node)}")
        lines += [f"  - {part}: {node_text(one)}{_undone(one)}" for part, one in parts(node).items()]
        lines += [f"  - {why}: {target}" for why, target in ways(node, workflow.graph)]
        if isinstance(node, CompensateNode):
            lines += [f"  - {step.call}" for step in node.steps]
    if len(lines) > _LINES_MAX:
        lines[_LINES_MAX:] = [f"- and {len(lines) - _LINES_MAX} lines more"]
    return "\n".join(cut(line, _LINE_CHARACTERS) for line in lines)


def node_text(node: Node) -> str:
    """Return the action of a node: `call book_flight`, `foreach day in range(...)`."""
    match node:
        case CallNode():
            return f"call {node.call}"
        case WorkflowNode():
            return f"workflow {node.workflow}"
        case ForeachNode():
            return f"foreach {node.as_} in {node.items}"
        case WaitNode():
            return f"wait until {node.until}" if node.until else f"wait {node.seconds} s"
        case ParallelNode() if node.on_partial_failure == "continue":
            return "parallel, continues after failures"
    return str(node.type)


def param_text(param: Param) -> str:
    """Return the type of a param: `str (date)`, `int = 7`, `str?` for an optional one."""
    form = f" ({param.format})" if param.format else ""
    if param.default is not None:
        return f"{param.type}{form} = {short_json(param.default)}"
    return f"{param.type}{form}{'' if param.required else '?'}"


def ways(node: Node, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the reason and the target of each activation of a node; `ids` are the ids of the graph."""
    for one in activations(node):
        if one.how == "goto":
            yield one.when or "default", one.target
        elif one.how == "fallback":
            yield "on error", one.target
        elif one.target in ids:
            yield "on partial failure", one.target


def _undone(node: Node) -> str:
    own = compensate_of(node)
    return f", undone by {own.call}" if own is not None else ""
