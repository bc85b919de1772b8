"""The async shell of a batch: check its calls, plan it, run what may run, return the results in the order of the calls.

The life of one unit, from the claim of a write to its result, is in running/call.py.
"""

from collections.abc import Iterable, Mapping

from antiphon_shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.process.clock import milliseconds, monotonic_s, utc_now
from antiphon_shared.tools.calls import ToolError, ToolResult

from tool_dispatcher.access.gatekeeper import Gatekeeper, Permissions
from tool_dispatcher.access.permission import withheld
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Bounds, Plan, advance, begun_before, plan_batch, start
from tool_dispatcher.batch_record import Known, Trace, batch_record
from tool_dispatcher.journal import Journal, Noted
from tool_dispatcher.results.outcome import Outcomes
from tool_dispatcher.running.arguments import Arguments, checked_ahead, places_named
from tool_dispatcher.running.batch_run import BatchRun
from tool_dispatcher.running.call import Caller
from tool_dispatcher.running.under_way import Running


class ToolDispatcher:
    """The handlers of every event that a tool dispatcher consumes."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        gatekeeper: Gatekeeper,
        caller: Caller,
        outcomes: Outcomes,
        bounds: Bounds,
        result_bytes_max: int,
        event_bytes_max: int,
    ) -> None:
        self._tools, self._gatekeeper, self._caller, self._bounds = tools, gatekeeper, caller, bounds
        self._outcomes = outcomes
        self._contracts = {name: tool.contract for name, tool in tools.items()}
        self._variants = {one.batch.tool for one in self._contracts.values() if one.batch is not None}
        self._result_bytes_max, self._batch_bytes_max = result_bytes_max, event_bytes_max * 3 // 4

    @property
    def handlers(self) -> Handlers:
        return {ToolsRequested: self.on_tools_requested}

    async def on_tools_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Answer every call of the batch, in the order of the calls."""
        request = delivery.event.data
        assert isinstance(request, ToolsRequested)
        began_s = monotonic_s()
        ends_s = began_s + (request.deadline - utc_now()).total_seconds()
        attempt = max(delivery.attempt, int(delivery.redelivered)) + 1
        journal = Journal(session, request.round, delivery.event.format, is_of_run=bool(request.node))
        permissions = await self._gatekeeper.permissions(request, session)
        noted = await journal.noted(request.calls) if attempt > 1 else Noted()
        ahead = checked_ahead(request.calls, self._tools, permissions.refused)
        batch = BatchRun(
            request=request,
            session=session,
            journal=journal,
            permissions=permissions,
            arguments={place: given for place, given in ahead.items() if isinstance(given, Arguments)},
            ends_s=ends_s,
            log=self._outcomes.log_of(session.session_id, request.round),
            result_bytes_max=self._bytes_max_of(request),
            begun=noted.begun,
            named=frozenset(place for call in request.calls for place in places_named(call)),
            attempt=attempt,
            asked_ms=delivery.asked_ms,
        )
        invalid = {
            place: self._outcomes.without_secrets(error)
            for place, error in ahead.items()
            if isinstance(error, ToolError)
        }
        known = Known(
            settled={
                place: result for place, result in noted.settled.items() if place not in permissions.refused
            },
            refused={
                **invalid,
                **_told(permissions, noted, request),
                **self._in_doubt(batch, invalid, noted),
            },
            begun=noted.begun,
            barred=[name for name in self._variants if name in permissions.barred],
            repeats=await self._caller.repeats(request, session.session_id, batch.arguments),
        )
        plan = plan_batch(
            request,
            self._contracts,
            self._bounds,
            settled=known.settled,
            refused=known.refused,
            begun=known.begun,
            barred=known.barred,
            repeats=known.repeats,
            example_of=lambda name: self._tools[name].example,
        )
        course = Trace()
        results = await self._run(plan, batch, course)
        completed = ToolsCompleted.of(request.round, results, milliseconds(monotonic_s() - began_s))
        return Outcome(
            events=(completed,),
            record=batch_record(delivery.event.id, plan, known, course, results, batch.filled),
        )

    def _bytes_max_of(self, request: ToolsRequested) -> int:
        """Return the bytes that one result may have; a run's results, which no model reads, may fill the event."""
        of_event = self._batch_bytes_max // len(request.calls)
        return of_event if request.node else min(self._result_bytes_max, of_event)

    def _in_doubt(
        self, batch: BatchRun, invalid: Mapping[int, ToolError], noted: Noted
    ) -> dict[int, ToolError]:
        """Return an error for each begun write that cannot be resumed here: it may have taken effect."""
        refused = {**invalid, **batch.permissions.refused}
        calls = batch.request.calls
        return {
            place: begun_before(calls[place], refused.get(place))
            for place in noted.begun
            if place in refused or calls[place].name not in self._tools
        }

    async def _run(self, plan: Plan, batch: BatchRun, course: Trace) -> tuple[ToolResult, ...]:
        """Execute the plan step by step: begin units, settle results, wait for the next unit to end."""
        async with Running() as running:
            step = start(plan)
            # These results share the id of another call, and the journal is keyed by id.
            if batch.attempt == 1:
                _log(batch, [result for i in sorted(plan.repeated) if (result := plan.answered.get(i))])
            while True:
                course.began(step.begin)
                await batch.journal.settle(step.answered)
                _log(batch, step.answered)
                if step.progress.is_done:
                    return step.progress.results()
                for unit in step.begin:
                    running.begin(unit, self._caller.run(unit, batch, step.progress.outcomes))
                ended = await running.ended()
                course.ended(ended)
                for unit, results in ended:
                    _log(batch, results, (batch.request.calls[unit.calls[0]].id, unit.tool))
                step = advance(step.progress, *ended)


def _log(batch: BatchRun, results: Iterable[ToolResult], ran_as: tuple[str, str] | None = None) -> None:
    """Log a line for each call that this worker settled."""
    batch.log.settled([one for one in results if one.call_id not in batch.journal.lost], ran_as)


def _told(permissions: Permissions, noted: Noted, request: ToolsRequested) -> dict[int, ToolError]:
    """Return the error of each refused call; for a call that has run all the same, one that withholds its outcome."""
    return {
        place: withheld(error, request.calls[place].name) if place in noted.settled else error
        for place, error in permissions.refused.items()
    }
