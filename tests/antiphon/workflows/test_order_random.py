"""Results called certain are there in every run of random graphs, with any success, failure or skip."""

from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.workflows.nodes import BranchNode, ErrorNode
from antiphon_shared.workflows.order import Order, cycles, edges_of
from antiphon_shared.workflows.specification import Specification
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a graph in the form of a file. Edges lead forwards, so it has no cycles."""
    count = draw(st.integers(2, 9))
    ids = [f"n{n}" for n in range(count)]
    kinds = [draw(st.sampled_from(["call", "call", "call", "branch", "error"])) for _ in ids]
    graph: dict[str, Any] = {}
    for n, id in enumerate(ids):
        needed = draw(st.lists(st.sampled_from(ids[:n]), max_size=3, unique=True)) if n else []
        node: dict[str, Any] = {"depends_on": [one for one in needed if kinds[int(one[1:])] != "error"]}
        if draw(st.booleans()) and draw(st.booleans()):
            node["when"] = "1 < 2"
        later = ids[n + 1 :]
        if kinds[n] == "branch" and later:
            ways = draw(st.lists(st.sampled_from(later), min_size=1, max_size=3))
            node |= {"type": "branch", "on": [{"when": "1 < 2", "goto": way} for way in ways]}
        elif kinds[n] == "error":
            node |= {"type": "error", "message": "m"}
        else:
            node["call"] = "look"
            if later and draw(st.integers(0, 3)) == 0:
                node["on_error"] = {"fallback": draw(st.sampled_from(later))}
        graph[id] = node
    return graph


@dataclass
class Run:
    """One run of a graph, by the words of the page; in an order that is drawn."""

    order: Order
    graph: dict[str, Any]
    draw: st.DataObject
    state: dict[str, str] = field(default_factory=dict)
    activated: set[str] = field(default_factory=set)
    had: dict[str, set[str]] = field(default_factory=dict)
    """The nodes that had succeeded when a node ran."""
    is_over: bool = False
    is_done: bool = False

    def go(self) -> None:
        while not self.is_over:
            ready = [id for id in self.graph if id not in self.state and self.verdict(id) is not None]
            if not ready:
                self.is_done = True
                return
            self.settle(self.draw.draw(st.sampled_from(ready)))

    def verdict(self, id: str) -> bool | None:
        """Return whether a node runs (True) or is skipped (False); None when undecided."""
        node = self.graph[id]
        needed = [self.state.get(one) for one in node.depends_on]
        activators = [one for one, after in edges_of(self.graph).items() if after.get(id)]
        if activators:
            if id not in self.activated:
                return False if all(one in self.state for one in activators) else None
            return None if None in needed else True
        if None in needed:
            return None
        return "succeeded" in needed if needed else True

    def settle(self, id: str) -> None:
        node = self.graph[id]
        if not self.verdict(id) or (node.when is not None and self.draw.draw(st.booleans())):
            self.state[id] = "skipped"
            return
        self.had[id] = {one for one, state in self.state.items() if state == "succeeded"}
        fallback = node.on_error.fallback if getattr(node, "on_error", None) else None
        if isinstance(node, ErrorNode):
            self.is_over = True
        elif self.draw.draw(st.integers(0, 2)) == 0:
            self.state[id] = "skipped"
            self.is_over = fallback is None
            self.activate(fallback)
        else:
            self.state[id] = "succeeded"
            if isinstance(node, BranchNode):
                self.activate(self.draw.draw(st.sampled_from(node.on)).goto)

    def activate(self, target: str | None) -> None:
        """Activate a node; an error node without a guard ends the workflow at once."""
        if target is None:
            return
        self.activated.add(target)
        node = self.graph[target]
        if isinstance(node, ErrorNode) and node.when is None and not node.depends_on:
            self.is_over = True


def made(graph: dict[str, Any]) -> dict[str, Any]:
    fields = {"domain": "d", "version": "1", "workflows": {"w": {"description": "W", "graph": graph}}}
    return dict(Specification.model_validate_json(to_json(fields), strict=True).workflows["w"].graph)


@given(graphs(), st.data())
def test_a_certain_node_has_succeeded_and_exclusive_nodes_never_both_do(
    drawn: dict[str, Any], data: st.DataObject
) -> None:
    graph = made(drawn)
    assert cycles(edges_of(graph)) == []
    order = Order(graph)
    run = Run(order, graph, data)
    run.go()
    pairs = [
        (id, frozenset(some))
        for id in (*run.had, *([None] if run.is_done else []))
        for some in sets_of(graph)
    ]
    certain = order.certainties([(id, order.bits(some)) for id, some in pairs])
    succeeded = {id for id, state in run.state.items() if state == "succeeded"}
    for (id, some), is_certain in zip(pairs, certain, strict=True):
        had = succeeded if id is None else run.had[id]
        assert not is_certain or had & some, (id, some, run.state)
    for one in succeeded:
        assert not [other for other in succeeded if other != one and order.are_exclusive((one, other))]


def sets_of(graph: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return each node alone, and each pair."""
    ids = [*graph]
    return [(one,) for one in ids] + [(one, other) for n, one in enumerate(ids) for other in ids[:n]]


def test_a_dependency_is_certain_and_a_successor_is_not() -> None:
    graph = made({"a": {"call": "look"}, "b": {"call": "look", "depends_on": ["a"]}})
    order = Order(graph)
    assert order.certainties(
        [("b", order.bits(["a"])), ("a", order.bits(["b"])), (None, order.bits(["b"]))]
    ) == [
        *(True, False, True),
    ]
