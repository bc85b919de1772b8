"""Checks of conditions and items that need no values. Pure."""

from collections.abc import Iterator

from antiphon_shared.workflows.checks.flow import Flow
from antiphon_shared.workflows.condition import ConditionFailed, check_pattern
from antiphon_shared.workflows.condition_syntax import (
    Constant,
    Function,
    Tree,
    Variable,
    inner_trees,
    read_condition,
)
from antiphon_shared.workflows.condition_tokens import ConditionSyntax
from antiphon_shared.workflows.items import UnfitItems, fixed_count, read_items
from antiphon_shared.workflows.nodes import BranchNode, ForeachNode
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.references import MalformedReference, Reference, read_template


def check_texts(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each condition that is never a bool, each rejected pattern, and each too long range."""
    for _, path, node in flow.nodes():
        if node.when is not None:
            yield from _condition(flow, (*path, "when"), node.when)
        if isinstance(node, BranchNode):
            for n, arm in enumerate(node.on):
                if arm.when is not None:
                    yield from _condition(flow, (*path, "on", n, "when"), arm.when)
        if isinstance(node, ForeachNode):
            yield from _items(flow, (*path, "items"), node)
    output = flow.workflow.output
    if isinstance(output, str) and not _is_reference(output):
        yield error(
            (*flow.path, "output"),
            "bad_output",
            f"{output[:80]!r} is not one reference",
            "Write $name, or a map",
        )


def _condition(flow: Flow, path: Path, text: str) -> Iterator[Problem]:
    try:
        tree = read_condition(text)
    except ConditionSyntax:
        return  # flow.py names it
    if isinstance(tree, Constant) and not isinstance(tree.value, bool):
        yield error(
            path, "not_a_bool", f"the condition is always {text.strip()}", "Compare it with something"
        )
    if isinstance(tree, Variable) and (type := _param_type(flow, tree.reference)) not in (None, "bool"):
        yield error(path, "not_a_bool", f"{tree.reference} is {type}", "Compare it with something")
    if isinstance(tree, Function) and tree.name == "size":
        yield error(path, "not_a_bool", "the condition is a number", "Compare it, as in size($list) > 0")
    waiting: list[Tree] = [tree]
    while waiting:
        one = waiting.pop()
        waiting += inner_trees(one)
        if isinstance(one, Function) and one.name == "matches" and isinstance(one.arguments[1], Constant):
            try:
                check_pattern(str(one.arguments[1].value))
            except ConditionFailed as unfit:
                yield error(path, "bad_pattern", str(unfit))


def _param_type(flow: Flow, reference: Reference) -> str | None:
    """Return the type of the param that a reference names; None for any other reference."""
    param = flow.workflow.params.get(reference.name)
    return param.type if param and not reference.path else None


def _items(flow: Flow, path: Path, node: ForeachNode) -> Iterator[Problem]:
    try:
        items = read_items(node.items)
        count = fixed_count(items)
    except UnfitItems as unfit:
        if _is_readable(node.items):
            yield error(path, "bad_items", str(unfit))
        return
    if isinstance(items, Reference) and (type := _param_type(flow, items)) not in (None, "list"):
        yield error(
            path, "bad_items", f"{items} is {type}, but a list is required", "Give a list, or a range(A, B)"
        )
    if count is not None and count > node.max_iterations:
        yield error(
            path,
            "too_many_items",
            f"the range has {count:,} items, and max_iterations is {node.max_iterations:,}",
            "Raise max_iterations (up to 10,000), or take a shorter range",
        )


def _is_readable(text: str) -> bool:
    try:
        read_items(text)
    except UnfitItems:
        return False  # flow.py names it
    return True


def _is_reference(text: str) -> bool:
    try:
        return read_template(text).single_reference is not None
    except MalformedReference:
        return False
