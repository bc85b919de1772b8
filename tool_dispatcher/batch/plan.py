"""The plan of a batch: its units, their dependencies, and the calls that are answered without running. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Contract
from antiphon_shared.tools.placeholders import Path, Placeholder, find

from tool_dispatcher.batch.answers import (
    Example,
    bad_placeholders,
    cycle_error,
    failed,
    not_called_yet,
    refused_by_coordinator,
    repeated_id_error,
    unknown_tool,
    unusable_arguments,
)
from tool_dispatcher.batch.collapse import groups
from tool_dispatcher.batch.dependencies import Gate, Graph, find_cycles, graph_of
from tool_dispatcher.batch.placeholders import referenced_indexes, unreadable
from tool_dispatcher.batch.units import Unit, units_of

_PathsAndPlaceholders = Sequence[tuple[Path, Placeholder]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a batch: the units that run at once, and the calls of one tool that are not yet collapsed."""

    batch_concurrency: int
    collapse_above: int = 3


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch's calls before any of them runs; calls are named by their index."""

    settled: Mapping[int, ToolResult] = field(default_factory=dict)
    """The outcomes in the journal."""
    refused: Mapping[int, ToolError] = field(default_factory=dict)
    """The errors of earlier checks, for settled calls too, as a group's arguments omit the refused."""
    begun: Collection[int] = ()
    """Calls that another worker has begun and whose outcome is not in the journal: they can no longer be stopped."""
    denied: Collection[str] = ()
    """Batch variants that this session may not run, so that no calls are collapsed onto them."""
    repeats: Collection[int] = ()
    """Writes that an earlier call has made; they come after all writes before them, and in no group."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a batch. The nodes of its graph are the calls, then the gates."""

    request: ToolsRequested
    bounds: Bounds
    state: BatchState
    units: tuple[Unit, ...]
    unit_of: tuple[int, ...]
    """By call, the number of its unit."""
    gates: tuple[Gate, ...]
    needs: tuple[tuple[int, ...], ...]
    """By node, the nodes that must be done before it."""
    dependents: tuple[tuple[int, ...], ...]
    """The same edges, reversed."""
    sequence: tuple[int, ...]
    """Units that run one at a time, in this order."""
    settled: Mapping[int, ToolResult]
    """By call, the outcome that the journal holds; repeated ids are excluded."""
    answered: Mapping[int, ToolResult]
    """By call, the error of a call that is known from the start not to run."""
    repeated: frozenset[int]
    """Calls with the id of an earlier call. The journal is keyed by id, and holds the earlier call's outcome."""


def plan_batch(
    request: ToolsRequested,
    contracts: Mapping[str, Contract],
    bounds: Bounds,
    state: BatchState = BatchState(),
    example_of: Callable[[str], Example] = lambda _: None,
) -> Plan:
    """Return the plan of one batch; `example_of` returns valid arguments of a tool, for its errors."""
    calls, repeats = request.calls, state.repeats
    placeholders = [list(find(call.arguments)) for call in calls]
    graph = graph_of(calls, contracts, request.succeeded, _calls_needed(placeholders), repeats)
    repeated = _repeated(calls)
    errors = {
        **_errors_in_graph(calls, graph),
        **_errors_in_calls(request, contracts, placeholders, example_of),
        **state.refused,
        **{index: repeated_id_error(calls[index]) for index in repeated},
    }
    outcomes = {index: result for index, result in state.settled.items() if index not in repeated}
    groupable = _groupable(calls, contracts, placeholders, repeated.union(repeats))
    call_groups = groups(request, contracts, groupable, state.denied, bounds.collapse_above)
    units, unit_of = units_of(calls, contracts, call_groups, errors)
    return Plan(
        request=request,
        bounds=bounds,
        state=state,
        units=units,
        unit_of=unit_of,
        gates=graph.gates,
        needs=graph.needs,
        dependents=_reversed(graph.needs),
        sequence=_sequence(units, unit_of, graph.needs, errors),
        settled=outcomes,
        answered={n: failed(n, calls[n], errors[n]) for n in sorted(errors.keys() - outcomes.keys())},
        repeated=repeated,
    )


