"""Which calls of a batch wait for which, in what order they may come, and which can never begin. Pure.

The nodes of the graph are the calls, by their places, and after them the *gates*: one for each tool, and fields
of its result, that calls depend on. A gate waits for every call of its tool, and whoever needs it waits for the
gate alone, so that a batch of many such calls has few edges. A call of a write that repeats an earlier one has a
gate of its own: whether another write has come in between is known once all before it are done.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import Contract, Dependency

from tool_dispatcher.batch.answers import named, why_failed
from tool_dispatcher.batch.placeholders import outlined


@dataclass(frozen=True, slots=True)
class Gate:
    """A tool that others depend on, and its calls in this batch; or, with no dependency, calls to come after."""

    dependency: Dependency | None
    calls: tuple[int, ...]

    def problem(self, calls: Sequence[RequestedCall], results: Sequence[ToolResult | None]) -> str:
        """Why none of its calls, all of which are answered, gave what is needed; empty when one did."""
        if self.dependency is None:
            return ""
        outcomes = [self._problem_of(index, calls[index], results[index]) for index in self.calls]
        if "" in outcomes:
            return ""
        if len(outcomes) == 1:
            return outcomes[0]
        return f"none of the {len(outcomes)} calls of {self.dependency.tool} in this batch gave it: {outcomes[0]}"

    def _problem_of(self, index: int, call: RequestedCall, result: ToolResult | None) -> str:
        assert result is not None, "a gate is judged when all of its calls are answered"
        assert self.dependency is not None, "what comes after others needs nothing of them"
        if result.error is not None:
            return f"{named(index, call)} {why_failed(result.error)}"
        missing = missing_fields(result, self.dependency.required_fields)
        if not missing:
            return ""
        fields = ", ".join(f"`{field}`" for field in missing)
        return f"{named(index, call)} returned {outlined(result.data)}, without {fields}"


@dataclass(frozen=True, slots=True)
class Graph:
    """`needs[node]` are the nodes that have to be done before it; gates come after the calls."""

    needs: tuple[tuple[int, ...], ...]
    gates: tuple[Gate, ...]
    missing: Mapping[int, Dependency]
    """Of calls that need a tool which has succeeded nowhere and has no call here."""


def graph_of(
    calls: Sequence[RequestedCall],
    contracts: Mapping[str, Contract],
    succeeded: Sequence[str],
    named: Sequence[tuple[int, ...]],
    repeats: Collection[int] = (),
) -> Graph:
    """`succeeded`: tools that did in earlier rounds. `named`: by call, those its placeholders name.

    `repeats`: calls of writes that an earlier call had made; they come after every write before them.
    """
    by_tool: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        by_tool.setdefault(call.name, []).append(index)
    gates: dict[Dependency, int] = {}
    missing: dict[int, Dependency] = {}
    needs = [list(places) for places in named]
    for index, call in enumerate(calls):
        contract = contracts.get(call.name)
        for dependency in contract.depends_on if contract else ():
            if dependency.tool in by_tool:
                needs[index].append(gates.setdefault(dependency, len(calls) + len(gates)))
            elif dependency.tool not in succeeded:
                missing.setdefault(index, dependency)
    made = tuple(Gate(dependency, tuple(by_tool[dependency.tool])) for dependency in gates)
    edges = [*needs, *(list(gate.calls) for gate in made)]
    after = []
    for index in sorted(repeats):
        before = [place for place in range(index) if _may_write(calls[place], contracts)]
        if others := tuple(place for place in before if not _waits_for(place, index, edges)):
            after.append(Gate(None, others))
            edges[index].append(len(edges))
            edges.append(list(others))
    return Graph(tuple(map(tuple, edges)), (*made, *after), missing)


def _may_write(call: RequestedCall, contracts: Mapping[str, Contract]) -> bool:
    return call.name in contracts and contracts[call.name].effect == "write"


def _waits_for(node: int, other: int, needs: Sequence[Sequence[int]]) -> bool:
    """Whether a node comes after another, by way of others too."""
    reached, open_nodes = {node}, [node]
    while open_nodes:
        for needed in needs[open_nodes.pop()]:
            if needed == other:
                return True
            if needed not in reached:
                reached.add(needed)
                open_nodes.append(needed)
    return False


def knots(needs: Sequence[Sequence[int]], roots: Iterable[int]) -> list[list[int]]:
    """`roots` and all that they need, in an order in which each node comes after those it needs.

    Otherwise they come in the order of `roots`, each right after what it needs. Nodes that wait for each other
    in a circle stand together; every other one stands alone. These are the strongly connected components, in
    the order of Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Computing 1 (1972), without
    recursion.
    """
    found: list[list[int]] = []
    reached: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: dict[int, None] = {}
    for root in roots:
        if root in reached:
            continue
        path = [(root, 0)]
        while path:
            node, next_edge = path.pop()
            if next_edge == 0:
                reached[node] = lowest[node] = len(reached)
                open_nodes[node] = None
            else:
                lowest[node] = min(lowest[node], lowest[needs[node][next_edge - 1]])
            for place in range(next_edge, len(needs[node])):
                other = needs[node][place]
                if other not in reached:
                    path += [(node, place + 1), (other, 0)]
                    break
                if other in open_nodes:
                    lowest[node] = min(lowest[node], reached[other])
            else:
                if lowest[node] == reached[node]:
                    found.append(_closed(node, open_nodes))
    return found


def missing_fields(result: ToolResult, fields: Sequence[str]) -> list[str]:
    """Fields that a result does not hold: neither at the top nor in the first of its records.

    Of a result that is shown in part only nobody can tell here: it is taken to hold them.
    """
    if result.handle:
        return []
    return [field for field in fields if not any(_has(place, field) for place in _places(result.data))]


def _places(data: Any) -> list[Any]:
    """Where a field may stand: the data itself, and the first record of every list in it."""
    lists = [data] if isinstance(data, list) else []
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
    return [data, *(records[0] for records in lists if records)]


def _has(value: Any, field: str) -> bool:
    return isinstance(value, dict) and value.get(field) is not None


def _closed(root: int, open_nodes: dict[int, None]) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != root:
        component.append(open_nodes.popitem()[0])
    return sorted(component)
