"""A layered layout of a graph: the positions of its boxes, and the routes of its edges. Pure.

The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures"
(IEEE Transactions on Systems, Man, and Cybernetics 11, 1981): layers by the longest path, a dummy vertex wherever an
edge passes a layer, an order within layers by barycenters. Labels have rows of their own, so that nothing overlaps.
The places of a row are the least-squares fit to those of its neighbours that keeps order and distances (pool adjacent
violators: Ayer et al., 1955).
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

_ORDER_SWEEPS = 8
_PLACE_SWEEPS = 12
_SORTED_EDGES_MAX = 20_000
"""More edges would cross each other in any order."""
_DUMMIES_MAX = 10_000
"""The longest edges, for which no dummy is left, run straight."""
_BOX_GAP = 28.0
_EDGE_GAP = 14.0
_ROW_GAP = 34.0
_ROW_GAP_MAX = 80.0
_SNAP = 12.0
"""The greatest distance from a box's middle at which an edge may enter or leave, if that keeps it straight."""


class Size(NamedTuple):
    """The size of a box, a label or the whole."""

    width: float
    height: float


class Edge(NamedTuple):
    """An edge between two boxes."""

    source: str
    target: str
    label: Size | None = None


class Place(NamedTuple):
    """A position: the horizontal middle, and the upper and lower end."""

    x: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of all boxes and the routes of all edges.

    An edge runs down through each place of its route, and across to the next one in the gap between two rows.
    The second place of an edge with a label is the label's.
    """

    size: Size
    boxes: dict[str, Place]
    ways: tuple[tuple[Place, ...], ...]
    """In the order of the edges."""


@dataclass(eq=False, slots=True)
class _Vertex:
    """A box, a label, or a dummy, which has no size."""

    row: int
    size: Size
    is_box: bool = False
    up: list["_Vertex"] = field(default_factory=list)
    down: list["_Vertex"] = field(default_factory=list)
    slot: int = 0
    x: float = 0.0


def laid_out(boxes: Mapping[str, Size], edges: Sequence[Edge]) -> Layout:
    """Return a place for each box and a route for each edge; the same for the same input.

    Raises ValueError for edges in a cycle.
    """
    layers = _layers(boxes, edges)
    labelled = {layers[edge.source] for edge in edges if edge.label}
    row_of = [0]
    for layer in range(max(layers.values(), default=0)):
        row_of.append(row_of[-1] + (2 if layer in labelled else 1))
    vertices = {id: _Vertex(row_of[layers[id]], size, is_box=True) for id, size in boxes.items()}
    chains = _chains(vertices, edges)
    rows: list[list[_Vertex]] = [[] for _ in range(row_of[-1] + 1)]
    for vertex in dict.fromkeys([*vertices.values(), *(one for chain in chains for one in chain)]):
        rows[vertex.row].append(vertex)
    if len(edges) <= _SORTED_EDGES_MAX:
        _put_in_order(rows)
    _put_in_place(rows)
    tops, bottoms = _heights(rows)
    places = {
        id: Place(one.x, tops[one.row], tops[one.row] + one.size.height) for id, one in vertices.items()
    }
    ways = tuple(
        _way(chain, places[edge.source], places[edge.target], tops, bottoms)
        for chain, edge in zip(chains, edges, strict=True)
    )
    width = max(vertex.x + vertex.size.width / 2 for row in rows for vertex in row)
    return Layout(Size(width, bottoms[-1]), places, ways)


def _layers(boxes: Iterable[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the length of the longest path to each box."""
    after: dict[str, list[str]] = {id: [] for id in boxes}
    open_edges = dict.fromkeys(after, 0)
    for edge in edges:
        after[edge.source].append(edge.target)
        open_edges[edge.target] += 1
    layers = dict.fromkeys(after, 0)
    ready = [id for id, count in open_edges.items() if count == 0]
    for id in ready:
        for target in after[id]:
            layers[target] = max(layers[target], layers[id] + 1)
            open_edges[target] -= 1
            if open_edges[target] == 0:
                ready.append(target)
    if len(ready) < len(after):
        raise ValueError("the edges of a layered drawing must have no cycles")
    return layers


def _chains(vertices: Mapping[str, _Vertex], edges: Sequence[Edge]) -> list[list[_Vertex]]:
    """Return the vertices that each edge passes, joined; short edges get their dummies first."""
    chains: list[list[_Vertex]] = [[] for _ in edges]
    left = _DUMMIES_MAX
    spans = [vertices[edge.target].row - vertices[edge.source].row for edge in edges]
    for n in sorted(range(len(edges)), key=spans.__getitem__):
        source, target = vertices[edges[n].source], vertices[edges[n].target]
        label = edges[n].label
        first = source.row + 1
        passed = [_Vertex(first, label)] if label else []
        if (count := target.row - first - len(passed)) <= left:
            left -= count
            passed += [_Vertex(row, Size(0, 0)) for row in range(first + len(passed), target.row)]
        chains[n] = [source, *passed, target]
        for upper, lower in pairwise(chains[n]):
            upper.down.append(lower)
            lower.up.append(upper)
    return chains


