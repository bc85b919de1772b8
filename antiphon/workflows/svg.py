"""A workflow as a self-contained SVG picture. Pure.

Widths of text are estimated, as only the reader's machine knows its fonts; a cut text is whole in a
`<title>`.
"""

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import Any
from unicodedata import east_asian_width

from antiphon_shared.text.control import harmless
from antiphon_shared.workflows.nodes import CompensateNode, ErrorNode, Node, ReasonNode, YieldNode, parts
from antiphon_shared.workflows.outline import node_text, ways
from antiphon_shared.workflows.specification import Workflow

from antiphon.workflows.layout import Edge, Place, Size, laid_out

_TEXT_WIDTH_MAX = 260.0
_LABEL_WIDTH_MAX = 200.0
_LINES_MAX = 8
_LINE = 16.0
_PADDING = 14.0
_MARGIN = 24.0
_HEADING = 44.0
_NARROW, _WIDE = frozenset(" fijlrtI.,:;'|!()[]-"), frozenset("mwMW@%&=<>")
_COLOURS = {
    "call": "#4a86c5",
    "workflow": "#7a72c9",
    "branch": "#b8922a",
    "parallel": "#34977f",
    "foreach": "#34977f",
    "yield": "#bd6397",
    "reason": "#9a6cbb",
    "wait": "#7d8590",
    "compensate": "#c97a3a",
    "error": "#cb5a54",
}
"""The outline by kind of node, which also tints the inside; visible on light and dark backgrounds."""
_STYLE = """
.workflow .canvas { fill: #ffffff }
.workflow text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #57606a }
.workflow .name, .workflow .id { fill: #1f2328; font-weight: 600; font-size: 13px }
.workflow .undo { fill: #a3561c }
.workflow .label { stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; paint-order: stroke;
  text-anchor: middle; font-size: 11px }
.workflow .box { fill-opacity: 0.1; stroke-width: 1.2 }
.workflow .edge path { fill: none; stroke: #8c959f; stroke-width: 1.4 }
.workflow .tip { fill: #8c959f }
.workflow .activation path { stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) {
  .workflow .canvas { fill: #0d1117 }
  .workflow text { fill: #9aa4af }
  .workflow .name, .workflow .id { fill: #e6edf3 }
  .workflow .undo { fill: #dd9a62 }
  .workflow .label { stroke: #0d1117 }
}
"""
Lines = list[tuple[str, str]]
"""Texts, each with its class."""


