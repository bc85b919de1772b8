"""The execution of a plan as a state machine: results go in; units to begin and answered calls come out. Pure.

    step = start(plan)
    while not step.progress.is_done:
        begin each unit of step.begin; settle each result of step.answered
        when a unit has ended and its results are settled: step = advance(step.progress, (unit, results))
    step.progress.results()

Results are settled before they are passed in: if the batch is taken over after a crash, the journal then holds
every result on which later answers are based.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult

from tool_dispatcher.batch.answers import begun_elsewhere, failed, needs_a_result, needs_another, not_started
from tool_dispatcher.batch.plan import Plan
from tool_dispatcher.batch.units import ConcurrencyLimits, Unit

_DependencyError = Callable[[RequestedCall], ToolError]


class Progress(NamedTuple):
    """The state of a batch under execution."""

    plan: Plan
    outcomes: tuple[ToolResult | None, ...]
    """By call; None while it has no outcome."""
    unanswered: int
    """The number of calls without an outcome."""
    unit_waits: tuple[int, ...]
    """By unit, the number of nodes it still waits for."""
    gate_waits: tuple[int, ...]
    """By gate, the number of calls it still waits for."""
    ready: Mapping[ConcurrencyLimits, tuple[int, ...]]
    """Units outside the sequence that wait only for a free slot, ascending, by the limits they share."""
    running: frozenset[int]
    sequence: tuple[int, ...]
    """The rest of the plan's sequence; its first unit may run."""
    failed_fast: int | None
    """The first failed call of a fail-fast tool."""

    @property
    def is_done(self) -> bool:
        return self.unanswered == 0

    def results(self) -> tuple[ToolResult, ...]:
        """Return one result per call, in the order of the calls. Raises ValueError if any is missing."""
        if not self.is_done:
            raise ValueError(f"{self.unanswered} calls have no result yet; continue until is_done")
        return tuple(result for result in self.outcomes if result is not None)


class Step(NamedTuple):
    """The next actions, and the state after them."""

    progress: Progress
    begin: tuple[Unit, ...]
    """The units to begin."""
    answered: tuple[ToolResult, ...]
    """The results to settle, of calls that do not run."""


def start(plan: Plan) -> Step:
    """Return the first step: it answers calls that cannot run, and begins units that need not wait.

    All known failures are applied before any unit begins: if one write of a batch is invalid, no write may run.
    """
    calls = plan.request.calls
    builder = _StepBuilder(
        Progress(
            plan=plan,
            outcomes=(None,) * len(calls),
            unanswered=len(calls),
            unit_waits=(0,) * len(plan.units),
            gate_waits=tuple(len(gate.calls) for gate in plan.gates),
            ready={},
            running=frozenset(),
            sequence=plan.sequence,
            failed_fast=None,
        ),
        running=frozenset(),
    )
    for index in sorted(plan.settled):
        builder.note(plan.settled[index])
    for index in sorted(plan.answered):
        builder.answer(plan.answered[index])
    builder.count_waits()
    return builder.end()


def advance(progress: Progress, *ended: tuple[Unit, Sequence[ToolResult]]) -> Step:
    """Return the next step after units have ended, each with a result for each of its calls, in their order.

    Settled calls of a group keep the journal's outcome. Raises ValueError if a unit is not running, or if the
    results are not those of its calls.
    """
    running = set(progress.running)
    for unit, results in ended:
        if unit.number not in running:
            raise ValueError(f"unit {unit.number} ({unit.tool}) has not been begun, or has ended before")
        if tuple(result.index for result in results) != unit.calls:
            raise ValueError(
                f"unit {unit.number} ({unit.tool}) answers the calls {unit.calls}, in this order"
            )
        running.remove(unit.number)
    builder = _StepBuilder(progress, frozenset(running))
    for _, results in ended:
        for result in results:
            if progress.outcomes[result.index] is None:
                builder.note(result)
    return builder.end()