def _put_in_order(rows: list[list[_Vertex]]) -> None:
    """Sort each row by the mean slot of its neighbours, from above and from below in turn; keep the best order."""
    _number(rows)
    best, crossings_min = [list(row) for row in rows], _crossings(rows)
    for sweep in range(_ORDER_SWEEPS):
        if crossings_min == 0:
            break
        is_downward = sweep % 2 == 0
        for row in rows if is_downward else reversed(rows):
            row.sort(key=lambda one: _mean_slot(one, one.up if is_downward else one.down))
            _number([row])
        if (crossings := _crossings(rows)) < crossings_min:
            best, crossings_min = [list(row) for row in rows], crossings
    rows[:] = best
    _number(rows)


def _number(rows: list[list[_Vertex]]) -> None:
    for row in rows:
        for slot, vertex in enumerate(row):
            vertex.slot = slot


def _mean_slot(vertex: _Vertex, near: list[_Vertex]) -> float:
    return sum(one.slot for one in near) / len(near) if near else vertex.slot


def _crossings(rows: list[list[_Vertex]]) -> int:
    """Return the number of crossing pairs of edges between neighbouring rows."""
    count = 0
    for row in rows:
        ends: list[int] = []
        for vertex in row:
            below = [one.slot for one in vertex.down]
            count += sum(len(ends) - bisect_right(ends, slot) for slot in below)
            for slot in below:
                insort(ends, slot)
    return count


def _put_in_place(rows: list[list[_Vertex]]) -> None:
    """Move each row towards its neighbours above, then below, in turn, then both; finally straighten edges."""
    for row in rows:
        _fit(row, [(vertex.x, 1.0) for vertex in row])
    for sweep in range(_PLACE_SWEEPS):
        is_both, is_downward = sweep >= _PLACE_SWEEPS // 2, sweep % 2 == 0
        for row in rows if is_downward else reversed(rows):
            _fit(row, [_wanted(one, is_both or is_downward, is_both or not is_downward) for one in row])
    for row in reversed(rows):  # a vertex that is no box has one vertex below
        _fit(row, [(one.x, 1_000.0) if one.is_box else (one.down[0].x, 1.0) for one in row])
    left = min(vertex.x - vertex.size.width / 2 for row in rows for vertex in row)
    for vertex in (one for row in rows for one in row):
        vertex.x -= left


def _wanted(vertex: _Vertex, is_up: bool, is_down: bool) -> tuple[float, float]:
    """Return the best place of a vertex among its neighbours, and its weight, which is highest within long edges."""
    place = weight = 0.0
    for near in (*(vertex.up if is_up else ()), *(vertex.down if is_down else ())):
        pull = (1.0, 2.0, 8.0)[(not vertex.is_box) + (not near.is_box)]
        place, weight = place + pull * near.x, weight + pull
    return (place / weight, weight) if weight else (vertex.x, 0.01)


def _fit(row: list[_Vertex], wanted: list[tuple[float, float]]) -> None:
    """Move the vertices of a row as near as possible to the wanted places, in order and at the required distances."""
    offsets = [0.0]
    for before, vertex in pairwise(row):
        gap = _BOX_GAP if before.is_box and vertex.is_box else _EDGE_GAP
        offsets.append(offsets[-1] + (before.size.width + vertex.size.width) / 2 + gap)
    pools: list[tuple[float, float, int]] = []
    for (place, weight), offset in zip(wanted, offsets, strict=True):
        total, count = weight * (place - offset), 1
        while pools and pools[-1][0] / pools[-1][1] > total / weight:
            before_total, before_weight, before_count = pools.pop()
            total, weight, count = total + before_total, weight + before_weight, count + before_count
        pools.append((total, weight, count))
    fitted = (total / weight for total, weight, count in pools for _ in range(count))
    for vertex, place, offset in zip(row, fitted, offsets, strict=True):
        vertex.x = place + offset


def _heights(rows: list[list[_Vertex]]) -> tuple[list[float], list[float]]:
    """Return the upper and lower end of each row; rows with slanting edges between them are further apart."""
    tops, bottoms = [0.0], []
    for number, row in enumerate(rows):
        bottoms.append(tops[-1] + max(vertex.size.height for vertex in row))
        slant = max((abs(one.x - lower.x) for one in row for lower in one.down), default=0.0)
        has_labels = not all(any(one.is_box for one in near) for near in rows[number : number + 2])
        gap = min(_ROW_GAP_MAX, max(_ROW_GAP * (0.6 if has_labels else 1), slant * 0.15))
        tops.append(bottoms[-1] + gap)
    return tops, bottoms


def _way(
    chain: list[_Vertex], source: Place, target: Place, tops: list[float], bottoms: list[float]
) -> tuple[Place, ...]:
    inner = [Place(one.x, tops[one.row], bottoms[one.row]) for one in chain[1:-1]]
    x = _near(source.x, inner[0].x if inner else target.x)
    begin = Place(x, source.bottom, bottoms[chain[0].row])
    end = Place(_near(target.x, inner[-1].x if inner else x), target.top, target.top)
    return (begin, *inner, end)


def _near(middle: float, x: float) -> float:
    return x if abs(middle - x) <= _SNAP else middle
