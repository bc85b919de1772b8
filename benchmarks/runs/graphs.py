"""Graphs of no-op nodes, as dependencies by node: what ours and each peer builds its workflow of."""

import random
from collections.abc import Mapping
from typing import Any

from antiphon_shared.workflows.specification import Specification

from antiphon import workflows

Graph = Mapping[str, tuple[str, ...]]
"""For each node its dependencies, which come before it."""

_EDGES_MAX, _REACH = 3, 100
"""The maximum number of dependencies of a drawn node, and how far back they may be."""


def chain(nodes: int) -> Graph:
    """Return nodes that follow one upon the other."""
    return {f"n{n}": (f"n{n - 1}",) if n else () for n in range(nodes)}


def fan(nodes: int) -> Graph:
    """Return nodes that all begin when the first is done, and one that waits for all of them."""
    middle = [f"n{n}" for n in range(nodes - 2)]
    return {"first": (), **dict.fromkeys(middle, ("first",)), "last": tuple(middle)}


def drawn(nodes: int, seed: int = 7) -> Graph:
    """Return nodes that depend on up to three of the hundred before them, drawn by lot."""
    draw = random.Random(seed)
    found: dict[str, tuple[str, ...]] = {}
    for n in range(nodes):
        before = range(max(0, n - _REACH), n)
        chosen = draw.sample(before, min(len(before), draw.randint(1, _EDGES_MAX)))
        found[f"n{n}"] = tuple(f"n{one}" for one in sorted(chosen))
    return found


def levels(graph: Graph) -> int:
    """Return the number of nodes on the longest path through a graph."""
    depth: dict[str, int] = {}
    for node, before in graph.items():
        depth[node] = 1 + max((depth[one] for one in before), default=0)
    return max(depth.values())


def specification_of(graph: Graph) -> Specification:
    """Return a workflow `measured` whose nodes call a tool that does nothing."""
    nodes = {
        id: {"call": "nothing", "args": {"n": 1}, "depends_on": list(before)} for id, before in graph.items()
    }
    return _built(nodes)


def foreach_of(items: int, concurrency: int) -> Specification:
    """Return a workflow `measured` of one foreach."""
    step = {"call": "nothing", "args": {"n": "$item"}}
    each = {
        "type": "foreach",
        "items": f"range(0, {items})",
        "as": "item",
        "max_iterations": items,
        "concurrency": concurrency,
        "step": step,
    }
    return _built({"each": each})


def _built(nodes: Mapping[str, Any]) -> Specification:
    workflow = {"description": "A measurement.", "graph": nodes, "output": {"done": True}}
    return workflows.build({"domain": "benchmark", "version": "1", "workflows": {"measured": workflow}})
