"""Checks of references: their targets, the edges to them, and whether their values may be missing. Pure."""

from collections.abc import Iterator

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.checks.flow import Flow, Provider, Use
from antiphon_shared.workflows.graph import last_nodes
from antiphon_shared.workflows.nodes import (
    CompensateNode,
    ErrorNode,
    Node,
    ParallelNode,
    WorkflowNode,
    YieldNode,
)
from antiphon_shared.workflows.order import Order
from antiphon_shared.workflows.params import Param
from antiphon_shared.workflows.problem import Problem, error, warning


def check_references(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each reference that may lack a value. Without an order, only names are checked."""
    order = flow.order
    unsure: list[tuple[Use, list[Provider]]] = []
    for use in dict.fromkeys(flow.uses):
        name = use.reference.name
        if param := flow.workflow.params.get(name):
            if not _leads_to_value(param, use.reference.path):
                why = f"{use.reference} leads into the param {name}, which is {param.type}"
                yield error(use.path, "reference_missing", why, f"Write ${name}")
        elif name not in flow.providers:
            yield _unknown(flow, use)
        elif order and use.kind != "undo":
            providers = flow.providers[name]
            if problem := _edge(order, use, [one.node for one in providers]) or _key(flow, use, providers):
                yield problem
            elif not (use.reference.is_optional or use.kind == "has" or _is_undone(use, providers)):
                unsure.append((use, providers))
    if order:
        yield from _unsure(order, unsure)


def _leads_to_value(param: Param, path: tuple[str | int, ...]) -> bool:
    """Return whether a path may lead to a value in a param."""
    return not path or param.type in ("list", "object") or (param.type == "str" and path == ("length",))


def _unknown(flow: Flow, use: Use) -> Problem:
    name = use.reference.name
    if isinstance(flow.workflow.graph.get(name), CompensateNode | ErrorNode):
        why = f"{name} ends the workflow and has no result"
        return error(use.path, "reference_missing", why, "Refer to another")
    hint = did_you_mean(name, [*flow.workflow.params, *flow.providers])
    return error(use.path, "unknown_reference", f"{use.reference}: there is nothing named {name}", hint)


def _key(flow: Flow, use: Use, providers: list[Provider]) -> Problem | None:
    """Return the problem of a path into a result that never has that key."""
    node = flow.workflow.graph[providers[0].node]
    is_result = use.reference.name in (providers[0].node, getattr(node, "output", None))
    keys = _keys(flow, node)
    if len(providers) > 1 or not is_result or keys is None or not use.reference.path or use.kind == "has":
        return None
    key = str(use.reference.path[0])
    if key in keys:
        return None
    why = f"{use.reference}: the result of {providers[0].node} has no {key}"
    return error(use.path, "reference_missing", why, did_you_mean(key, keys))


def _keys(flow: Flow, node: Node) -> list[str] | None:
    """Return the keys of a node's result, if the workflow declares them."""
    match node:
        case YieldNode():
            return [*node.expects]
        case ParallelNode():
            return [*node.branches]
        case WorkflowNode() if called := flow.specification.workflows.get(node.workflow):
            return [*called.output] if isinstance(called.output, dict) else None
    return None


def _is_undone(use: Use, providers: list[Provider]) -> bool:
    """Return whether a node's own compensation refers to its result, which exists then."""
    return use.kind == "own_undo" and any(one.node == use.node for one in providers)


def _edge(order: Order, use: Use, nodes: list[str]) -> Problem | None:
    """Return the problem of a reference to a node that no edge puts before the referring node."""
    if use.node is None or (use.node in nodes and use.kind == "own_undo"):
        return None
    if use.node in nodes:
        why = f"{use.reference} is a result of {use.node} itself, which does not exist before it has run"
        return error(use.path, "missing_edge", why, "Refer to a node upstream of it")
    is_before = order.bits(nodes) & order.before[order.index[use.node]]
    return None if is_before else _missing_edge(order, use, nodes)


def _unsure(order: Order, unsure: list[tuple[Use, list[Provider]]]) -> Iterator[Problem]:
    """Yield a problem for each reference to a node that may not have succeeded."""
    questions = [
        (use.node, order.bits(one.node for one in providers if not one.is_partial))
        for use, providers in unsure
    ]
    for (use, providers), is_certain in zip(unsure, order.certainties(questions), strict=True):
        if is_certain:
            continue
        when = "when the workflow is done" if use.node is None else f"when {use.node} runs"
        name, rest = use.reference.name, "".join(f".{part}" for part in use.reference.path)
        nodes = " or ".join(one.node for one in providers[:5])
        way_out = f"Write ${{{name}?{rest}}}, which is null then"
        if use.kind == "table":
            way_out = f"Put the query behind {nodes} alone: a table cannot be left out"
        why = f"{use.reference}: {nodes} may not have succeeded {when}"
        yield error(use.path, "may_be_missing", why, way_out)


def _missing_edge(order: Order, use: Use, nodes: list[str]) -> Problem:
    mine = 1 << order.index[str(use.node)]
    later = [id for id in nodes if order.before[order.index[id]] & mine]
    if later:
        why, hint = f"{later[0]} runs after {use.node}", f"Change the order of {use.node} and {later[0]}"
    else:
        why = f"the edge from {nodes[0]} to {use.node} is missing: nothing says that {nodes[0]} runs before"
        hint = f"Add {nodes[0]} to depends_on of {use.node}"
    return error(use.path, "missing_edge", f"{use.reference} is used, and {why}", hint)


def check_unused(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each param and output that nothing refers to."""
    used = {use.reference.name for use in flow.uses}
    for name in flow.workflow.params:
        if name not in used:
            path = (*flow.path, "params", name)
            yield warning(path, "unused", f"nothing uses the param {name}", "Remove it")
    last = last_nodes(flow.workflow) if flow.workflow.output is None else ()
    for name, providers in flow.providers.items():
        if name in flow.workflow.graph or name in used:
            continue
        for one in providers:
            if one.node not in last and one.node not in used:
                yield warning(one.path, "unused", f"nothing uses the output {name}", "Remove it")
