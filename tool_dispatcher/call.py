"""The life of one unit of a batch, from the plan to its results. Read `Caller.run` first.

    arguments     placeholders filled in, validated; see arguments.py
    once          a write is claimed under its idempotency key; see idempotency/once.py
    cache         a read that was made before, with the same arguments and rights
    alternatives  where the tool keeps failing
    attempts      again where the failure is transient and a second run is safe; see attempt.py for one
    results       without secrets, and cut to size; see outcome.py
    settling      a read in the journal of its batch, a write in the ledger too

What has no permission, or is known not to be valid, never gets here: see handlers.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.clock import monotonic_s
from shared.contract import Contract
from shared.tools import RequestedCall, ToolError, ToolResult
from tool_dispatcher.arguments import Arguments, arguments_of, filled_in, places_named
from tool_dispatcher.attempt import Attempt, Attempts
from tool_dispatcher.batch import Unit, gathered, spread
from tool_dispatcher.batch_run import BatchRun
from tool_dispatcher.cache import ReadCache, digest_of
from tool_dispatcher.failures import tool_error
from tool_dispatcher.fingerprint import fingerprint
from tool_dispatcher.idempotency.ledger import Ledger, Results, Write
from tool_dispatcher.idempotency.once import Means, once
from tool_dispatcher.outcome import Answer, Outcomes
from tool_dispatcher.retrying import with_retries
from tool_dispatcher.substitution import because, mapped, substitutes
from tool_dispatcher.tool import Tool


@dataclass(frozen=True, slots=True)
class Work:
    """One run of one tool: for one call, or for several that its batch variant does at once."""

    unit: Unit
    tool: Tool
    arguments: Arguments
    calls: tuple[RequestedCall, ...]
    batch: BatchRun
    began_s: float

    @property
    def contract(self) -> Contract:
        return self.tool.contract

    @property
    def is_repeatable(self) -> bool:
        """Whether a second run has no second effect. Of a write that another tool may have done nobody knows."""
        return self.contract.is_safe_to_repeat and not (
            self.contract.effect == "write" and self.contract.alternatives
        )


class Caller:
    """Runs the units of batches; one for the whole process."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        ledger: Ledger,
        cache: ReadCache,
        attempts: Attempts,
        outcomes: Outcomes,
    ) -> None:
        self._tools, self._ledger, self._cache = tools, ledger, cache
        self._attempts, self._outcomes = attempts, outcomes

    async def run(self, unit: Unit, batch: BatchRun, known: Sequence[ToolResult | None]) -> Results:
        """A result for each call of the unit, settled. `known` are the batch's results so far, by place."""
        began_s = monotonic_s()
        tool = self._tools[unit.tool]
        calls = tuple(batch.request.calls[place] for place in unit.calls)
        arguments = await self._arguments(unit, tool, calls, batch, known)
        if isinstance(arguments, ToolError):
            return await batch.journal.settle(self._outcomes.of_error(unit.calls, calls, arguments))
        work = Work(unit, tool, arguments, calls, batch, began_s)
        if work.contract.effect == "write":
            return await self._once(work)
        return await batch.journal.settle(await self._results(work, await self._read(work)))

    async def _arguments(
        self,
        unit: Unit,
        tool: Tool,
        calls: Sequence[RequestedCall],
        batch: BatchRun,
        known: Sequence[ToolResult | None],
    ) -> Arguments | ToolError:
        if unit.variant is not None:
            items = [batch.arguments[place].plain for place in unit.calls]
            return arguments_of(tool, gathered(unit.variant, items))
        (place,), (call,) = unit.calls, calls
        if place in batch.arguments:
            return batch.arguments[place]
        return filled_in(call, tool, known, await batch.wholes_of(places_named(call), known))

    async def _once(self, work: Work) -> Results:
        """A write runs under its key, at most once; or what came of it elsewhere is what came of it."""
        batch, contract = work.batch, work.contract
        write = Write(
            session_id=batch.session.session_id,
            key=work.unit.key,
            tool=work.tool.name,
            fingerprint=fingerprint(work.tool.name, work.arguments.plain),
            round=batch.request.round,
            call_ids=tuple(call.id for call in work.calls),
            ttl_s=contract.idempotency_ttl_s,
        )

        async def run(fence: int) -> Results:
            return await self._results(work, await self._answer(work, fence))

        async def results_of(outcome: Any) -> Results:
            return await self._results(work, Answer(outcome))

        async def ask(fence: int) -> Any:
            attempt = Attempt(work.tool, work.arguments, write.key, work.calls[0].id, fence, 1)
            return await self._attempts.reconcile(attempt, batch)

        can_be_asked = work.tool.reconcile is not None and not contract.alternatives
        return await once(
            self._ledger,
            write,
            Means(
                run=run,
                results_of=results_of,
                is_safe_to_repeat=work.is_repeatable,
                wait_s=batch.time_left_s,
                reconcile=ask if can_be_asked else None,
                may_have_begun=batch.attempt > 1,
            ),
        )

    async def _read(self, work: Work) -> Answer:
        """A read is answered from the cache where its contract allows it."""
        batch = work.batch
        digest = digest_of(
            work.tool.name, work.contract, batch.request.tenant, batch.leave.scopes, work.arguments.plain
        )
        if digest is None:
            return await self._answer(work)
        if (cached := await self._cache.get(digest)) is not None:
            return Answer(cached.data)
        answer = await self._answer(work)
        if not answer.substitute:
            self._cache.put(digest, answer.outcome, work.contract.cache_ttl_s)
        return answer

    async def _answer(self, work: Work, fence: int = 0) -> Answer:
        """What the tool answers; or, where it keeps failing, the first of its alternatives that does not fail."""
        outcome = await self._tried(work, work.tool, work.arguments, fence)
        if not isinstance(outcome, ToolError):
            return Answer(outcome)
        failed_too: list[str] = []
        for alternative in substitutes(work.contract, outcome):
            other = self._tools.get(alternative.tool)
            if other is None or other.name in work.batch.leave.barred:
                continue
            arguments = arguments_of(other, mapped(alternative, work.arguments.plain))
            if isinstance(arguments, ToolError):
                continue
            instead = await self._tried(work, other, arguments, fence)
            told = because(work.tool.name, outcome, other.name)
            if not isinstance(instead, ToolError) or instead.error_type == "outcome_unknown":
                return Answer(instead, other.name, told)
            failed_too.append(other.name)
        return Answer(_with_alternatives(outcome, failed_too))

    async def _tried(self, work: Work, tool: Tool, arguments: Arguments, fence: int) -> Any:
        """What came of the last attempt, without secrets."""

        async def make(number: int) -> Any:
            # What a function was given it may have changed; another attempt begins with its own.
            fresh = arguments if number == 1 else arguments_of(tool, arguments.plain)
            if isinstance(fresh, ToolError):
                return fresh
            attempt = Attempt(tool, fresh, work.unit.key, work.calls[0].id, fence, number)
            return await self._attempts.make(attempt, work.batch)

        outcome = await with_retries(make, tool.contract, lambda: work.batch.time_left_s)
        return self._outcomes.without_secrets(outcome)

    async def _results(self, work: Work, answer: Answer) -> Results:
        """One result for each call."""
        answers = [answer]
        if work.unit.variant is not None:
            items = spread(work.unit.variant, work.contract.effect, answer.outcome, len(work.calls))
            answers = [Answer(item, answer.substitute, answer.because) for item in items]
        return tuple(
            [
                await self._outcomes.result(work.batch, work.tool, place, call, one, work.began_s)
                for place, call, one in zip(work.unit.calls, work.calls, answers, strict=True)
            ]
        )


def _with_alternatives(error: ToolError, failed_too: Sequence[str]) -> ToolError:
    if not failed_too:
        return error
    message = f"{error.message} ({', '.join(failed_too)}, asked instead, failed as well.)"
    return tool_error(
        error.error_type,
        message,
        error.suggested_action,
        example_valid_call=error.example_valid_call,
        retry_after_s=error.retry_after_s,
        fields=error.fields,
    )
