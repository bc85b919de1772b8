"""Checks of the keys of one node against each other. Pure."""

from collections.abc import Iterator

from antiphon_shared.workflows.activations import fallback_of
from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.nodes import (
    BranchNode,
    CallNode,
    CompensateNode,
    ErrorNode,
    ForeachNode,
    ParallelNode,
    Part,
    ReasonNode,
    WaitNode,
    WorkflowNode,
    compensate_of,
    has_retries,
)
from antiphon_shared.workflows.params import Param
from antiphon_shared.workflows.problem import Path, Problem, error, warning
from antiphon_shared.workflows.references import MalformedReference, read_template


def check_nodes(flow: Flow) -> Iterator[Problem]:
    """Yield nodes whose keys contradict each other."""
    for id, path, node in flow.nodes():
        around = flow.workflow.graph[id]
        if node is not around and isinstance(node, CallNode | WorkflowNode | ReasonNode):
            yield from _part(path, node, isinstance(around, ForeachNode))
        if has_retries(node) and not isinstance(node, CallNode):
            hint = "Move retry to a call"
            yield error((*path, "on_error", "retry"), "retry", "only calls are retried", hint)
        match node:
            case BranchNode():
                yield from _arms(path, node)
            case WaitNode():
                yield from _wait(path, node)
            case ParallelNode() if node.on_partial_failure == "rollback_all":
                yield from _rollback(flow, path, node)


def _part(path: Path, node: Part, is_step: bool) -> Iterator[Problem]:
    around = "foreach" if is_step else "parallel"
    if node.depends_on:
        hint = f"Put it on the {around} node"
        yield error((*path, "depends_on"), "inner_edge", f"what is inside a {around} begins with it", hint)
    if node.on_error and node.on_error.fallback:
        why = f"nothing inside a {around} has a fallback"
        other = "on_item_error" if is_step else "on_partial_failure"
        hint = f"Use {other}, or a fallback of the {around} node"
        yield error((*path, "on_error", "fallback"), "inner_edge", why, hint)
    if is_step and node.output:
        hint = "Put it on the foreach node: its output is the list"
        yield error((*path, "output"), "step_output", "a step has no output of its own", hint)


def _arms(path: Path, node: BranchNode) -> Iterator[Problem]:
    for n, arm in enumerate(node.on[:-1]):
        if arm.when is None:
            why = "the default comes before other conditions"
            yield error((*path, "on", n), "default_not_last", why, "Put it last")


def _wait(path: Path, node: WaitNode) -> Iterator[Problem]:
    if (node.seconds is None) == (node.until is None):
        yield error(path, "wait", "a wait has either seconds or until", "Give exactly one of them")
    for key in ("seconds", "until"):
        text = getattr(node, key)
        if isinstance(text, str) and not _is_fit(text, key):
            expected = "a number or one reference" if key == "seconds" else "a date-time or one reference"
            yield error((*path, key), "wait", f"{text[:80]!r} is not {expected}", f"Write {expected}")


def _is_fit(text: str, key: str) -> bool:
    try:
        if read_template(text).references:
            return key == "until" or read_template(text).single_reference is not None
    except MalformedReference:
        return True  # flow.py reports it
    return key == "until" and Param(type="str", format="date-time").problem(text) is None


def _rollback(flow: Flow, path: Path, node: ParallelNode) -> Iterator[Problem]:
    target = fallback_of(node)
    fallback = flow.workflow.graph.get(target or "")
    if fallback is not None and not isinstance(fallback, CompensateNode | ErrorNode):
        why = f"{target} is not activated once branches have begun: rollback_all fails the workflow"
        hint = "Write abort or continue in its place, or leave the fallback out"
        yield warning((*path, "on_error", "fallback"), "fallback_not_taken", why, hint)
    is_undone = any(map(compensate_of, flow.specification.nodes_inside(node)))
    if "rollback_all" not in flow.workflow.graph and not is_undone:
        why = "there is no compensate node named rollback_all, and no branch has a compensate of its own"
        hint = "Add the node, or a compensate to the branches that change something"
        yield error((*path, "on_partial_failure"), "nothing_to_roll_back", why, hint)