class _StepBuilder:
    """The mutable state of a step while it is computed; `running` are the units that have not ended."""

    def __init__(self, progress: Progress, running: frozenset[int]) -> None:
        self._before = progress
        self._running = running
        self._plan = progress.plan
        self._calls = progress.plan.request.calls
        self._outcomes = list(progress.outcomes)
        self._unit_waits = list(progress.unit_waits)
        self._gate_waits = list(progress.gate_waits)
        self._ready = {at_once: list(units) for at_once, units in progress.ready.items()}
        self._failed_fast = progress.failed_fast
        self._noted = 0
        self._answered: list[ToolResult] = []
        self._done_nodes: list[int] = []
        """Nodes that are done, but whose dependents have not been updated yet."""

    def note(self, result: ToolResult) -> None:
        """Record the outcome of a call."""
        index = result.index
        self._outcomes[index] = result
        self._noted += 1
        self._done_nodes.append(index)
        has_failed = result.error is not None and result.error.error_type != "cancelled"
        unit = self._plan.units[self._plan.unit_of[index]]
        if has_failed and self._failed_fast is None and unit.is_fail_fast:
            self._failed_fast = index

    def answer(self, result: ToolResult) -> None:
        """Record the outcome of a call that does not run."""
        self.note(result)
        if result.index not in self._plan.repeated:
            self._answered.append(result)

    def count_waits(self) -> None:
        """Count the nodes that each unit waits for, once, after all outcomes known at the start are recorded."""
        for index, number in enumerate(self._plan.unit_of):
            if self._outcomes[index] is None:
                self._unit_waits[number] += len(self._plan.needs[index])
        for unit in self._plan.units:
            if self._unit_waits[unit.number] == 0:
                self._make_ready(unit)

    def end(self) -> Step:
        """Propagate all consequences and return the step."""
        self._propagate()
        if self._failed_fast is not None and self._before.failed_fast is None:
            self._stop_fail_fast(self._failed_fast)
            self._propagate()
        sequence = self._rest_of_sequence()
        begin = self._begin(sequence)
        progress = Progress(
            plan=self._plan,
            outcomes=tuple(self._outcomes),
            unanswered=self._before.unanswered - self._noted,
            unit_waits=tuple(self._unit_waits),
            gate_waits=tuple(self._gate_waits),
            ready={at_once: tuple(units) for at_once, units in self._ready.items() if units},
            running=self._running.union([unit.number for unit in begin]),
            sequence=sequence,
            failed_fast=self._failed_fast,
        )
        return Step(progress, begin, tuple(sorted(self._answered, key=lambda result: result.index)))

    def _propagate(self) -> None:
        while self._done_nodes:
            node = self._done_nodes.pop()
            dependency_error = self._dependency_error(node)
            for waiting in self._plan.dependents[node]:
                if waiting >= len(self._calls):
                    self._notify_gate(waiting)
                elif self._outcomes[waiting] is None:
                    self._notify_call(waiting, dependency_error)

    def _notify_gate(self, node: int) -> None:
        gate = node - len(self._calls)
        self._gate_waits[gate] -= 1
        if self._gate_waits[gate] == 0:
            self._done_nodes.append(node)

    def _notify_call(self, index: int, dependency_error: _DependencyError | None) -> None:
        if dependency_error is not None:
            call = self._calls[index]
            error = dependency_error(call)
            is_begun = index in self._plan.state.begun
            self.answer(failed(index, call, begun_elsewhere(call, error) if is_begun else error))
            return
        number = self._plan.unit_of[index]
        self._unit_waits[number] -= 1
        if self._unit_waits[number] == 0:
            self._make_ready(self._plan.units[number])

    def _make_ready(self, unit: Unit) -> None:
        if not unit.is_sequential:
            insort(self._ready.setdefault(unit.limits, []), unit.number)

    def _dependency_error(self, node: int) -> _DependencyError | None:
        """Return a function that makes the errors of a node's dependents; None if the node returned what they need."""
        if node >= len(self._calls):
            gate = self._plan.gates[node - len(self._calls)]
            problem = gate.problem(self._calls, self._outcomes)
            if not problem or gate.dependency is None:
                return None
            return partial(needs_another, dependency=gate.dependency, problem=problem)
        result = self._outcomes[node]
        if result is None or result.error is None:
            return None
        return partial(needs_a_result, index=node, other=self._calls[node], error=result.error)

    def _stop_fail_fast(self, cause: int) -> None:
        """Answer every call of a fail-fast tool that has not begun, because of the failed call `cause`."""
        result = self._outcomes[cause]
        assert result is not None
        assert result.error is not None, "only a failure stops others"
        for unit in self._plan.units:
            if not unit.is_fail_fast or unit.number in self._running:
                continue
            for index in unit.calls:
                if self._outcomes[index] is None and index not in self._plan.state.begun:
                    call = self._calls[index]
                    self.answer(
                        failed(index, call, not_started(call, cause, self._calls[cause], result.error))
                    )

    def _rest_of_sequence(self) -> tuple[int, ...]:
        sequence = self._before.sequence
        done = 0
        while done < len(sequence) and self._is_answered(self._plan.units[sequence[done]]):
            done += 1
        return sequence[done:]

    def _begin(self, sequence: tuple[int, ...]) -> tuple[Unit, ...]:
        """Take ready units in the order of their calls, as far as the limits allow."""
        running = self._running
        queues = list(self._ready.items())
        if sequence and sequence[0] not in running and self._unit_waits[sequence[0]] == 0:
            queues.append((self._plan.units[sequence[0]].limits, [sequence[0]]))
        running_by_tool: defaultdict[str, int] = defaultdict(int)
        for number in running:
            _count(self._plan.units[number], running_by_tool)
        begin: list[Unit] = []
        while len(running) + len(begin) < self._plan.bounds.batch_concurrency:
            open_queues = [
                queue
                for bounds, queue in queues
                if queue and all(running_by_tool[name] < count_max for name, count_max in bounds)
            ]
            if not open_queues:
                break
            unit = self._plan.units[min(open_queues, key=itemgetter(0)).pop(0)]
            if not self._is_answered(unit):
                _count(unit, running_by_tool)
                begin.append(unit)
        return tuple(begin)

    def _is_answered(self, unit: Unit) -> bool:
        return all(self._outcomes[index] is not None for index in unit.calls)


def _count(unit: Unit, running_by_tool: defaultdict[str, int]) -> None:
    """Count a running unit against the limits of its tools."""
    for name, _ in unit.limits:
        running_by_tool[name] += 1
