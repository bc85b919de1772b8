"""A workflow drawn: as lines for a terminal, as a Mermaid flowchart. Pure."""

from collections.abc import Collection, Iterator
from typing import Any

from antiphon_shared.workflows.nodes import (
    BranchNode,
    CallNode,
    ForeachNode,
    ParallelNode,
    WaitNode,
    WorkflowNode,
    parts,
)
from antiphon_shared.workflows.params import Param, shown
from antiphon_shared.workflows.specification import Workflow

_LABEL_MAX = 60


def as_text(name: str, workflow: Workflow) -> str:
    """Return a line for each node, in the order of the file, with what it follows and where it leads."""
    params = ", ".join(f"{name}: {param_text(param)}" for name, param in workflow.params.items())
    width = max(map(len, workflow.graph))
    lines = [f"{name}({params})"]
    for id, node in workflow.graph.items():
        follows = f"  after {', '.join(node.depends_on)}" if node.depends_on else ""
        only = f"  when {_cut(node.when)}" if node.when else ""
        lines.append(f"  {id:{width}}  {_cut(node_text(node))}{follows}{only}")
        lines += [f"  {'':{width}}    {part}: {_cut(node_text(one))}" for part, one in parts(node).items()]
        lines += [f"  {'':{width}}    {_cut(why)} -> {target}" for why, target in ways(node, workflow.graph)]
    if workflow.output is not None:
        lines.append(f"returns {shown(workflow.output)}")
    return "\n".join(lines)


def as_mermaid(workflow: Workflow) -> str:
    """Return a Mermaid flowchart: dependencies as lines, activations dotted, with their reason."""
    lines = ["flowchart TD"]
    for id, node in workflow.graph.items():
        opening, closing = _shape(node)
        label = "<br/>".join(map(_escaped, (id, _cut(node_text(node)))))
        lines.append(f'    n_{id}{opening}"{label}"{closing}')
    for id, node in workflow.graph.items():
        lines += [f"    n_{needed} --> n_{id}" for needed in node.depends_on]
        activated = ways(node, workflow.graph)
        lines += [f'    n_{id} -. "{_escaped(_cut(why))}" .-> n_{target}' for why, target in activated]
    return "\n".join(lines)


def node_text(node: Any) -> str:
    """Return what a node does: `call book_flight`, `foreach day in range(...)`."""
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
            return "parallel, going on after failures"
    return str(node.type)


def param_text(param: Param) -> str:
    """Return the type of a param: `str (date)`, `int = 7`, `str?` for one that may be left out."""
    form = f" ({param.format})" if param.format else ""
    if param.default is not None:
        return f"{param.type}{form} = {shown(param.default)}"
    return f"{param.type}{form}{'' if param.required else '?'}"


def ways(node: Any, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield why a node may activate another, and which; `ids` are those of the graph."""
    if isinstance(node, BranchNode):
        yield from (("default" if arm.when is None else arm.when, arm.goto) for arm in node.on)
    on_error = getattr(node, "on_error", None)
    if on_error and on_error.fallback:
        yield "on error", on_error.fallback
    if isinstance(node, ParallelNode) and node.on_partial_failure in {*ids} - {"abort", "continue"}:
        yield "on partial failure", node.on_partial_failure


def _shape(node: Any) -> tuple[str, str]:
    match getattr(node, "type", None):
        case "branch":
            return "{", "}"
        case "yield" | "wait":
            return "([", "])"
        case "error" | "compensate":
            return "[/", "/]"
        case "parallel" | "foreach":
            return "[[", "]]"
    return ("[[", "]]") if isinstance(node, WorkflowNode) else ("[", "]")


def _escaped(text: str) -> str:
    """Return a text as Mermaid shows it and takes no part of it for its own."""
    kept = " -_.,:;/()$=+?!*"
    return "".join(sign if sign.isalnum() or sign in kept else f"#{ord(sign)};" for sign in text)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LABEL_MAX else f"{text[:_LABEL_MAX]}..."
