"""From the outcome of a run to the results of its calls: without secrets, cut to size, one per call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from antiphon_shared.process.aside import aside
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult

from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import failed
from tool_dispatcher.call_log import CallLog
from tool_dispatcher.results.as_json import shown
from tool_dispatcher.results.redacted import redacted, without
from tool_dispatcher.results.verdict import verdict
from tool_dispatcher.running.batch_run import BatchRun


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run, JSON values or a ToolError; and the tool that gave it, where an alternative did."""

    outcome: Any
    substitute: str = ""
    because: str = ""
    cached_at: datetime | None = None
    """When the read began; None where it does not come from the cache."""


class Outcomes:
    """The maker of results. A result that is too large to be shown is stored whole, and read by its handle."""

    def __init__(self, redactor: Redactor, stored_bytes_max: int) -> None:
        self._redactor, self._stored_bytes_max = redactor, stored_bytes_max

    def log_of(self, session_id: str, round: int) -> CallLog:
        """Return the log of a batch."""
        return CallLog(session_id, round, self._redactor)

    def without_secrets(self, outcome: Any, secrets: Sequence[str] = ()) -> Any:
        """Return JSON values, or a ToolError, with every secret redacted. `secrets` are those of one call."""
        return without(secrets, redacted(outcome, self._redactor))

    async def clean(self, outcome: Any, secrets: Sequence[str] = ()) -> Any:
        """Return the same as `without_secrets`; in a thread where the outcome is large."""
        return await aside(self.without_secrets, outcome, secrets)

    def of_error(
        self, places: Sequence[int], calls: Sequence[RequestedCall], error: ToolError
    ) -> tuple[ToolResult, ...]:
        """Return the same error for each of the calls."""
        clean = self.without_secrets(error)
        return tuple(failed(place, call, clean) for place, call in zip(places, calls, strict=True))

    async def result(
        self,
        batch: BatchRun,
        tool: Tool,
        place: int,
        call: RequestedCall,
        answer: Answer,
        began_s: float,
        arguments: Mapping[str, Any],
    ) -> ToolResult:
        """Return the result of the call at index `place`, which began at `began_s` on the monotonic clock."""
        validation = verdict(tool.contract, arguments, answer.outcome)
        outcome, handle = answer.outcome, ""
        if not isinstance(outcome, ToolError):
            outcome, handle = await self._fitted(batch, tool, place, outcome)
        is_error = isinstance(outcome, ToolError)
        return ToolResult(
            index=place,
            call_id=call.id,
            tool=call.name,
            status="error" if is_error else "ok",
            data=None if is_error else outcome,
            error=outcome if is_error else None,
            substitute=answer.substitute,
            substitute_because=answer.because,
            handle=handle,
            duration_ms=max(0, milliseconds(monotonic_s() - began_s)),
            cached=answer.cached_at is not None,
            cached_at=answer.cached_at,
            validation=validation,
        )

    async def _fitted(self, batch: BatchRun, tool: Tool, place: int, data: Any) -> tuple[Any, str]:
        """Return the shown part of the data, and the handle of the whole where that is more; or a ToolError."""
        contract = tool.contract
        handle = f"r{batch.request.round}c{place}"
        fitted = await aside(
            shown,
            data,
            contract.effect,
            bytes_max=batch.shown_bytes_max(contract),
            stored_bytes_max=self._stored_bytes_max,
            handle=handle,
        )
        if isinstance(fitted, ToolError):
            return fitted, ""
        if fitted.whole is None:
            return fitted.data, ""
        await batch.journal.keep(handle, fitted.whole)
        if place in batch.named:
            batch.wholes[place] = data
        return fitted.data, handle
