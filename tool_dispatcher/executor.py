"""The execution of one batch: it checks and plans the calls, runs the permitted ones, and returns a result for each.

The life of a unit is in running/call.py, that of a write in running/write.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.process.clock import milliseconds, monotonic_s, utc_now
from antiphon_shared.tools.calls import ToolError, ToolResult

from tool_dispatcher.access.gatekeeper import Gatekeeper
from tool_dispatcher.access.permission import hidden_outcome
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import BatchState, Bounds, Plan, advance, begun_elsewhere, plan_batch, start
from tool_dispatcher.journal import Journal, JournaledCalls
from tool_dispatcher.results.outcome import Outcomes
from tool_dispatcher.running.arguments import Arguments, check_ahead, referenced_calls
from tool_dispatcher.running.batch_run import BatchRun
from tool_dispatcher.running.call import Caller
from tool_dispatcher.running.in_flight import UnitsInFlight

_CheckedArguments = Mapping[int, Arguments | ToolError]


@dataclass(slots=True)
class Executed:
    """An executed batch: its plan, its results, and the data for its record."""

    batch: BatchRun
    plan: Plan
    results: tuple[ToolResult, ...] = ()
    begins: list[tuple[int, ...]] = field(default_factory=list)
    """The numbers of the units that began at each step."""
    ends: list[tuple[int, ...]] = field(default_factory=list)
    """The numbers of the units that ended at each step."""
    took_s: float = 0.0

    @property
    def event(self) -> ToolsCompleted:
        return ToolsCompleted.of(self.batch.request.round, self.results, milliseconds(self.took_s))

    def record(self, of: UUID) -> BatchRecord:
        """Return the record, for replays, of the batch that the event with this id requested."""
        state, bounds = self.plan.state, self.plan.bounds
        return BatchRecord.trusted(
            of=of,
            outputs=0,
            kind="batch",
            batch_concurrency=bounds.batch_concurrency,
            collapse_above=bounds.collapse_above,
            settled=dict(state.settled),
            begun=tuple(sorted(state.begun)),
            repeats=tuple(sorted(state.repeats)),
            refused=dict(state.refused),
            barred=tuple(sorted(state.denied)),
            examples={
                result.tool: result.error.example_valid_call
                for result in self.results
                if result.error is not None and result.error.example_valid_call is not None
            },
            filled=dict(sorted(self.batch.filled.items())),
            units=tuple((unit.tool, unit.calls) for unit in self.plan.units),
            begins=tuple(self.begins),
            ends=tuple(self.ends),
        )


class Executor:
    """The executor of batches."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        gatekeeper: Gatekeeper,
        caller: Caller,
        *,
        outcomes: Outcomes,
        bounds: Bounds,
        result_bytes_max: int,
        batch_bytes_max: int,
    ) -> None:
        """Create the executor.

        Args:
            result_bytes_max: the size of one result that a model reads.
            batch_bytes_max: the size of all results of a batch.
        """
        self._tools, self._gatekeeper, self._caller, self._bounds = tools, gatekeeper, caller, bounds
        self._outcomes = outcomes
        self._contracts = {name: tool.contract for name, tool in tools.items()}
        self._variants = {one.batch.tool for one in self._contracts.values() if one.batch is not None}
        self._result_bytes_max, self._batch_bytes_max = result_bytes_max, batch_bytes_max

    async def run(
        self,
        request: ToolsRequested,
        session: SessionStore,
        journal: Journal,
        *,
        attempt: int = 1,
        requested_at_ms: int = 0,
    ) -> Executed:
        """Answer every call, in the order of the calls; see BatchRun for the arguments."""
        began_s = monotonic_s()
        ends_s = began_s + (request.deadline - utc_now()).total_seconds()
        permissions = await self._gatekeeper.permissions(request, session)
        journaled = await journal.journaled_calls(request.calls) if attempt > 1 else JournaledCalls()
        ahead = check_ahead(request.calls, self._tools, permissions.refused)
        batch = BatchRun(
            request=request,
            session=session,
            journal=journal,
            permissions=permissions,
            arguments={index: values for index, values in ahead.items() if isinstance(values, Arguments)},
            ends_s=ends_s,
            log=self._outcomes.log_of(session.session_id, request.round),
            result_bytes_max=self._bytes_max_of(request),
            begun=journaled.begun,
            needed=frozenset([index for call in request.calls for index in referenced_calls(call)]),
            attempt=attempt,
            requested_at_ms=requested_at_ms,
        )
        plan = plan_batch(
            request,
            self._contracts,
            self._bounds,
            await self._state_before_run(batch, ahead, journaled),
            example_of=lambda name: self._tools[name].example,
        )
        executed = Executed(batch, plan)
        await self._run(executed)
        executed.took_s = monotonic_s() - began_s
        return executed

    async def _state_before_run(
        self, batch: BatchRun, ahead: _CheckedArguments, journaled: JournaledCalls
    ) -> BatchState:
        """Return the state of the batch's calls before any of them runs."""
        permissions, calls = batch.permissions, batch.request.calls
        refused = {
            index: self._outcomes.without_secrets(error)
            for index, error in ahead.items()
            if isinstance(error, ToolError)
        }
        for index, error in permissions.refused.items():
            has_run = index in journaled.settled
            refused[index] = hidden_outcome(error, calls[index].name) if has_run else error
        for index in journaled.begun:
            if index in refused or calls[index].name not in self._tools:
                refused[index] = begun_elsewhere(calls[index], refused.get(index))
        return BatchState(
            settled={
                index: result
                for index, result in journaled.settled.items()
                if index not in permissions.refused
            },
            refused=refused,
            begun=journaled.begun,
            denied=[name for name in self._variants if name in permissions.denied],
            repeats=await self._caller.repeats(batch.request, batch.session.session_id, batch.arguments),
        )

    def _bytes_max_of(self, request: ToolsRequested) -> int:
        """Return the maximum size of one result; results of a run, which no model reads, may fill the event."""
        of_event = self._batch_bytes_max // len(request.calls)
        return of_event if request.node else min(self._result_bytes_max, of_event)

    async def _run(self, executed: Executed) -> None:
        """Execute the plan step by step: begin units, settle results, wait for the next unit to end."""
        batch, plan = executed.batch, executed.plan
        async with UnitsInFlight() as running:
            step = start(plan)
            # The journal, which is keyed by id, does not hold these results: another call has the same id.
            if batch.attempt == 1:
                _log(batch, [result for i in sorted(plan.repeated) if (result := plan.answered.get(i))])
            while True:
                executed.begins.append(tuple([unit.number for unit in step.begin]))
                await batch.journal.settle(step.answered)
                _log(batch, step.answered)
                if step.progress.is_done:
                    executed.results = step.progress.results()
                    return
                for unit in step.begin:
                    running.begin(unit, self._caller.run(unit, batch, step.progress.outcomes))
                ended = await running.ended()
                executed.ends.append(tuple([unit.number for unit, _ in ended]))
                for unit, results in ended:
                    _log(batch, results, (batch.request.calls[unit.calls[0]].id, unit.tool))
                step = advance(step.progress, *ended)


def _log(batch: BatchRun, results: Iterable[ToolResult], ran_as: tuple[str, str] | None = None) -> None:
    """Log a line for each call that this worker has settled."""
    batch.log.settled([one for one in results if one.call_id not in batch.journal.lost], ran_as)
