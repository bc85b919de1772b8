"""Checks of names that clash, and of params. Pure."""

from collections.abc import Iterator
from itertools import combinations

from antiphon_shared.workflows.checks.flow import Flow, Provider
from antiphon_shared.workflows.nodes import ForeachNode, ReasonNode, YieldNode
from antiphon_shared.workflows.order import Order
from antiphon_shared.workflows.params import Param
from antiphon_shared.workflows.problem import Path, Problem, error, warning

_RENAME = "Give one of them another name: params, outputs and nodes share one namespace"


def check_names(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each name with two meanings. Without an order, shared outputs are not checked."""
    workflow = flow.workflow
    for name in workflow.params:
        if name in workflow.graph:
            yield error(flow.at(name), "name_clash", f"{name} is a param and a node", _RENAME)
        elif name in flow.providers:
            path = flow.providers[name][0].path
            yield error(path, "name_clash", f"{name} is a param and an output", _RENAME)
    for name, providers in flow.providers.items():
        if name in workflow.graph and (others := [one for one in providers if one.node != name]):
            yield error(others[0].path, "name_clash", f"{name} is a node and the output of another", _RENAME)
        elif name not in workflow.params and (clash := _clash(providers, flow.order)):
            yield clash
    names = {*workflow.params, *workflow.graph, *flow.providers}
    for id, node in workflow.graph.items():
        if isinstance(node, ForeachNode) and node.as_ in names:
            why = f"{node.as_} is the name of an item, and of a param, an output or a node"
            hint = "Give the item another name: it hides nothing"
            yield error((*flow.at(id), "as"), "name_clash", why, hint)


def _clash(providers: list[Provider], order: Order | None) -> Problem | None:
    for one, other in combinations(providers, 2):
        if one.node == other.node:
            return error(other.path, "name_clash", f"two branches of {one.node} have this output", _RENAME)
        if order and not order.are_exclusive((one.node, other.node)):
            why = f"{one.node} and {other.node} have this output, and both can succeed"
            hint = "Only nodes of which one can succeed share an output; rename one"
            return error(other.path, "name_clash", why, hint)
    return None


def check_params(flow: Flow) -> Iterator[Problem]:
    """Yield the problems of params, of the workflow and of its nodes."""
    for name, param in flow.workflow.params.items():
        yield from _param((*flow.path, "params", name), param)
    for _, path, node in flow.nodes():
        if isinstance(node, YieldNode | ReasonNode) and node.expects:
            for name, param in node.expects.items():
                if isinstance(param, Param):
                    yield from _param((*path, "expects", name), param)


def _param(path: Path, param: Param) -> Iterator[Problem]:
    if param.format and param.type != "str":
        why = f"{param.format} is a format of str, not of {param.type}"
        yield error((*path, "format"), "bad_format", why, "Leave it out")
        return
    without_enum = param.model_copy(update={"enum": None})
    for n, value in enumerate(param.enum or ()):
        if problem := without_enum.problem(value):
            yield error((*path, "enum", n), "bad_enum", problem, "Correct the value or the type")
            return
    if param.default is not None:
        if problem := param.problem(param.default):
            yield error((*path, "default"), "bad_default", problem, "Correct the default or the type")
        if param.required:
            why = "a default makes it optional"
            yield warning((*path, "required"), "required_default", why, "Leave `required` out")
    if param.example is not None and (problem := param.problem(param.example)):
        yield warning((*path, "example"), "bad_example", problem, "Correct the example")
