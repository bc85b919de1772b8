"""Checks of workflows inside workflows: they exist, end, and get their params. Pure."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.values import Json
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.graph import last_nodes
from antiphon_shared.workflows.nodes import ForeachNode, WorkflowNode, YieldNode, parts
from antiphon_shared.workflows.order import Order, cycles, ordered_names
from antiphon_shared.workflows.params import Param
from antiphon_shared.workflows.problem import Path, Problem, error, warning
from antiphon_shared.workflows.references import MalformedReference, read_template
from antiphon_shared.workflows.specification import (
    DEFAULT_TIMEOUT_S,
    DEPTH_MAX,
    NODES_MAX,
    Specification,
    Workflow,
)


def check_sizes(specification: Specification) -> Iterator[Problem]:
    """Yield a problem for each workflow that contains itself, is too deep, or is too large once all is inlined."""
    inside = {name: dict.fromkeys(_called(one), False) for name, one in specification.workflows.items()}
    inside = {name: {one: False for one in called if one in inside} for name, called in inside.items()}
    if loops := cycles(inside):
        for cycle in loops:
            around = " -> ".join((*cycle.ids, cycle.ids[0]))
            path = ("workflows", cycle.ids[0])
            yield error(
                path, "workflow_cycle", f"workflows contain each other: {around}", "Remove one of these calls"
            )
        return

    @cache
    def size(name: str) -> tuple[int, int]:
        """Return the nodes and levels. Its recursion is bounded, as cycles are excluded."""
        workflow = specification.workflows[name]
        own = sum(1 + len(parts(node)) for node in workflow.graph.values())
        called = [size(one) for one in _called(workflow) if one in specification.workflows]
        return own + sum(nodes for nodes, _ in called), 1 + max((levels for _, levels in called), default=0)

    for name in _inner_first(inside):
        nodes, levels = size(name)
        path = ("workflows", name)
        if levels > DEPTH_MAX:
            why = f"it is {levels} workflows deep, more than the limit of {DEPTH_MAX}"
            yield error(path, "too_deep", why, "Call the inner workflows from an outer one")
        if nodes > NODES_MAX:
            why = (
                f"it has {nodes:,} nodes once sub-workflows are inlined, more than the limit of {NODES_MAX:,}"
            )
            yield error(path, "too_large", why, "Use foreach for what repeats, or split it")


def _inner_first(inside: Mapping[str, Mapping[str, bool]]) -> list[str]:
    """Return names so that each comes after those that it contains, which keeps the recursion of `size` shallow."""
    around: dict[str, list[str]] = {name: [] for name in inside}
    for name, called in inside.items():
        for one in called:
            around[one].append(name)
    return ordered_names(around)


def _called(workflow: Workflow) -> list[str]:
    names: list[str] = []
    for node in workflow.graph.values():
        names += [one.workflow for one in (node, *parts(node).values()) if isinstance(one, WorkflowNode)]
    return names


def check_sub_workflows(flow: Flow, orders: Mapping[str, Order | None]) -> Iterator[Problem]:
    """Yield a problem for each call of a workflow that does not exist, or with arguments that do not fit."""
    workflows = flow.specification.workflows
    used = {use.reference.name for use in flow.uses}
    for id, path, node in flow.nodes():
        if not isinstance(node, WorkflowNode):
            continue
        if node.workflow not in workflows:
            hint = did_you_mean(node.workflow, workflows).rstrip(".")
            yield error(
                (*path, "workflow"), "unknown_workflow", f"there is no workflow {node.workflow}", hint
            )
            continue
        called = workflows[node.workflow]
        yield from _args(path, node, called, flow.workflow.params)
        if isinstance(flow.workflow.graph[id], ForeachNode) and _waits_for_people(
            flow.specification, node.workflow
        ):
            yield error(
                (*path, "workflow"),
                "yield_in_foreach",
                f"{node.workflow} waits for a person, and is inside a foreach",
                "Ask before the foreach, or after it",
            )
        if called.timeout_s != DEFAULT_TIMEOUT_S and node.timeout_s is None:
            yield warning(
                (*path, "workflow"),
                "timeout_not_applied",
                f"the timeout_s of {node.workflow} bounds runs of it alone, not this node",
                f"Write timeout_s: {called.timeout_s:g} at the node",
            )
        if (id in used or node.output in used) and _varies(called, orders.get(node.workflow)):
            yield warning(
                (*path, "workflow"),
                "varying_output",
                f"the result of {node.workflow} is that of whichever last node succeeded",
                f"Give {node.workflow} an output",
            )


def _varies(workflow: Workflow, order: Order | None) -> bool:
    last = last_nodes(workflow)
    if workflow.output is not None or order is None or len(last) < 2:
        return False
    return all(order.are_exclusive(one, other) for one, other in combinations(last, 2))


def _waits_for_people(specification: Specification, name: str) -> bool:
    seen, waiting = {name}, [name]
    while waiting:
        workflow = specification.workflows.get(waiting.pop())
        if workflow is None:
            continue
        if any(isinstance(node, YieldNode) for node in workflow.graph.values()):
            return True
        following = [one for one in _called(workflow) if one not in seen]
        seen.update(following)
        waiting += following
    return False


def _args(path: Path, node: WorkflowNode, called: Workflow, own: Mapping[str, Param]) -> Iterator[Problem]:
    for name, value in node.args.items():
        if name not in called.params:
            hint = did_you_mean(name, called.params, "Remove it: the workflow has no params").rstrip(".")
            yield error(
                (*path, "args", name), "unknown_argument", f"{node.workflow} has no param {name}", hint
            )
        elif problem := _problem(called.params[name], value, own):
            yield error(
                (*path, "args", name), "wrong_type", problem, "Correct the value; values are not converted"
            )
    for name, param in called.params.items():
        if param.is_required and name not in node.args:
            yield error((*path, "args"), "missing_argument", f"{node.workflow} needs {name}", f"Add {name}")


def _problem(param: Param, value: Json, own: Mapping[str, Param]) -> str | None:
    if isinstance(value, str) and "$" in value:
        try:
            template = read_template(value)
        except MalformedReference:
            return None
        if template.single_reference is not None:
            source_param = own.get(template.single_reference.name)
            if source_param is None or template.single_reference.path or _fits(source_param.type, param.type):
                return None
            return f"{value} is {source_param.type}, but {param.type} is required"
        if template.references:
            return None if param.type == "str" else f"this is text, but {param.type} is required"
        value = "".join(map(str, template.parts))
    if value is None and not param.is_required:
        return None
    if isinstance(value, list | dict) and "$" in str(value):
        value = [] if isinstance(value, list) else {}
        param = param.model_copy(update={"enum": None})
    return param.problem(value)


def _fits(actual: str, declared: str) -> bool:
    return actual == declared or (actual == "int" and declared == "float")
