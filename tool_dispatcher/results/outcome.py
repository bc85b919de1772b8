"""From the outcome of a run to one result for each of its calls, without secrets and cut to size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from antiphon_shared.output.validation import ERROR_CHARACTERS_MAX, ERRORS_MAX, Validation, content_digest
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.process.offload import offload
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolOutcome, ToolResult
from antiphon_shared.tools.contract import Contract
from antiphon_shared.values import Json

from tool_dispatcher.batch import failed, spread
from tool_dispatcher.call_log import CallLog
from tool_dispatcher.results.as_json import fit_result
from tool_dispatcher.results.redacted import T, redact_call_secrets, redacted
from tool_dispatcher.running.batch_run import Call
from tool_dispatcher.running.group import Items


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a run, as JSON values or a ToolError, and the alternative tool that ran, if any."""

    outcome: ToolOutcome | Items
    substitute: str = ""
    because: str = ""
    cached_at: datetime | None = None
    """When the read began, if the outcome comes from the cache; else None."""


class Outcomes:
    """The maker of results. A result that is too large to be shown is stored whole, and read by its handle.

    `stored_bytes_max` limits a stored result; None refuses results that are too large to be shown.
    """

    def __init__(self, redactor: Redactor, stored_bytes_max: int | None = None) -> None:
        self._redactor, self._stored_bytes_max = redactor, stored_bytes_max

    def log_of(self, session_id: str, round: int) -> CallLog:
        """Return the log of a batch."""
        return CallLog(session_id, round, self._redactor)

    def without_secrets(self, outcome: T, secrets: Sequence[str] = ()) -> T:
        """Return JSON values or a ToolError, with every secret redacted; `secrets` are those of one call."""
        return redact_call_secrets(secrets, redacted(outcome, self._redactor))

    async def clean(self, outcome: T, secrets: Sequence[str] = ()) -> T:
        """Return the same as `without_secrets`; for a large outcome, a thread does the work."""
        return await offload(self.without_secrets, outcome, secrets)

    def error_results(
        self, indexes: Sequence[int], calls: Sequence[RequestedCall], error: ToolError
    ) -> tuple[ToolResult, ...]:
        """Return the same error for each of the calls."""
        clean = self.without_secrets(error)
        return tuple(failed(index, call, clean) for index, call in zip(indexes, calls, strict=True))

    async def results(self, call: Call, answer: Answer) -> tuple[ToolResult, ...]:
        """Return one result for each requested call; `answer` contains no secrets."""
        outcome, variant = answer.outcome, call.unit.variant
        outcomes: Sequence[ToolOutcome]
        if isinstance(outcome, Items):
            outcomes = outcome.outcomes
        elif variant is None:
            outcomes = (outcome,)
        else:
            outcomes = spread(variant, call.contract.effect, outcome, len(call.requested))
        return tuple(
            [
                await self._result(call, index, requested, answer, item)
                for index, requested, item in zip(call.unit.calls, call.requested, outcomes, strict=True)
            ]
        )

    async def _result(
        self, call: Call, index: int, requested: RequestedCall, answer: Answer, outcome: ToolOutcome
    ) -> ToolResult:
        """Return the result of the call at `index`."""
        validation = verdict(call.contract, call.arguments.plain, outcome)
        handle = ""
        if not isinstance(outcome, ToolError):
            outcome, handle = await self._fitted(call, index, outcome)
        is_error = isinstance(outcome, ToolError)
        return ToolResult(
            index=index,
            call_id=requested.id,
            tool=requested.name,
            status="error" if is_error else "ok",
            data=None if is_error else outcome,
            error=outcome if is_error else None,
            substitute=answer.substitute,
            substitute_because=answer.because,
            handle=handle,
            duration_ms=max(0, milliseconds(monotonic_s() - call.began_s)),
            cached=answer.cached_at is not None,
            cached_at=answer.cached_at,
            validation=validation,
        )

    async def _fitted(self, call: Call, index: int, data: Json) -> tuple[ToolOutcome, str]:
        """Return the part of the data that is shown, or a ToolError, and the handle of the whole if it is larger."""
        batch, contract = call.batch, call.contract
        handle, bytes_max = f"r{batch.request.round}c{index}", batch.shown_size_max(contract)
        fitted = await offload(
            fit_result,
            data,
            contract.effect,
            bytes_max=bytes_max,
            stored_bytes_max=bytes_max if self._stored_bytes_max is None else self._stored_bytes_max,
            handle=handle,
        )
        if isinstance(fitted, ToolError):
            return fitted, ""
        if fitted.whole is None:
            return fitted.data, ""
        await batch.journal.store_complete(handle, fitted.whole)
        if index in batch.needed:
            batch.complete_results[index] = data
        return fitted.data, handle


def verdict(contract: Contract, arguments: Mapping[str, object], outcome: ToolOutcome) -> Validation | None:
    """Return the verdict of a call on the argument that its tool validates; None for a tool without `validates`.

    A tool reports an error by an error, or by `{"valid": false, "errors": [{"property": ..., "message": ...}]}`.
    """
    if not contract.validates:
        return None
    try:
        of = content_digest(arguments.get(contract.validates))
    except (ValueError, TypeError):  # not JSON, so it cannot be an answer of the model
        return None
    if isinstance(outcome, ToolError):
        return Validation(of=of, has_passed=False, errors=(one_line(outcome.message, ERROR_CHARACTERS_MAX),))
    if not isinstance(outcome, Mapping) or outcome.get("valid", True) is True:
        return Validation(of=of, has_passed=True)
    errors = tuple(_error_texts(outcome.get("errors")))[:ERRORS_MAX]
    return Validation(of=of, has_passed=False, errors=errors or ("It is not valid.",))


def _error_texts(errors: Json) -> Iterator[str]:
    for error in errors if isinstance(errors, list) else [errors]:
        if isinstance(error, Mapping):
            name, message = error.get("property", "(the whole)"), error.get("message", "not valid")
            yield one_line(f"Property: {name}, Message: {message}", ERROR_CHARACTERS_MAX)
        elif isinstance(error, str) and error.strip():
            yield one_line(error, ERROR_CHARACTERS_MAX)
