"""Checks of the edges between nodes: their targets, and cycles. Pure."""

from collections.abc import Iterable, Iterator

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.activations import Activation, activations
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.nodes import CompensateNode, ErrorNode
from antiphon_shared.workflows.order import Cycle, cycles, edges_of
from antiphon_shared.workflows.problem import Path, Problem, error, warning

_CYCLE_IDS_MAX = 12


def check_edges(flow: Flow) -> Iterator[Problem]:
    """Yield the problems of the edges of a workflow."""
    graph = flow.workflow.graph
    activated: set[str] = set()
    for id, node in graph.items():
        for n, needed in enumerate(node.depends_on):
            yield from _dependency(flow, (*flow.at(id), "depends_on", n), id, needed)
        yield from _repeated((*flow.at(id), "depends_on"), node.depends_on)
        for one in activations(node):
            activated.add(one.target)
            yield from _target(flow, (*flow.at(id), *one.path), one)
    for id, node in graph.items():
        if isinstance(node, CompensateNode) and id not in activated:
            yield error(
                flow.at(id),
                "unreachable",
                f"nothing activates {id}, and a compensate node runs only when activated",
                "Name it in a goto, a fallback or an on_partial_failure, or remove it",
            )
        if isinstance(node, ErrorNode) and id not in activated and not node.depends_on and node.when is None:
            yield warning(
                flow.at(id),
                "always_fails",
                f"nothing activates {id}, so it runs at once and ends the workflow as failed",
                "Name it in a goto or a fallback, or give it a `when`",
            )
    for cycle in cycles(edges_of(graph)):
        yield _cycle(flow, cycle)


def _dependency(flow: Flow, path: Path, id: str, needed: str) -> Iterator[Problem]:
    graph = flow.workflow.graph
    if needed not in graph:
        yield error(path, "unknown_node", f"there is no node {needed}", _suggest(needed, graph))
    elif isinstance(graph[needed], ErrorNode | CompensateNode):
        yield error(
            path,
            "depends_on_end",
            f"{id} depends on {needed}, which ends the workflow",
            f"Remove {needed}; nothing runs after it",
        )


def _repeated(path: Path, names: tuple[str, ...]) -> Iterator[Problem]:
    for n, name in enumerate(names):
        if name in names[:n]:
            yield warning((*path, n), "repeated", f"{name} is listed twice", "Keep one of them")


def _target(flow: Flow, path: Path, activation: Activation) -> Iterator[Problem]:
    graph, target = flow.workflow.graph, activation.target
    is_partial = activation.how == "partial"
    if target == "rollback_all" and is_partial and target not in graph:
        return  # the nodes' own `compensate` run; nodes.py checks that there is one
    if target not in graph:
        targets = [*(["abort", "continue", "rollback_all"] if is_partial else []), *graph]
        yield error(path, "unknown_node", f"there is no node {target}", _suggest(target, targets))
    elif is_partial and not isinstance(graph[target], CompensateNode):
        yield error(
            path,
            "not_compensate",
            f"{target} is not a compensate node",
            "Name one, or write abort, continue or rollback_all",
        )


def _cycle(flow: Flow, cycle: Cycle) -> Problem:
    ids = [*cycle.ids[:_CYCLE_IDS_MAX], *(["..."] if len(cycle.ids) > _CYCLE_IDS_MAX else []), cycle.ids[0]]
    around = " -> ".join(ids)
    if cycle.activation is None:
        first = cycle.ids[0]
        return error(
            (*flow.at(first), "depends_on"),
            "cycle",
            f"nodes depend on each other in a cycle: {around}",
            "Remove one of these edges",
        )
    by, target = cycle.activation
    way = next(one.path for one in activations(flow.workflow.graph[by]) if one.target == target)
    return error(
        (*flow.at(by), *way),
        "goto_ancestor",
        f"{by} activates {target}, which runs before it: {around}",
        "Activate only later nodes; for a loop use a foreach, for another attempt use on_error.retry",
    )


def _suggest(name: str, candidates: Iterable[str]) -> str:
    return did_you_mean(name, candidates).rstrip(".")
