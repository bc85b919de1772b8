"""The check that a recipe repeats the calls that it was learned from, by a dry run on their results. Pure."""

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
        specification: The specification with the workflow.
        name: The workflow's name.
        made: For each node the call whose result it gets.
        params: The run's params.

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
    """Yield the differences of a workflow's calls from the session's calls `made`, in order, by node."""
    try:
        calls = calls_of(specification, name, made, params)
    except UnfitParams as unfit:
        yield str(unfit)
        return
    for node, call in made.items():
        if node not in calls:
            yield f"{node} is not called"
        elif calls[node].tool != call.tool:
            yield f"{node} calls {calls[node].tool} instead of {call.tool}"
        elif identity(dict(calls[node].arguments)) != identity(call.arguments):
            yield (f"{node} is called with {shown(calls[node].arguments)} instead of {shown(call.arguments)}")
    yield from (f"{node} is called, but was not called in the session" for node in calls if node not in made)
    order = {node: n for n, node in enumerate(calls)}
    yield from _out_of_order([(node, call) for node, call in made.items() if node in order], order)


def _out_of_order(made: Sequence[tuple[str, Made]], order: Mapping[str, int]) -> Iterator[str]:
    """Yield pairs of calls, one of them a write, that ran in successive rounds and would change their order."""
    for n, (later, one) in enumerate(made):
        for earlier, other in made[:n]:
            if other.round < one.round and (other.is_write or one.is_write) and order[later] < order[earlier]:
                yield f"{later} is called before {earlier}"
