"""Checks of workflows inside workflows: they exist, end, and get their params. Pure."""

from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.values import Json
from antiphon_shared.workflows.checks.arguments import NOT_CONVERTED, Source, source_of
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.graph import last_nodes
from antiphon_shared.workflows.nodes import ForeachNode, WorkflowNode, YieldNode
from antiphon_shared.workflows.order import cycles
from antiphon_shared.workflows.params import Param
from antiphon_shared.workflows.problem import Path, Problem, error, warning
from antiphon_shared.workflows.specification import (
    DEFAULT_TIMEOUT_S,
    DEPTH_MAX,
    NODES_MAX,
    Specification,
    Workflow,
)


def check_sizes(specification: Specification) -> Iterator[Problem]:
    """Yield a problem for each workflow that contains itself, is too deep, or is too large once all is inlined."""
    workflows = specification.workflows
    inside = {
        name: {called: False for called in _called(one) if called in workflows}
        for name, one in workflows.items()
    }
    if loops := cycles(inside):
        for cycle in loops:
            why = f"workflows contain each other: {' -> '.join((*cycle.ids, cycle.ids[0]))}"
            yield error(("workflows", cycle.ids[0]), "workflow_cycle", why, "Remove one of these calls")
        return
    sizes: dict[str, tuple[int, int]] = {}
    for name in TopologicalSorter(inside).static_order():
        called = [sizes[one] for one in _called(workflows[name]) if one in workflows]
        nodes = sum(1 for _ in workflows[name].nodes()) + sum(count for count, _ in called)
        levels = 1 + max((depth for _, depth in called), default=0)
        sizes[name] = nodes, levels
        path = ("workflows", name)
        if levels > DEPTH_MAX:
            why = f"it is {levels} workflows deep, more than the limit of {DEPTH_MAX}"
            yield error(path, "too_deep", why, "Call the inner workflows from an outer one")
        if nodes > NODES_MAX:
            limit = f"more than the limit of {NODES_MAX:,}"
            why = f"it has {nodes:,} nodes once sub-workflows are inlined, {limit}"
            yield error(path, "too_large", why, "Use foreach for what repeats, or split it")


def _called(workflow: Workflow) -> list[str]:
    return [node.workflow for node in workflow.nodes() if isinstance(node, WorkflowNode)]


def check_sub_workflows(flow: Flow, flows: Mapping[str, Flow]) -> Iterator[Problem]:
    """Yield a problem for each call of a workflow that does not exist, or with arguments that do not fit."""
    used = {use.reference.name for use in flow.uses}
    for id, path, node in flow.nodes():
        if not isinstance(node, WorkflowNode):
            continue
        name, here = node.workflow, (*path, "workflow")
        if name not in flows:
            yield error(here, "unknown_workflow", f"there is no workflow {name}", did_you_mean(name, flows))
            continue
        called = flows[name].workflow
        yield from _args(path, node, called, flow.workflow.params)
        inside = flow.specification.nodes_inside(node)
        if isinstance(flow.workflow.graph[id], ForeachNode) and any(
            isinstance(one, YieldNode) for one in inside
        ):
            why = f"{name} waits for a person, and is inside a foreach"
            yield error(here, "yield_in_foreach", why, "Ask before the foreach, or after it")
        if called.timeout_s != DEFAULT_TIMEOUT_S and node.timeout_s is None:
            why = f"the timeout_s of {name} bounds runs of it alone, not this node"
            yield warning(
                here, "timeout_not_applied", why, f"Write timeout_s: {called.timeout_s:g} at the node"
            )
        if (id in used or node.output in used) and _varies(flows[name]):
            why = f"the result of {name} is that of whichever last node succeeded"
            yield warning(here, "varying_output", why, f"Give {name} an output")


def _varies(flow: Flow) -> bool:
    last = last_nodes(flow.workflow)
    if flow.workflow.output is not None or flow.order is None or len(last) < 2:
        return False
    return flow.order.are_exclusive(last)


def _args(path: Path, node: WorkflowNode, called: Workflow, own: Mapping[str, Param]) -> Iterator[Problem]:
    for name, value in node.args.items():
        if name not in called.params:
            why = f"{node.workflow} has no param {name}"
            hint = did_you_mean(name, called.params, "Remove it: the workflow has no params")
            yield error((*path, "args", name), "unknown_argument", why, hint)
        elif problem := _problem(called.params[name], value, own):
            yield error((*path, "args", name), "wrong_type", problem, NOT_CONVERTED)
    for name, param in called.params.items():
        if param.is_required and name not in node.args:
            yield error((*path, "args"), "missing_argument", f"{node.workflow} needs {name}", f"Add {name}")


def _problem(param: Param, value: Json, own: Mapping[str, Param]) -> str | None:
    if isinstance(value, str):
        source = source_of(value, own)
        if isinstance(source, Source):
            is_fit = source.type in (None, param.type) or (source.type, param.type) == ("int", "float")
            return None if is_fit else f"{source}, but {param.type} is required"
        value = source
    if value is None and not param.is_required:
        return None
    if isinstance(value, list | dict) and "$" in str(value):
        value = [] if isinstance(value, list) else {}
        param = param.model_copy(update={"enum": None})
    return param.problem(value)
