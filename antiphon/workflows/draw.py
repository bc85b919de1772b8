"""A workflow as lines for a terminal, and as a Mermaid flowchart. Pure."""

from antiphon_shared.text.excerpt import cut
from antiphon_shared.workflows.nodes import Node, WorkflowNode, parts
from antiphon_shared.workflows.outline import node_text, param_text, ways
from antiphon_shared.workflows.params import short_json
from antiphon_shared.workflows.specification import Workflow

_LABEL_MAX = 60


def as_text(name: str, workflow: Workflow) -> str:
    """Return a line for each node, in the order of the file, with its dependencies and its next nodes."""
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
        lines.append(f"returns {short_json(workflow.output)}")
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


def _shape(node: Node) -> tuple[str, str]:
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
    """Return a text with escapes for all characters that Mermaid would interpret."""
    safe = " -_.,:;/()$=+?!*"
    return "".join(sign if sign.isalnum() or sign in safe else f"#{ord(sign)};" for sign in text)


def _cut(text: str) -> str:
    return cut(" ".join(text.split()), _LABEL_MAX)
