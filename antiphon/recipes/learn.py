"""The learning of a workflow that repeats the calls of sessions. Pure.

A call becomes a node (graph.py), with arguments from the sources that binding.py finds. A read is left out if
no remaining call uses its result, and the answer is not based on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.params import short_json
from antiphon_shared.workflows.recipe import Recipe, schema_hash
from antiphon_shared.workflows.specification import Specification
from antiphon_shared.workflows.validate import problems_of
from antiphon_shared.workflows.write import as_yaml

from antiphon.recipes.binding import bind
from antiphon.recipes.chain import Chain, NotLearnable, SuccessfulCall
from antiphon.recipes.graph import node_names, used_by, workflow_fields
from antiphon.recipes.params import as_name, params_of
from antiphon.recipes.sources import Bound, FromResult, Literal, sources
from antiphon.recipes.values import identity
from antiphon.workflows.dry_run import dry_run
from antiphon.workflows.load import InvalidWorkflow, build
from coordinator.workflows.decide import UnfitParams
from coordinator.workflows.messages import CallTool
from coordinator.workflows.plan import Plan, pinned_tool

DOMAIN = "recipes"


@dataclass(frozen=True, slots=True)
class Learned:
    """A recipe, and the decisions about it."""

    recipe: Recipe
    text: str
    """The workflow file."""
    fixed: tuple[tuple[str, str, Any], ...]
    """Node, argument and value of each fixed value."""
    left_out: tuple[tuple[str, str], ...]
    """Tool and reason of each call that is left out."""


def learn(chains: Sequence[Chain], name: str | None = None) -> Learned:
    """Return the recipe of sessions that made the same calls.

    Args:
        chains: The chain of each session.
        name: The recipe's name; by default made of its calls.

    Raises:
        NotLearnable: No recipe makes the calls of every session; the message says why.
    """
    aligned = _aligned(chains)
    arguments = bind(aligned)
    live = _live(aligned, arguments)
    aligned = [chain.only(live) for chain in aligned]
    bound = [_moved(arguments[index], {index: n for n, index in enumerate(live)}) for index in live]
    calls = aligned[0].calls
    nodes = node_names(calls)
    params = params_of(bound, nodes)
    name = name or _name_of(calls)
    specification = _built(name, workflow_fields(aligned, bound, nodes, params), calls)
    for n, chain in enumerate(aligned):
        made = dict(zip(nodes, chain.calls, strict=True))
        values = {param: one.values[n] for param, one in params.items()}
        for difference in differences(specification, name, made, values):
            raise NotLearnable(f"the recipe would not repeat session {chain.session_id}: {difference}.")
    recipe = Recipe(
        name=name,
        file=specification.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        tools={call.tool: schema_hash(call.definition) for call in calls},
        learned_from=tuple(chain.session_id for chain in chains),
    )
    return Learned(recipe, as_yaml(specification), (*_fixed(nodes, bound),), aligned[0].left_out)


def _aligned(chains: Sequence[Chain]) -> list[Chain]:
    """Return chains of the same tools. Raises NotLearnable."""
    if not _differing(chains):
        return list(chains)
    reduced = [chain.only(_live([chain], bind([chain]))) for chain in chains]
    if why := _differing(reduced):
        raise NotLearnable(
            f"the sessions did not make the same calls: {why}.", hint="Learn from each session separately."
        )
    return reduced


def _differing(chains: Sequence[Chain]) -> str:
    """Return how sessions differ in their tools, and in the names of arguments; empty if they do not."""
    first = chains[0]
    for other in chains[1:]:
        if len(other.calls) != len(first.calls):
            return (
                f"{first.session_id} made {len(first.calls)} relevant calls and {other.session_id} "
                f"{len(other.calls)}"
            )
        for n, (mine, its) in enumerate(zip(first.calls, other.calls, strict=True), 1):
            if mine.tool != its.tool:
                return f"call {n} is {mine.tool} in {first.session_id} and {its.tool} in {other.session_id}"
            if mine.arguments.keys() != its.arguments.keys():
                names = sorted(mine.arguments.keys() ^ its.arguments.keys())
                return f"call {n}, {mine.tool}, has {', '.join(names)} only in one of them"
    return ""


def _live(chains: Sequence[Chain], arguments: Sequence[Mapping[str, Bound]]) -> list[int]:
    """Return the indexes of the calls to keep: writes, calls that the answer is based on, and the calls they use."""
    live = set[int]()
    for n in reversed(range(len(arguments))):
        made = [chain.calls[n] for chain in chains]
        if n in live or made[0].is_write or any(call.is_cited for call in made):
            live |= {n, *used_by(arguments[n])}
    if not live:
        raise NotLearnable("no call of the session was a write or contributed to the answer.")
    return sorted(live)


def _moved(bound: object, indexes: Mapping[int, int]) -> Any:
    match bound:
        case FromResult(call=call, path=path):
            return FromResult(indexes[call], path)
        case dict():
            return {key: _moved(one, indexes) for key, one in bound.items()}
        case list():
            return [_moved(one, indexes) for one in bound]
    return bound


def _built(name: str, workflow: Mapping[str, object], calls: Sequence[SuccessfulCall]) -> Specification:
    """Return the specification. Raises NotLearnable if no file can hold it."""
    try:
        specification = build({"domain": DOMAIN, "version": "1", "workflows": {name: workflow}})
    except InvalidWorkflow as invalid:
        raise NotLearnable(f"the workflow is not valid: {invalid.problems[0]}.") from None
    catalogue = Catalogue(tools=tuple({call.tool: call.definition for call in calls}.values()))
    for problem in problems_of(specification, catalogue):
        if problem.severity == "error":
            raise NotLearnable(f"the workflow does not match its tools: {problem}.")
    read = read_file(as_yaml(specification), name)
    if read.specification != specification:
        why = str(read.problems[0]) if read.problems else "a value cannot be written"
        raise NotLearnable(f"it cannot be written as a workflow file: {why}.")
    return specification


def _fixed(nodes: Sequence[str], by_call: Sequence[Mapping[str, Bound]]) -> Iterator[tuple[str, str, Any]]:
    for node, arguments in zip(nodes, by_call, strict=True):
        for argument, bound in arguments.items():
            values = [one.value for one in sources(bound) if isinstance(one, Literal)]
            yield from ((node, argument, value) for value in values)


def _name_of(calls: Sequence[SuccessfulCall]) -> str:
    """Return a name made of the writes, or of the last call."""
    telling = [call.tool for call in calls if call.is_write] or [calls[-1].tool]
    return as_name("_and_".join(dict.fromkeys(telling)))


def _calls_of(
    specification: Specification, name: str, made: Mapping[str, SuccessfulCall], params: Mapping[str, object]
) -> dict[str, CallTool]:
    """Return the calls that a workflow makes by their node, in the order in which they begin. Raises UnfitParams.

    A node gets the result of its call in `made`.
    """
    tools = {call.tool: pinned_tool(call.definition, call.definition.contract) for call in made.values()}
    results = {node: call.result for node, call in made.items()}
    run = dry_run(Plan(compile_graph(specification, name), tools), params, results)
    return {command.path: command for command in run.commands if isinstance(command, CallTool)}


def differences(
    specification: Specification, name: str, made: Mapping[str, SuccessfulCall], params: Mapping[str, object]
) -> Iterator[str]:
    """Yield the differences of a workflow's calls from the session's calls `made`, in order, by node."""
    try:
        calls = _calls_of(specification, name, made, params)
    except UnfitParams as unfit:
        yield str(unfit)
        return
    for node, call in made.items():
        if node not in calls:
            yield f"{node} is not called"
        elif calls[node].tool != call.tool:
            yield f"{node} calls {calls[node].tool} instead of {call.tool}"
        elif identity(dict(calls[node].arguments)) != identity(call.arguments):
            yield (
                f"{node} is called with {short_json(calls[node].arguments)} instead of {short_json(call.arguments)}"
            )
    yield from (f"{node} is called, but was not called in the session" for node in calls if node not in made)
    order = {node: n for n, node in enumerate(calls)}
    yield from _out_of_order([(node, call) for node, call in made.items() if node in order], order)


def _out_of_order(made: Sequence[tuple[str, SuccessfulCall]], order: Mapping[str, int]) -> Iterator[str]:
    """Yield pairs of calls, one of them a write, that ran in successive rounds and would change their order."""
    for n, (later, one) in enumerate(made):
        for earlier, other in made[:n]:
            if other.round < one.round and (other.is_write or one.is_write) and order[later] < order[earlier]:
                yield f"{later} is called before {earlier}"
