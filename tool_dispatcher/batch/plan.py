"""The plan of a batch: what runs at once, what waits for what, and what is answered without running. Pure."""

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass

from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Contract
from antiphon_shared.tools.placeholders import Path, Placeholder, find

from tool_dispatcher.batch.answers import (
    Example,
    bad_placeholders,
    failed,
    in_a_circle,
    not_called_yet,
    refused_by_coordinator,
    repeated,
    unknown_tool,
    unusable,
)
from tool_dispatcher.batch.collapse import groups
from tool_dispatcher.batch.dependencies import Gate, Graph, graph_of, knots
from tool_dispatcher.batch.placeholders import named_calls, unreadable
from tool_dispatcher.batch.units import Unit, units_of

_Found = Sequence[tuple[Path, Placeholder]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many units of a batch run at once, and how many calls of one tool are not yet collapsed."""

    batch_concurrency: int
    collapse_above: int = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """All that has to be known of a batch to run it. The nodes of its graph are the calls, then the gates."""

    request: ToolsRequested
    bounds: Bounds
    units: tuple[Unit, ...]
    unit_of: tuple[int, ...]
    """Of each call, the number of its unit."""
    gates: tuple[Gate, ...]
    needs: tuple[tuple[int, ...], ...]
    """Of each node, those that have to be done before it."""
    wanted_by: tuple[tuple[int, ...], ...]
    """The same edges, the other way."""
    lane: tuple[int, ...]
    """Units that run one at a time, in this order."""
    settled: Mapping[int, ToolResult]
    """By call, what the journal has."""
    answered: Mapping[int, ToolResult]
    """By call, why it does not run, where that is known before anything does."""
    begun: Collection[int]
    """Calls that another worker has begun, and whose outcome nobody has noted: nothing stops them any more."""
    repeated: frozenset[int]
    """Calls whose id an earlier one has. The journal goes by id, and holds the earlier one's outcome."""


def plan_batch(
    request: ToolsRequested,
    contracts: Mapping[str, Contract],
    bounds: Bounds,
    *,
    settled: Mapping[int, ToolResult] | None = None,
    refused: Mapping[int, ToolError] | None = None,
    begun: Collection[int] = (),
    barred: Container[str] = (),
    repeats: Collection[int] = (),
    example_of: Callable[[str], Example] = lambda _: None,
) -> Plan:
    """The plan of one batch.

    `settled` is what the journal has of it, by the place of the call. `refused` is why calls must not run,
    whatever was checked beforehand: permission, arguments that are not valid, tools that are gone. It names
    calls whether they have settled or not, since a group's arguments leave the refused ones out. `barred` are
    tools that this session may not run, so that no calls are collapsed onto them. `repeats` are calls of writes that
    an earlier call has made: they come after all writes before them, and are in no group. `example_of` gives valid
    arguments of a tool, for the errors to show.
    """
    calls = request.calls
    placeholders = [list(find(call.arguments)) for call in calls]
    graph = graph_of(calls, contracts, request.succeeded, _named(placeholders), repeats)
    again = _repeated(calls)
    errors = {
        **_errors_in_graph(calls, graph),
        **_errors_in_calls(request, contracts, placeholders, example_of),
        **(refused or {}),
        **{index: repeated(calls[index]) for index in again},
    }
    known = {index: result for index, result in (settled or {}).items() if index not in again}
    apart = again.union(repeats)
    free = [
        i
        for i, call in enumerate(calls)
        if i not in apart and _is_free(call, placeholders[i], contracts.get(call.name))
    ]
    units, unit_of = units_of(
        calls, contracts, groups(request, contracts, free, barred, bounds.collapse_above), errors
    )
    return Plan(
        request=request,
        bounds=bounds,
        units=units,
        unit_of=unit_of,
        gates=graph.gates,
        needs=graph.needs,
        wanted_by=_reversed(graph.needs),
        lane=_lane(units, unit_of, graph.needs, errors),
        settled=known,
        answered={
            index: failed(index, calls[index], errors[index])
            for index in sorted(errors.keys() - known.keys())
        },
        begun=begun,
        repeated=again,
    )


def _errors_in_calls(
    request: ToolsRequested,
    contracts: Mapping[str, Contract],
    placeholders: Sequence[_Found],
    example_of: Callable[[str], Example],
) -> dict[int, ToolError]:
    """Of calls that cannot run, whatever the others do."""
    errors = {}
    offered = sorted(name for name in request.allowed if name in contracts)
    for index, call in enumerate(request.calls):
        if call.refused is not None:
            errors[index] = refused_by_coordinator(call.refused)
        elif call.name not in contracts:
            errors[index] = unknown_tool(call.name, offered)
        elif call.problem is not None:
            errors[index] = unusable(call, call.problem, example_of(call.name))
        elif faults := unreadable(index, placeholders[index], request.calls):
            errors[index] = bad_placeholders(call, faults, example_of(call.name))
    return errors


def _errors_in_graph(calls: Sequence[RequestedCall], graph: Graph) -> dict[int, ToolError]:
    """Of calls that wait for what will never come."""
    errors = {index: not_called_yet(calls[index], needed) for index, needed in graph.missing.items()}
    for knot in knots(graph.needs, range(len(calls))):
        if len(knot) > 1:
            circle = [node for node in knot if node < len(calls)]
            errors |= {index: in_a_circle(index, circle, calls) for index in circle}
    return errors


def _named(placeholders: Sequence[_Found]) -> list[tuple[int, ...]]:
    """By call, the other calls whose results it asks for."""
    count = len(placeholders)
    return [
        tuple(place for place in named_calls(found) if place < count and place != index)
        for index, found in enumerate(placeholders)
    ]


def _is_free(call: RequestedCall, placeholders: _Found, contract: Contract | None) -> bool:
    """Whether it could be one of a group, as far as request and contract tell."""
    is_own = call.repeat_of is not None or (contract is not None and contract.repeat != "return")
    return call.refused is None and call.problem is None and not placeholders and not is_own


def _repeated(calls: Sequence[RequestedCall]) -> frozenset[int]:
    first: dict[str, int] = {}
    return frozenset(index for index, call in enumerate(calls) if first.setdefault(call.id, index) != index)


def _lane(
    units: Sequence[Unit],
    unit_of: Sequence[int],
    needs: Sequence[Sequence[int]],
    must_not_run: Collection[int],
) -> tuple[int, ...]:
    """Units of sequential-only tools: in the order of the calls, but each after those it waits for.

    The calls of a group wait for the same ones, so that all of these are before the first of the group.
    """
    sequential = [
        index
        for index, number in enumerate(unit_of)
        if units[number].is_sequential and index not in must_not_run
    ]
    numbers = (unit_of[node] for (node, *_) in knots(needs, sequential) if node < len(unit_of))
    return tuple(dict.fromkeys(number for number in numbers if units[number].is_sequential))


def _reversed(needs: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    wanted: list[list[int]] = [[] for _ in needs]
    for node, needed in enumerate(needs):
        for other in needed:
            wanted[other].append(node)
    return tuple(map(tuple, wanted))
