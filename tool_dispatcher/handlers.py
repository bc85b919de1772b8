"""The async shell of a batch: check its calls, plan it, run what may run, answer every call in order.

What happens to one of its units, from the claim of a write to its result, is in running/call.py.
"""

from collections.abc import Iterable, Mapping

from antiphon_shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.process.clock import milliseconds, monotonic_s, utc_now
from antiphon_shared.tools.calls import ToolError, ToolResult

from tool_dispatcher.access.gatekeeper import Gatekeeper, Leave
from tool_dispatcher.access.permission import withheld
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Bounds, Plan, advance, begun_before, plan_batch, start
from tool_dispatcher.batch_record import Course, Known, batch_record
from tool_dispatcher.journal import Journal, Noted
from tool_dispatcher.results.outcome import Outcomes
from tool_dispatcher.running.arguments import Arguments, checked_ahead, places_named
from tool_dispatcher.running.batch_run import BatchRun
from tool_dispatcher.running.call import Caller
from tool_dispatcher.running.under_way import Running


class ToolDispatcher:
    """Handlers of everything a tool dispatcher consumes."""

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
        leave = await self._gatekeeper.leave(request, session)
        noted = await journal.noted(request.calls) if attempt > 1 else Noted()
        ahead = checked_ahead(request.calls, self._tools, leave.refused)
        batch = BatchRun(
            request=request,
            session=session,
            journal=journal,
            leave=leave,
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
            settled={place: result for place, result in noted.settled.items() if place not in leave.refused},
            refused={**invalid, **_told(leave, noted, request), **self._in_doubt(batch, invalid, noted)},
            begun=noted.begun,
            barred=[name for name in self._variants if name in leave.barred],
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
        course = Course()
        results = await self._run(plan, batch, course)
        completed = ToolsCompleted.of(request.round, results, milliseconds(monotonic_s() - began_s))
        return Outcome(
            events=(completed,),
            record=batch_record(delivery.event.id, plan, known, course, results, batch.filled),
        )

    def _bytes_max_of(self, request: ToolsRequested) -> int:
        """What one result may have: of a run, whose results no model reads, all that goes into an event."""
        of_event = self._batch_bytes_max // len(request.calls)
        return of_event if request.node else min(self._result_bytes_max, of_event)

    def _in_doubt(
        self, batch: BatchRun, invalid: Mapping[int, ToolError], noted: Noted
    ) -> dict[int, ToolError]:
        """Writes that another worker has begun, and that nobody can see to here: they may have taken effect."""
        refused = {**invalid, **batch.leave.refused}
        calls = batch.request.calls
        return {
            place: begun_before(calls[place], refused.get(place))
            for place in noted.begun
            if place in refused or calls[place].name not in self._tools
        }

    async def _run(self, plan: Plan, batch: BatchRun, course: Course) -> tuple[ToolResult, ...]:
        """The plan, step by step: begin what may begin, settle what is answered, wait for what ends next."""
        async with Running() as running:
            step = start(plan)
            if batch.attempt == 1:  # no journal can hold these: it goes by id
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
    """A line for each call that was settled here."""
    batch.log.settled([one for one in results if one.call_id not in batch.journal.lost], ran_as)


def _told(leave: Leave, noted: Noted, request: ToolsRequested) -> dict[int, ToolError]:
    """Why calls are refused; of one that has been made all the same, what came of it is not told any more."""
    return {
        place: withheld(error, request.calls[place].name) if place in noted.settled else error
        for place, error in leave.refused.items()
    }
