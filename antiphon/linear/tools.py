"""Batches of calls run within one process, by the contracts of their tools.

The plan is the dispatcher's, and so is its execution: dependencies and placeholders first, parallel-safe
calls together, sequential-only ones one after another, at most `max_concurrency` calls of a tool, fail-fast,
timeouts, retries where a second run is safe, alternatives, permission. Features that need Redis are missing:
a write is not protected against a second run after a crash; rate limits, breakers, slots and caches are not
shared with other processes; large results are refused, not stored; and calls are not collapsed into one of a
batch variant.
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.process.clock import milliseconds, monotonic_s, utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Repeat

from antiphon.linear.writes import SessionWrites
from tool_dispatcher.access.grants import Authorization
from tool_dispatcher.access.permission import ApprovalRule, Terms, is_barred, refusal
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Bounds, Unit, advance, plan_batch, start
from tool_dispatcher.call_log import CallLog
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.idempotency.identity import identity_of, name_of
from tool_dispatcher.idempotency.write import Purpose, Write
from tool_dispatcher.results.as_json import shown
from tool_dispatcher.results.redacted import redacted, without
from tool_dispatcher.running.arguments import Arguments, arguments_of, checked_ahead, filled_in
from tool_dispatcher.running.execute import Call, execute
from tool_dispatcher.running.retrying import with_retries
from tool_dispatcher.running.substitution import because, mapped, substitutes
from tool_dispatcher.running.threads import NoThread, Threads
from tool_dispatcher.running.under_way import Running
from tool_dispatcher.settings import ToolDispatcherSettings

_NEVER_COLLAPSED = 1 << 30


@dataclass(frozen=True, slots=True)
class _Batch:
    """The state that the calls of one batch share."""

    session_id: str
    request: ToolsRequested
    terms: Terms
    arguments: Mapping[int, Arguments | ToolError]
    ends_s: float
    log: CallLog
    keys: Mapping[int, str]
    """The idempotency key, without its ordinal, of each write whose arguments are known."""

    @property
    def time_left_s(self) -> float:
        return max(0.0, self.ends_s - monotonic_s())


class LinearTools:
    """The runner of batches with the tools of `registry`, within the default scopes of `settings`. Close it at the end.

    Approvals are not possible here: a call that needs one is refused.
    """

    def __init__(self, registry: Registry, settings: ToolDispatcherSettings, redactor: Redactor) -> None:
        """Raise ConfigurationError when the settings demand approval of an unknown tool."""
        self._tools, self._settings, self._redactor = registry, settings, redactor
        self._contracts = {name: tool.contract for name, tool in registry.items()}
        self._authorization = Authorization(frozenset(settings.default_scopes))
        self._rule = ApprovalRule(frozenset(settings.approval), settings.approval_after_untrusted)
        if registry:
            self._rule.check(registry)
        self._threads = Threads(settings.threads)
        self._writes = SessionWrites()

    def close(self) -> None:
        """Close the pool of threads."""
        self._threads.close()

    async def run(self, session_id: str, request: ToolsRequested) -> ToolsCompleted:
        """Answer every call of a batch, in the order of the calls. Raises only CancelledError."""
        began_s = monotonic_s()
        terms = Terms.of(request, self._authorization, self._rule, self._contracts)
        refused = {
            place: error
            for place, call in enumerate(request.calls)
            if call.refused is None and call.name in self._contracts
            if (error := refusal(call, self._contracts[call.name], terms)) is not None
        }
        ahead = checked_ahead(request.calls, self._tools, refused)
        ends_s = began_s + (request.deadline - utc_now()).total_seconds()
        log = CallLog(session_id, request.round, self._redactor)
        names = {
            place: self._name(session_id, request, request.calls[place], one)
            for place, one in ahead.items()
            if isinstance(one, Arguments) and self._is_once(request.calls[place])
        }
        batch = _Batch(session_id, request, terms, ahead, ends_s, log, names)
        invalid = {place: self._clean(one) for place, one in ahead.items() if isinstance(one, ToolError)}
        plan = plan_batch(
            request,
            self._contracts,
            Bounds(self._settings.batch_concurrency, _NEVER_COLLAPSED),
            refused={**invalid, **refused},
            repeats=self._repeats(names),
            example_of=lambda name: self._tools[name].example,
        )
        step = start(plan)
        log.settled(result for i in sorted(plan.repeated) if (result := plan.answered.get(i)))
        async with Running() as running:
            while True:
                log.settled(step.answered)
                if step.progress.is_done:
                    break
                for unit in step.begin:
                    running.begin(unit, self._run(unit, batch, step.progress.outcomes))
                ended = await running.ended()
                for unit, results in ended:
                    log.settled(results, (request.calls[unit.calls[0]].id, unit.tool))
                step = advance(step.progress, *ended)
        return ToolsCompleted.of(
            request.round, step.progress.results(), milliseconds(monotonic_s() - began_s)
        )

    async def _run(
        self, unit: Unit, batch: _Batch, known: tuple[ToolResult | None, ...]
    ) -> tuple[ToolResult, ...]:
        """Return the result of the one call of a unit."""
        began_s = monotonic_s()
        (place,) = unit.calls
        call, tool = batch.request.calls[place], self._tools[unit.tool]
        ahead = batch.arguments.get(place)
        arguments = filled_in(call, tool, known, {})[0] if ahead is None else ahead

        def result(outcome: Any, substitute: str = "", why: str = "") -> ToolResult:
            is_error = isinstance(outcome, ToolError)
            return ToolResult(
                index=place,
                call_id=call.id,
                tool=call.name,
                status="error" if is_error else "ok",
                data=None if is_error else outcome,
                error=self._clean(outcome) if is_error else None,
                substitute=substitute,
                substitute_because=why,
                duration_ms=milliseconds(monotonic_s() - began_s),
            )

        if isinstance(arguments, ToolError):
            return (result(arguments),)

        async def run(key: str) -> ToolResult:
            outcome, substitute, why = await self._answer(tool, arguments, call, batch, key)
            return result(
                self._fitted(tool, self._clean(without(arguments.secrets, outcome))), substitute, why
            )

        if tool.contract.effect == "read" or call.idempotency_key is not None:
            request = batch.request
            key = idempotency_key(request.tenant, batch.session_id, request.round, call.id)
            return (await run(call.idempotency_key or key),)
        name = batch.keys.get(place) or self._name(batch.session_id, batch.request, call, arguments)
        write = Write(
            batch.session_id, "", tool.name, "", batch.request.round, (call.id,), 0.0, name=name, place=place
        )
        kinds: dict[Repeat, Purpose] = {"return": "once", "run": "next", "ask": "ask"}
        purpose = "again" if call.repeat_of is not None else kinds[tool.contract.repeat]
        return (await self._writes.once(replace(write, kind=purpose), run, result),)

    def _is_once(self, call: RequestedCall) -> bool:
        contract = self._contracts[call.name]
        is_kept = contract.effect == "write" and contract.repeat != "run"
        return is_kept and call.idempotency_key is None and call.repeat_of is None

    def _name(
        self, session_id: str, request: ToolsRequested, call: RequestedCall, arguments: Arguments
    ) -> str:
        identity = identity_of(call.name, self._tools[call.name].input_schema, arguments.plain)
        return name_of(request.tenant, session_id, identity)

    def _repeats(self, names: Mapping[int, str]) -> set[int]:
        """Return the indexes of writes that an earlier call has made."""
        first: dict[str, int] = {}
        return {
            place
            for place, name in sorted(names.items())
            if first.setdefault(name, place) != place or self._writes.has(name)
        }

    async def _answer(
        self, tool: Tool, arguments: Arguments, call: RequestedCall, batch: _Batch, key: str
    ) -> tuple[Any, str, str]:
        """Return the answer of the tool, or of its first alternative that does not fail.

        Returns the outcome, the alternative's name, and why it was used; the last two are empty for the tool's own
        answer.
        """
        outcome = await self._tried(tool, arguments, call, batch, key)
        if not isinstance(outcome, ToolError):
            return outcome, "", ""
        for alternative in substitutes(tool.contract, outcome):
            other = self._tools.get(alternative.tool)
            if other is None or batch.time_left_s <= 0 or is_barred(other.name, other.contract, batch.terms):
                continue
            theirs = arguments_of(other, mapped(alternative, arguments.plain))
            if isinstance(theirs, ToolError):
                continue
            instead = await self._tried(other, theirs, call, batch, key)
            if not isinstance(instead, ToolError) or instead.error_type == "outcome_unknown":
                return instead, other.name, because(tool.name, self._clean(outcome), other.name)
        return outcome, "", ""

    async def _tried(
        self, tool: Tool, arguments: Arguments, call: RequestedCall, batch: _Batch, key: str
    ) -> Any:
        """Return the outcome of the last attempt."""

        async def attempt(number: int) -> Any:
            fresh = arguments if number == 1 else arguments_of(tool, arguments.plain, arguments.secrets)
            if isinstance(fresh, ToolError):
                return fresh
            async with AsyncExitStack() as held:
                place = None
                try:
                    if not tool.is_async:
                        place = await held.enter_async_context(self._threads.place(batch.time_left_s))
                except NoThread:
                    return _out_of_time(tool)
                if batch.time_left_s <= 0:
                    return _out_of_time(tool)
                timeout_s = min(tool.contract.timeout_s, batch.time_left_s)
                context = _context(call, batch, number, timeout_s, key)
                batch.log.began(call.id, tool.name)
                raised = partial(batch.log.raised, call.id, tool.name, secrets=fresh.secrets)
                made = Call(tool, fresh.given, context, timeout_s, fresh.secrets, raised)
                outcome = await execute(made, place)
                return without(fresh.secrets, outcome)

        return await with_retries(attempt, tool.contract, lambda: batch.time_left_s)

    def _fitted(self, tool: Tool, outcome: Any) -> Any:
        """Return the data, or an error where it is too large to be shown whole."""
        if isinstance(outcome, ToolError):
            return outcome
        most = self._settings.result_bytes_max
        bytes_max = min(most, tool.contract.result_bytes_max or most)
        fitted = shown(outcome, tool.effect, bytes_max=bytes_max, stored_bytes_max=bytes_max, handle="")
        return fitted if isinstance(fitted, ToolError) else fitted.data

    def _clean(self, outcome: Any) -> Any:
        return redacted(outcome, self._redactor)


def _context(call: RequestedCall, batch: _Batch, number: int, timeout_s: float, key: str) -> ToolContext:
    return ToolContext(
        idempotency_key=key,
        session_id=batch.session_id,
        call_id=call.id,
        attempt=number,
        deadline=utc_now() + timedelta(seconds=timeout_s),
        tenant=batch.request.tenant,
    )


def _out_of_time(tool: Tool) -> ToolError:
    return tool_error(
        "timeout",
        f"The session's time was over before {tool.name} began; it was not run.",
        "Answer from what has been found, and say what is missing.",
    )
