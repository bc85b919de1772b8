"""Whether a recipe makes the calls that it was learned from: a run over their results, decided by the engine. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.params import shown
from antiphon_shared.workflows.specification import Specification

from antiphon.recipes.chain import Made
from antiphon.recipes.values import identity
from antiphon.workflows.dry_run import dry_run
from coordinator.workflows.decide import UnfitParams
from coordinator.workflows.messages import CallTool
from coordinator.workflows.plan import Plan, facts_of


def calls_of(
    specification: Specification, name: str, made: Mapping[str, Made], params: Mapping[str, Any]
) -> dict[str, CallTool]:
    """Return the calls that a workflow makes by their node, in the order in which they begin.

    Args:
        specification: Holds the workflow.
        name: Of the workflow.
        made: For each node the call whose result it gets.
        params: Of the run.

    Raises:
        UnfitParams: A param does not fit.
    """
    tools = {call.tool: facts_of(call.definition) for call in made.values()}
    results = {node: call.result for node, call in made.items()}
    run = dry_run(Plan(compile_graph(specification, name), tools), params, results)
    return {command.path: command for command in run.commands if isinstance(command, CallTool)}


def differences(
    specification: Specification, name: str, made: Mapping[str, Made], params: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what a workflow does otherwise than the session whose calls are `made`, in their order, by node."""
    try:
        calls = calls_of(specification, name, made, params)
    except UnfitParams as unfit:
        yield str(unfit)
        return
    for node, call in made.items():
        if node not in calls:
            yield f"{node} is not called"
        elif calls[node].tool != call.tool:
            yield f"{node} calls {calls[node].tool} and not {call.tool}"
        elif identity(dict(calls[node].arguments)) != identity(call.arguments):
            yield f"{node} is called with {shown(calls[node].arguments)} and not {shown(call.arguments)}"
    yield from (f"{node} is called and was not" for node in calls if node not in made)
    order = {node: n for n, node in enumerate(calls)}
    yield from _out_of_order([(node, call) for node, call in made.items() if node in order], order)


def _out_of_order(made: Sequence[tuple[str, Made]], order: Mapping[str, int]) -> Iterator[str]:
    """Yield calls of which one writes, that were made in one round after the other and would not be."""
    for n, (later, one) in enumerate(made):
        for earlier, other in made[:n]:
            if other.round < one.round and (other.is_write or one.is_write) and order[later] < order[earlier]:
                yield f"{later} is called before {earlier}"
