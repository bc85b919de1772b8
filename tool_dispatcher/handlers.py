"""The async shell: plan the batch, run what must run, journal each outcome, answer every call."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from shared.clock import monotonic_s, utc_now
from shared.events import ToolsCompleted, ToolsRequested
from shared.tools import ToolError, ToolResult
from tool_dispatcher.batch import Answered, Settled, Step, ToRun, failed, plan, unknown_outcome
from tool_dispatcher.context import ToolContext
from tool_dispatcher.execute import Call, execute
from tool_dispatcher.failures import error_of, tool_error
from tool_dispatcher.journal import Journal
from tool_dispatcher.settings import ToolDispatcherSettings
from tool_dispatcher.threads import NoThread, Place, Threads
from tool_dispatcher.tool import Tool
from tool_dispatcher.validate import validate


@dataclass(frozen=True, slots=True)
class _Batch:
    """One delivery of a batch."""

    delivery: Delivery
    journal: Journal
    places: asyncio.Semaphore
    ends_s: float
    """When its time is over, on the monotonic clock."""
    result_bytes_max: int
    """What one result may have, so that all of them go into one event."""

    @property
    def time_left_s(self) -> float:
        return self.ends_s - monotonic_s()


class ToolDispatcher:
    """Handlers of everything a tool dispatcher consumes."""

    def __init__(
        self, tools: Mapping[str, Tool], settings: ToolDispatcherSettings, event_bytes_max: int = 4_000_000
    ) -> None:
        self._tools = tools
        self._settings = settings
        self._batch_bytes_max = event_bytes_max * 3 // 4
        self._threads = Threads(settings.threads)

    @property
    def handlers(self) -> Handlers:
        return {ToolsRequested: self.on_tools_requested}

    async def close(self) -> None:
        self._threads.close()

    async def on_tools_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Answer every call of the batch, in the order of the calls."""
        request = delivery.event.data
        assert isinstance(request, ToolsRequested)
        started_s = monotonic_s()
        journal = Journal(session, request.round)
        may_have_begun = delivery.redelivered or delivery.attempt > 0
        steps = plan(request, self._tools, await journal.read() if may_have_begun else {})
        places = asyncio.Semaphore(self._settings.batch_concurrency)
        time_left_s = (request.deadline - utc_now()).total_seconds()
        bytes_max = min(self._settings.result_bytes_max, self._batch_bytes_max // len(request.calls))
        batch = _Batch(delivery, journal, places, started_s + time_left_s, bytes_max)
        results = await _all([self._result(step, batch) for step in steps])
        completed = ToolsCompleted(
            round=request.round, results=tuple(results), duration_ms=_milliseconds_since(started_s)
        )
        return Outcome(events=(completed,))

    async def _result(self, step: Step, batch: _Batch) -> ToolResult:
        match step:
            case Settled(result):
                return result
            case Answered(key, result):
                return await batch.journal.settle(key, result)
            case ToRun():
                async with batch.places:
                    return await self._run(step, batch)

    async def _run(self, step: ToRun, batch: _Batch) -> ToolResult:
        """Run one call and settle it. If it settled elsewhere meanwhile, that outcome counts."""
        started_s = monotonic_s()
        call, tool = step.call, step.tool
        outcome = await self._outcome(step, batch)
        duration_ms = _milliseconds_since(started_s)
        if isinstance(outcome, ToolError):
            result = failed(step.index, call, outcome, duration_ms)
        else:
            result = ToolResult(
                index=step.index,
                call_id=call.id,
                tool=tool.name,
                status="ok",
                data=outcome,
                duration_ms=duration_ms,
            )
        return await batch.journal.settle(call.idempotency_key, result)

    async def _outcome(self, step: ToRun, batch: _Batch) -> Any:
        """What came of a call: JSON values, or a ToolError."""
        tool = step.tool
        try:
            arguments = validate(tool, step.call.arguments)
        except Exception as error:  # noqa: BLE001  # a model's validators are the tool's own code
            return error_of(error, "read")
        if isinstance(arguments, ToolError):
            return arguments
        if batch.time_left_s <= 0:
            return _out_of_time("The session's time was over before the call began; it was not run.")
        if tool.is_async:
            return await self._begin(step, arguments, batch, None)
        try:
            async with self._threads.place(batch.time_left_s) as place:
                return await self._begin(step, arguments, batch, place)
        except NoThread:
            return _out_of_time("No thread came free in time; the call was not run.")

    async def _begin(self, step: ToRun, arguments: dict[str, Any], batch: _Batch, place: Place | None) -> Any:
        call, tool = step.call, step.tool
        if tool.effect == "write" and not await batch.journal.begin(call.idempotency_key):
            return unknown_outcome(call)  # unless the journal holds its outcome: then settling finds it
        timeout_s = max(0.0, min(tool.timeout_s, batch.time_left_s))
        context = ToolContext(
            idempotency_key=call.idempotency_key,
            session_id=batch.delivery.event.subject,
            call_id=call.id,
            attempt=max(batch.delivery.attempt, int(batch.delivery.redelivered)) + 1,
            deadline=utc_now() + timedelta(seconds=timeout_s),
        )
        return await execute(Call(tool, arguments, context, timeout_s, batch.result_bytes_max), place)


async def _all(work: list[Coroutine[Any, Any, ToolResult]]) -> list[ToolResult]:
    """Every result, in order. When one raises, the others are let finish before it does."""
    if len(work) == 1:
        return [await work[0]]
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, ToolResult)]


def _out_of_time(message: str) -> ToolError:
    return tool_error("timeout", message, "Answer from what has been found, and say what is missing.")


def _milliseconds_since(started_s: float) -> int:
    return max(0, round((monotonic_s() - started_s) * 1000))
