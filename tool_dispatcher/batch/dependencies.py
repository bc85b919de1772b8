"""The dependencies between calls of a batch, the order they require, and the calls that can never begin. Pure.

The nodes of the graph are the calls, by their indexes, and after them the *gates*. There is one gate for each
dependency: a tool, and the fields of its result that are needed. A gate waits for every call of its tool, and
dependent calls wait only for the gate, so that a batch of many such calls has few edges. A write that repeats
an earlier write waits for a gate of all writes before it: when they are done, it is known whether another
write came in between.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import Contract, Dependency
from antiphon_shared.values import Json, JsonObject

from tool_dispatcher.batch.answers import call_label, why_failed
from tool_dispatcher.batch.placeholders import outlined


@dataclass(frozen=True, slots=True)
class Gate:
    """A node that waits for all calls of a tool that others depend on, or for the writes before a repeated write."""

    dependency: Dependency | None
    calls: tuple[int, ...]

    def problem(self, calls: Sequence[RequestedCall], results: Sequence[ToolResult | None]) -> str:
        """Return why none of its calls returned the needed fields; empty if one did. All of them are answered."""
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
        assert self.dependency is not None, "a call after others does not depend on them"
        if result.error is not None:
            return f"{call_label(index, call)} {why_failed(result.error)}"
        missing = missing_fields(result, self.dependency.required_fields)
        if not missing:
            return ""
        fields = ", ".join(f"`{field}`" for field in missing)
        return f"{call_label(index, call)} returned {outlined(result.data)}, without {fields}"


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of calls and gates."""

    needs: tuple[tuple[int, ...], ...]
    """By node, the nodes that must be done before it."""
    gates: tuple[Gate, ...]
    missing: Mapping[int, Dependency]
    """By call, a dependency whose tool has not succeeded and has no call in this batch."""


def graph_of(
    calls: Sequence[RequestedCall],
    contracts: Mapping[str, Contract],
    succeeded: Sequence[str],
    needed: Sequence[tuple[int, ...]],
    repeats: Collection[int] = (),
) -> Graph:
    """Return the graph of a batch.

    Args:
        succeeded: tools that succeeded in earlier rounds.
        needed: by call, the calls that its placeholders name.
        repeats: writes that an earlier call has made; they come after every write before them.
    """
    by_tool: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        by_tool.setdefault(call.name, []).append(index)
    gates: dict[Dependency, int] = {}
    missing: dict[int, Dependency] = {}
    needs = [list(indexes) for indexes in needed]
    for index, call in enumerate(calls):
        contract = contracts.get(call.name)
        for dependency in contract.depends_on if contract else ():
            if dependency.tool in by_tool:
                needs[index].append(gates.setdefault(dependency, len(calls) + len(gates)))
            elif dependency.tool not in succeeded:
                missing.setdefault(index, dependency)
    tool_gates = tuple(Gate(dependency, tuple(by_tool[dependency.tool])) for dependency in gates)
    edges = [*needs, *(list(gate.calls) for gate in tool_gates)]
    repeat_gates = []
    for index in sorted(repeats):
        earlier_writes = [earlier for earlier in range(index) if _may_write(calls[earlier], contracts)]
        if others := tuple(earlier for earlier in earlier_writes if not _waits_for(earlier, index, edges)):
            repeat_gates.append(Gate(None, others))
            edges[index].append(len(edges))
            edges.append(list(others))
    return Graph(tuple(map(tuple, edges)), (*tool_gates, *repeat_gates), missing)


def _may_write(call: RequestedCall, contracts: Mapping[str, Contract]) -> bool:
    return call.name in contracts and contracts[call.name].effect == "write"


def _waits_for(node: int, other: int, needs: Sequence[Sequence[int]]) -> bool:
    """Return whether a node comes after another, directly or through other nodes."""
    reached, open_nodes = {node}, [node]
    while open_nodes:
        for needed in needs[open_nodes.pop()]:
            if needed == other:
                return True
            if needed not in reached:
                reached.add(needed)
                open_nodes.append(needed)
    return False


def find_cycles(needs: Sequence[Sequence[int]], roots: Iterable[int]) -> list[list[int]]:
    """Return `roots` and all nodes that they need, in groups: each cycle is a group, every other node one of its own.

    Each group comes after the groups it needs; apart from that, the order is that of `roots`. The groups are the
    strongly connected components, by Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Computing 1
    (1972), without recursion.
    """
    cycles: list[list[int]] = []
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
            for edge in range(next_edge, len(needs[node])):
                other = needs[node][edge]
                if other not in reached:
                    path += [(node, edge + 1), (other, 0)]
                    break
                if other in open_nodes:
                    lowest[node] = min(lowest[node], reached[other])
            else:
                if lowest[node] == reached[node]:
                    cycles.append(_pop_component(node, open_nodes))
    return cycles


def missing_fields(result: ToolResult, fields: Sequence[str]) -> list[str]:
    """Return the fields that a result has neither at the top nor in its first record.

    A result that is shown in part counts as complete: the missing fields may be in the other part.
    """
    if result.handle:
        return []
    records = _records(result.data)
    return [field for field in fields if all(record.get(field) is None for record in records)]


def _records(data: Json) -> list[JsonObject]:
    """Return the objects that may have a field: the data itself, and the first record of every list in it."""
    parts = data.values() if isinstance(data, dict) else [data]
    first = [part[0] for part in parts if isinstance(part, list) and part]
    return [value for value in (data, *first) if isinstance(value, dict)]


def _pop_component(root: int, open_nodes: dict[int, None]) -> list[int]:
    component: list[int] = []
    while not component or component[-1] != root:
        component.append(open_nodes.popitem()[0])
    return sorted(component)