def _errors_in_calls(
    request: ToolsRequested,
    contracts: Mapping[str, Contract],
    placeholders: Sequence[_PathsAndPlaceholders],
    example_of: Callable[[str], Example],
) -> dict[int, ToolError]:
    """Return the errors of calls that cannot run, independent of the other calls."""
    errors = {}
    offered = sorted(name for name in request.allowed if name in contracts)
    for index, call in enumerate(request.calls):
        if call.refused is not None:
            errors[index] = refused_by_coordinator(call.refused)
        elif call.name not in contracts:
            errors[index] = unknown_tool(call.name, offered)
        elif call.problem is not None:
            errors[index] = unusable_arguments(call, call.problem, example_of(call.name))
        elif problems := unreadable(index, placeholders[index], request.calls):
            errors[index] = bad_placeholders(call, problems, example_of(call.name))
    return errors


def _errors_in_graph(calls: Sequence[RequestedCall], graph: Graph) -> dict[int, ToolError]:
    """Return the errors of calls that wait for a missing dependency or for themselves."""
    errors = {index: not_called_yet(calls[index], needed) for index, needed in graph.missing.items()}
    for cycle in find_cycles(graph.needs, range(len(calls))) if any(graph.needs) else ():
        if len(cycle) > 1:
            cycle_calls = [node for node in cycle if node < len(calls)]
            errors |= {index: cycle_error(index, cycle_calls, calls) for index in cycle_calls}
    return errors


def _calls_needed(placeholders: Sequence[_PathsAndPlaceholders]) -> list[tuple[int, ...]]:
    """Return, by call, the other calls whose results it needs."""
    count = len(placeholders)
    return [
        tuple([other for other in referenced_indexes(call_placeholders) if other < count and other != index])
        if call_placeholders
        else ()
        for index, call_placeholders in enumerate(placeholders)
    ]


def _groupable(
    calls: Sequence[RequestedCall],
    contracts: Mapping[str, Contract],
    placeholders: Sequence[_PathsAndPlaceholders],
    excluded: Collection[int],
) -> list[int]:
    """Return the calls that may be in a group, according to the request and the contracts.

    They are not refused by the coordinator, and have usable arguments without placeholders.
    """
    groupable = []
    for index, call in enumerate(calls):
        contract = contracts.get(call.name)
        runs_singly = call.repeat_of is not None or (contract is not None and contract.repeat != "return")
        is_usable = call.refused is None and call.problem is None and not placeholders[index]
        if is_usable and not runs_singly and index not in excluded:
            groupable.append(index)
    return groupable


def _repeated(calls: Sequence[RequestedCall]) -> frozenset[int]:
    first: dict[str, int] = {}
    return frozenset(index for index, call in enumerate(calls) if first.setdefault(call.id, index) != index)


def _sequence(
    units: Sequence[Unit],
    unit_of: Sequence[int],
    needs: Sequence[Sequence[int]],
    must_not_run: Collection[int],
) -> tuple[int, ...]:
    """Return the units of sequential-only tools in the order of their calls, but each after the units it waits for.

    The calls of a group wait for the same units, so all of these come before the first call of the group.
    """
    sequential = [
        index
        for index, number in enumerate(unit_of)
        if units[number].is_sequential and index not in must_not_run
    ]
    if not sequential:
        return ()
    numbers = (unit_of[node] for (node, *_) in find_cycles(needs, sequential) if node < len(unit_of))
    return tuple(dict.fromkeys(number for number in numbers if units[number].is_sequential))


def _reversed(needs: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    dependents: list[list[int]] = [[] for _ in needs]
    for node, needed in enumerate(needs):
        for other in needed:
            dependents[other].append(node)
    return tuple(map(tuple, dependents))