def as_svg(name: str, workflow: Workflow) -> str:
    """Return a picture of a workflow: dependencies as lines, activations as dashed lines with their reason.

    Raises ValueError for a graph with a cycle, which validation refuses.
    """
    whys = _edges(workflow)
    edges = [
        Edge(*pair, Size(_width(_fitted(why, _LABEL_WIDTH_MAX)), _LINE) if why else None)
        for pair, why in whys.items()
    ]
    lines = {id: list(_lines(id, node)) for id, node in workflow.graph.items()}
    sizes = {id: _box_size(one) for id, one in lines.items()}
    layout = laid_out(sizes, edges)
    width = round(max(layout.size.width, 320.0) + 2 * _MARGIN)
    height = round(layout.size.height + 2 * _MARGIN + _HEADING)
    drawn = [
        _edge(edge, way, whys[edge.source, edge.target], workflow.graph[edge.target])
        for edge, way in zip(edges, layout.ways, strict=True)
    ]
    drawn += [_node(id, node, lines[id], sizes[id], layout.boxes[id]) for id, node in workflow.graph.items()]
    colours = [
        f".workflow .{kind} rect {{ fill: {colour}; stroke: {colour} }}" for kind, colour in _COLOURS.items()
    ]
    left = _number((width - layout.size.width) / 2)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" class="workflow" role="img" \
width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<title>{_plain(name)}</title>
<desc>{_plain(workflow.description)}</desc>
<style>{_STYLE}{chr(10).join(colours)}
</style>
<defs><marker id="antiphon-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path class="tip" d="M0 0.5 8 4 0 7.5Z"/></marker></defs>
<rect class="canvas" width="{width}" height="{height}"/>
<text class="name" x="{_MARGIN:g}" y="{_MARGIN + 8:g}">{_plain(name)}</text>
<text x="{_MARGIN:g}" y="{_MARGIN + 26:g}">{_plain(_fitted(workflow.description, width - 2 * _MARGIN))}</text>
<g transform="translate({left} {_MARGIN + _HEADING:g})">
{chr(10).join(drawn)}
</g>
</svg>"""


def _edges(workflow: Workflow) -> dict[tuple[str, str], str]:
    """Return the edges, each with its reason if it activates."""
    found: dict[tuple[str, str], list[str]] = {}
    for id, node in workflow.graph.items():
        for needed in node.depends_on:
            if needed in workflow.graph:
                found.setdefault((needed, id), [])
        for why, target in ways(node, workflow.graph):
            found.setdefault((id, target), []).append(why)
    return {pair: " or ".join(one) for pair, one in found.items()}


def _lines(id: str, node: Node) -> Iterator[tuple[str, str]]:
    """Yield the texts in the box of a node, whole."""
    yield id, "id"
    match node:
        case YieldNode():
            yield from (("wait for a person", ""), (f"“{node.message}”", ""))
        case ErrorNode():
            yield from (("end as failed", ""), (f"“{node.message}”", ""))
        case ReasonNode():
            yield from (("ask a model", ""), (f"“{node.question}”", ""))
        case CompensateNode():
            yield from ((f"undo by {step.call}", "undo") for step in node.steps)
        case _:
            yield node_text(node), ""
    if node.when:
        yield f"when {node.when}", ""
    for part, one in parts(node).items():
        yield f"{'each' if part == '*' else part}: {node_text(one)}", ""
        yield from _undone(one)
    yield from _undone(node)


def _undone(node: Any) -> Iterator[tuple[str, str]]:
    if compensate := getattr(node, "compensate", None):
        yield f"undone by {compensate.call}", "undo"


def _box_size(lines: Lines) -> Size:
    shown = _shown(lines)
    width = max(_width(text, kind) for text, kind in shown)
    return Size(round(width + 2 * _PADDING), len(shown) * _LINE + _PADDING)


def _shown(lines: Lines) -> Lines:
    """Return the lines as they fit into the box."""
    if len(lines) > _LINES_MAX:
        lines = [*lines[: _LINES_MAX - 1], (f"and {len(lines) - _LINES_MAX + 1} more", "")]
    return [(_fitted(text, _TEXT_WIDTH_MAX, kind), kind) for text, kind in lines]


def _node(id: str, node: Node, lines: Lines, size: Size, place: Place) -> str:
    kind = getattr(node, "type", "workflow" if hasattr(node, "workflow") else "call")
    x, y = place.x - size.width / 2, place.top
    corner, height = f'x="{_number(x)}" y="{_number(y)}"', f'height="{_number(size.height)}"'
    whole = "\n".join([*(text for text, _ in lines), *([node.description] if node.description else [])])
    rows = "".join(
        f'<text class="{text_kind}" x="{_number(x + _PADDING)}" y="{_number(y + _LINE * (n + 1) + 2)}">'
        f"{_plain(text)}</text>"
        for n, (text, text_kind) in enumerate(_shown(lines))
    )
    return (
        f'<g class="node {kind}" data-node="{_plain(id)}"><title>{_plain(whole)}</title>'
        f'<rect class="box" {corner} width="{_number(size.width)}" {height} rx="5"/>'
        f'<rect {corner} width="3" {height} rx="1.5"/>{rows}</g>'
    )


def _edge(edge: Edge, way: tuple[Place, ...], why: str, target: Node) -> str:
    path = f"M{_number(way[0].x)} {_number(way[0].top)}V{_number(way[0].bottom)}"
    for before, place in pairwise(way):
        middle, x = _number((before.bottom + place.top) / 2), _number(place.x)
        path += f"C{_number(before.x)} {middle} {x} {middle} {x} {_number(place.top)}"
        path += f"V{_number(place.bottom)}" if place.bottom > place.top else ""  # tips follow the last line
    label = _plain(_fitted(why, _LABEL_WIDTH_MAX))
    is_needed = edge.source in target.depends_on
    whole = f"{edge.source} → {edge.target}{f': {why}' if why else ''}"
    text = f'<text class="label" x="{_number(way[1].x)}" y="{_number(way[1].top + 12)}">{label}</text>'
    return (
        f'<g class="edge{"" if is_needed else " activation"}" data-from="{_plain(edge.source)}"'
        f' data-to="{_plain(edge.target)}"><title>{_plain(whole)}</title>'
        f'<path d="{path}" marker-end="url(#antiphon-tip)"/>{text if why else ""}</g>'
    )


def _fitted(text: str, width_max: float, kind: str = "") -> str:
    """Return a text on one line, cut with an ellipsis where it would be wider."""
    text = " ".join(harmless(text[:2_000]).split())
    if _width(text, kind) <= width_max:
        return text
    while _width(f"{text}…", kind) > width_max:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _width(text: str, kind: str = "") -> float:
    """Return the estimated width of a text, in the widest font that is likely."""
    signs = 0.0
    for sign in text:
        signs += 0.4 if sign in _NARROW else 0.88 if sign in _WIDE else 0.62
        signs += 0.4 if not sign.isascii() and east_asian_width(sign) in "WF" else 0
    return signs * (14 if kind == "id" else 12)


def _plain(text: str) -> str:
    """Return a text escaped for XML, without the characters that XML does not allow."""
    return escape(harmless(text).replace("\ufffe", "").replace("\uffff", ""))


def _number(value: float) -> str:
    return f"{round(value, 1):g}"
