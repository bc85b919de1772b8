"""The order of nodes, and the nodes that have certainly succeeded when another runs. Pure.

Sets of nodes are bits of an integer, numbered in topological order, which makes the check of a thousand nodes
fast.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from graphlib import TopologicalSorter
from itertools import combinations
from operator import and_

from antiphon_shared.workflows.activations import Way, activations, fallback_of, targets
from antiphon_shared.workflows.nodes import BranchNode, CompensateNode, ErrorNode, Node

Choices = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle of nodes: each depends on the one before it, the first on the last."""

    ids: tuple[str, ...]
    activation: tuple[str, str] | None
    """A node of the cycle and the node of the cycle that it activates, if any."""


def edges_of(graph: Mapping[str, Node]) -> dict[str, dict[str, bool]]:
    """Return for each node the existing nodes after it, and whether it activates them."""
    after: dict[str, dict[str, bool]] = {id: {} for id in graph}
    for id, node in graph.items():
        for needed in node.depends_on:
            if needed in after:
                after[needed].setdefault(id, False)
        for target in targets(node):
            if target in after:
                after[id][target] = True
    return after


def cycles(after: Mapping[str, Mapping[str, bool]]) -> list[Cycle]:
    """Return a cycle for each edge that closes one, in a depth-first search."""
    all_cycles: list[Cycle] = []
    state: dict[str, int] = {}
    for start in after:
        if start in state:
            continue
        state[start] = 1
        path, waiting = [start], [iter(after[start])]
        while path:
            following = next(waiting[-1], None)
            if following is None:
                waiting.pop()
                state[path.pop()] = 2
            elif state.get(following) == 1:
                all_cycles.append(_cycle(path[path.index(following) :], after))
            elif following not in state:
                state[following] = 1
                path.append(following)
                waiting.append(iter(after[following]))
    return all_cycles


def _cycle(ids: list[str], after: Mapping[str, Mapping[str, bool]]) -> Cycle:
    pairs = zip(ids, [*ids[1:], ids[0]], strict=True)
    return Cycle(tuple(ids), next(((one, next_) for one, next_ in pairs if after[one][next_]), None))


