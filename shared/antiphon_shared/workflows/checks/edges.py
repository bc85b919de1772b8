"""Checks of the edges between nodes: their targets, and cycles. Pure."""

from collections.abc import Iterator

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.activations import Activation, activations
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.nodes import CompensateNode, ErrorNode
from antiphon_shared.workflows.order import Cycle
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
            why = f"nothing activates {id}, and a compensate node runs only when activated"
            hint = "Name it in a goto, a fallback or an on_partial_failure, or remove it"
            yield error(flow.at(id), "unreachable", why, hint)
        if isinstance(node, ErrorNode) and id not in activated and not node.depends_on and node.when is None:
            why = f"nothing activates {id}, so it runs at once and ends the workflow as failed"
            hint = "Name it in a goto or a fallback, or give it a `when`"
            yield warning(flow.at(id), "always_fails", why, hint)
    for cycle in flow.cycles:
        yield _cycle(flow, cycle)


def _dependency(flow: Flow, path: Path, id: str, needed: str) -> Iterator[Problem]:
    graph = flow.workflow.graph
    if needed not in graph:
        yield error(path, "unknown_node", f"there is no node {needed}", did_you_mean(needed, graph))
    elif isinstance(graph[needed], ErrorNode | CompensateNode):
        why = f"{id} depends on {needed}, which ends the workflow"
        yield error(path, "depends_on_end", why, f"Remove {needed}; nothing runs after it")


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
        yield error(path, "unknown_node", f"there is no node {target}", did_you_mean(target, targets))
    elif is_partial and not isinstance(graph[target], CompensateNode):
        hint = "Name one, or write abort, continue or rollback_all"
        yield error(path, "not_compensate", f"{target} is not a compensate node", hint)


def _cycle(flow: Flow, cycle: Cycle) -> Problem:
    ids = [*cycle.ids[:_CYCLE_IDS_MAX], *(["..."] if len(cycle.ids) > _CYCLE_IDS_MAX else []), cycle.ids[0]]
    around = " -> ".join(ids)
    if cycle.activation is None:
        why = f"nodes depend on each other in a cycle: {around}"
        return error((*flow.at(cycle.ids[0]), "depends_on"), "cycle", why, "Remove one of these edges")
    by, target = cycle.activation
    way = next(one.path for one in activations(flow.workflow.graph[by]) if one.target == target)
    why = f"{by} activates {target}, which runs before it: {around}"
    hint = "Activate only later nodes; for a loop use a foreach, for another attempt use on_error.retry"
    return error((*flow.at(by), *way), "goto_ancestor", why, hint)
