"""Checks of conditions and items that need no values. Pure."""

from collections.abc import Iterator

from antiphon_shared.workflows.checks.flow import Condition, Flow
from antiphon_shared.workflows.condition import ConditionFailed, check_pattern
from antiphon_shared.workflows.condition_syntax import Constant, Function, Variable, inner_trees
from antiphon_shared.workflows.items import Range, UnfitItems, fixed_count
from antiphon_shared.workflows.nodes import ForeachNode
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.references import MalformedReference, Reference, read_template


def check_texts(flow: Flow) -> Iterator[Problem]:
    """Yield a problem for each condition that is never a bool, each rejected pattern, and each too long range."""
    for condition in flow.conditions:
        yield from _condition(flow, condition)
    for path, node, items in flow.items:
        yield from _items(flow, path, node, items)
    output = flow.workflow.output
    if isinstance(output, str) and not _is_reference(output):
        why = f"{output[:80]!r} is not one reference"
        yield error((*flow.path, "output"), "bad_output", why, "Write $name, or a map")


def _condition(flow: Flow, condition: Condition) -> Iterator[Problem]:
    path = condition.path
    match condition.tree:
        case Constant(value) if not isinstance(value, bool):
            why = f"the condition is always {condition.text.strip()}"
            yield error(path, "not_a_bool", why, "Compare it with something")
        case Variable(reference) if (type := _param_type(flow, reference)) not in (None, "bool"):
            yield error(path, "not_a_bool", f"{reference} is {type}", "Compare it with something")
        case Function("size"):
            hint = "Compare it, as in size($list) > 0"
            yield error(path, "not_a_bool", "the condition is a number", hint)
    waiting = [condition.tree]
    while waiting:
        one = waiting.pop()
        waiting += inner_trees(one)
        match one:
            case Function("matches", (_, Constant(pattern))):
                try:
                    check_pattern(str(pattern))
                except ConditionFailed as unfit:
                    yield error(path, "bad_pattern", str(unfit))


def _param_type(flow: Flow, reference: Reference) -> str | None:
    """Return the type of the param that a reference names; None for any other reference."""
    param = flow.workflow.params.get(reference.name)
    return param.type if param and not reference.path else None


def _items(flow: Flow, path: Path, node: ForeachNode, items: Reference | Range) -> Iterator[Problem]:
    try:
        count = fixed_count(items)
    except UnfitItems as unfit:
        yield error(path, "bad_items", str(unfit))
        return
    if isinstance(items, Reference) and (type := _param_type(flow, items)) not in (None, "list"):
        why, hint = f"{items} is {type}, but a list is required", "Give a list, or a range(A, B)"
        yield error(path, "bad_items", why, hint)
    if count is not None and count > node.max_iterations:
        why = f"the range has {count:,} items, and max_iterations is {node.max_iterations:,}"
        hint = "Raise max_iterations (up to 10,000), or take a shorter range"
        yield error(path, "too_many_items", why, hint)


def _is_reference(text: str) -> bool:
    try:
        return read_template(text).single_reference is not None
    except MalformedReference:
        return False