class Order:
    """The order of a graph without cycles. Raises graphlib.CycleError for other graphs."""

    def __init__(self, graph: Mapping[str, Node]) -> None:
        self.ids = [*TopologicalSorter(edges_of(graph)).static_order()][::-1]  # its edges lead backwards
        self.index = {id: n for n, id in enumerate(self.ids)}
        self._nodes = [graph[id] for id in self.ids]
        self._needed = [
            [self.index[one] for one in node.depends_on if one in self.index] for node in self._nodes
        ]
        self._activators: list[list[tuple[int, Way]]] = [[] for _ in self.ids]
        for n, node in enumerate(self._nodes):
            for target, how in dict.fromkeys((one.target, one.how) for one in activations(node)):
                if target in self.index:
                    self._activators[self.index[target]].append((n, how))
        self._is_target = [
            bool(self._activators[n]) or isinstance(node, CompensateNode)
            for n, node in enumerate(self._nodes)
        ]
        self.before, self._settled = self._ancestors()

    def bits(self, ids: Iterable[str]) -> int:
        """Return the set of some nodes."""
        return sum(1 << self.index[id] for id in set(ids))

    def certainties(self, questions: Sequence[tuple[str | None, int]]) -> list[bool]:
        """Return for each node and set of nodes whether one of the set has certainly succeeded when the node runs.

        None in place of the node means the end of the workflow.
        """
        indexed = [(None if id is None else self.index[id], some) for id, some in questions]
        indexed = [(at, some if at is None else some & self._settled[at]) for at, some in indexed]
        bit = {some: 1 << n for n, some in enumerate(dict.fromkeys(some for _, some in indexed if some))}
        from_start, when_run = self._certain_sets([*bit])
        return [
            bool(some) and bool((from_start if at is None else from_start | when_run[at]) & bit[some])
            for at, some in indexed
        ]

    def are_exclusive(self, ids: Iterable[str]) -> bool:
        """Return whether at most one of some nodes can succeed."""
        choices = [self._choices[self.index[id]] for id in ids]
        return all(_contradict(dict(one), other) for one, other in combinations(choices, 2))

    def _ancestors(self) -> tuple[list[int], list[int]]:
        """Return for each node its ancestors, and the ancestors that have settled when it runs."""
        before, settled = [0] * len(self.ids), [0] * len(self.ids)
        for n, needed in enumerate(self._needed):
            for one in needed:
                before[n] |= before[one] | 1 << one
                settled[n] |= settled[one] | 1 << one
            by_activation = -1 if self._activators[n] else 0
            for one, _ in self._activators[n]:
                before[n] |= before[one] | 1 << one
                by_activation &= settled[one] | 1 << one
            settled[n] |= by_activation
        return before, settled

    def _fallback(self, n: int) -> int | None:
        return self.index.get(fallback_of(self._nodes[n]) or "")

    def _is_end(self, n: int) -> bool:
        """Return whether a node ends its workflow when it is activated."""
        node = self._nodes[n]
        return isinstance(node, ErrorNode | CompensateNode) and node.when is None and not node.depends_on

    def _certain_sets(self, sets: list[int]) -> tuple[int, list[int]]:
        """Return the sets of which a node has succeeded at the end of the workflow, and when each node runs.

        The answers are bits too, numbered as `sets`: all are found in one pass in each direction.
        """
        count = len(self.ids)
        when_done, when_due, when_run = self._memberships(sets), [0] * count, [0] * count
        from_start = 0
        for n in reversed(range(count)):
            when_done[n] |= self._by_branch(n, when_due)
            if self._nodes[n].when is None:
                fallback = self._fallback(n)
                is_sure = fallback is None or self._is_end(fallback)
                when_due[n] = when_done[n] if is_sure else when_done[n] & when_due[fallback or 0]
            if self._is_target[n]:
                continue
            for one in self._needed[n]:
                when_done[one] |= when_due[n]
            if not self._needed[n]:
                from_start |= when_due[n]
        for n in range(count):
            ways = [
                when_run[one] | (when_done[one] if how == "goto" else 0) for one, how in self._activators[n]
            ] or [when_run[one] | when_done[one] for one in self._needed[n]]
            when_run[n] = reduce(and_, ways) if ways else 0
        return from_start, when_run

    def _memberships(self, sets: list[int]) -> list[int]:
        """Return for each node the sets that it belongs to."""
        members = [0] * len(self.ids)
        for number, some in enumerate(sets):
            while some:
                lowest = some & -some
                members[lowest.bit_length() - 1] |= 1 << number
                some ^= lowest
        return members

    def _by_branch(self, n: int, when_due: list[int]) -> int:
        """Return the sets that are certain on every path of a branch; paths that end the workflow do not count."""
        node = self._nodes[n]
        if not isinstance(node, BranchNode):
            return 0
        ways = [self.index[arm.goto] for arm in node.on if arm.goto in self.index]
        left = [when_due[way] for way in ways if not self._is_end(way)]
        return reduce(and_, left) if left else 0

    @cached_property
    def _choices(self) -> list[Choices]:
        """Return for each node the ways at branches and fallbacks that its success requires."""
        run: list[Choices] = []
        done: list[Choices] = []
        failed = -1
        for n, needed in enumerate(self._needed):
            ways = [
                run[one] | {(one, n if how == "goto" else failed)} for one, how in self._activators[n]
            ] or [done[one] for one in needed]
            run.append(frozenset.intersection(*ways) if ways else frozenset())
            is_chosen = self._fallback(n) is not None and not isinstance(self._nodes[n], BranchNode)
            done.append(run[n] | {(n, n)} if is_chosen else run[n])
        return done


def _contradict(chosen: Mapping[int, int], choices: Choices) -> bool:
    return any(chosen.get(at, choice) != choice for at, choice in choices)
