"""The life of one unit of a batch, from the plan to its results. Read `Caller.run` first.

    arguments     placeholders replaced, validated; see arguments.py
    once          a write is claimed under its idempotency key; see idempotency/once.py
    cache         a read that was made before, with the same arguments and rights
    alternatives  where the tool keeps failing
    attempts      retried where the failure is transient and a second run is safe; see attempt.py for one attempt, and
                  group.py for calls that run as one
    results       without secrets, and cut to size; see results/outcome.py
    settling      a read in the journal of its batch, a write in the ledger too

Calls without permission, and calls known to be invalid, never get here: see handlers.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.aside import aside
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Contract, Repeat

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Unit, begun_before, gathered, spread
from tool_dispatcher.idempotency.answers import is_unknown
from tool_dispatcher.idempotency.fingerprint import fingerprint
from tool_dispatcher.idempotency.identity import identity_of, name_of
from tool_dispatcher.idempotency.ledger import Claim, Ledger, LedgerUnavailable
from tool_dispatcher.idempotency.once import MustRunSingly, WriteHooks, once
from tool_dispatcher.idempotency.write import Purpose, Results, Write
from tool_dispatcher.results.outcome import Answer, Outcomes
from tool_dispatcher.results.redacted import without
from tool_dispatcher.running.arguments import Arguments, arguments_of, filled_in, places_named
from tool_dispatcher.running.attempt import Attempt, Attempts
from tool_dispatcher.running.batch_run import BatchRun
from tool_dispatcher.running.breakers import GuardedCall
from tool_dispatcher.running.cache import ReadCache, digest_of, is_cached
from tool_dispatcher.running.group import Group, Items
from tool_dispatcher.running.own_writes import OwnWrites
from tool_dispatcher.running.retrying import with_retries
from tool_dispatcher.running.substitution import because, mapped, substitutes


@dataclass(frozen=True, slots=True)
class Work:
    """One run of one tool: for one call, or for several that its batch variant runs at once."""

    unit: Unit
    tool: Tool
    arguments: Arguments
    calls: tuple[RequestedCall, ...]
    batch: BatchRun
    began_s: float

    @property
    def contract(self) -> Contract:
        return self.tool.contract

    def key(self, claim: Claim | None) -> str:
        """Return the idempotency key: a write's is that of its claim, a read's that of its call.

        Nothing is stored under a read's key.
        """
        if claim is not None:
            return claim.write.key
        if self.unit.key:
            return self.unit.key
        request, more = self.batch.request, len(self.calls) - 1
        key = idempotency_key(request.tenant, self.batch.session.session_id, request.round, self.calls[0].id)
        return f"{key}+{more}" if more else key


class Caller:
    """The runner of units; one per process."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        ledger: Ledger,
        cache: ReadCache | None,
        attempts: Attempts,
        outcomes: Outcomes,
        retention_s: float,
    ) -> None:
        self._tools, self._ledger, self._cache = tools, ledger, cache
        self._attempts, self._outcomes, self._retention_s = attempts, outcomes, retention_s
        self._is_caching = cache is not None and any(is_cached(tool.contract) for tool in tools.values())

    async def run(self, unit: Unit, batch: BatchRun, known: Sequence[ToolResult | None]) -> Results:
        """Return a settled result for each call of the unit. `known` are the batch's results so far, by index."""
        began_s = monotonic_s()
        tool = self._tools[unit.tool]
        calls = tuple(batch.request.calls[place] for place in unit.calls)
        arguments = await self._arguments(unit, tool, calls, batch, known)
        if isinstance(arguments, ToolError):
            if not batch.begun.isdisjoint(unit.calls):
                arguments = begun_before(calls[0], arguments)
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
            items = [batch.arguments[place] for place in unit.calls]
            secrets = tuple(secret for item in items for secret in item.secrets)
            together = arguments_of(tool, gathered(unit.variant, [item.plain for item in items]), secrets)
            return _not_together(together, tool, calls) if isinstance(together, ToolError) else together
        (place,), (call,) = unit.calls, calls
        if place in batch.arguments:
            return batch.arguments[place]
        wholes = await batch.wholes_of(places_named(call), known)
        arguments, digest = await aside(filled_in, call, tool, known, wholes)
        if digest:
            batch.filled[place] = digest
        return arguments

    async def repeats(
        self, request: ToolsRequested, session_id: str, arguments: Mapping[int, Arguments]
    ) -> frozenset[int]:
        """Return the indexes of writes that an earlier call of the batch, or of the session, has made.

        Calls that wait for placeholders have no arguments yet; they are checked when they run.
        """
        writes = [place for place, call in enumerate(request.calls) if self._may_be_repeat(call)]
        if len(writes) < 2:
            return frozenset()  # a single write comes after no other, and is in no group
        seen: dict[str, int] = {}
        found = set()
        for place in writes:
            if place in arguments:
                identity = await self._identity(request.calls[place], arguments[place])
                if seen.setdefault(identity, place) != place:
                    found.add(place)
        asked = [(request.calls[place].id, identity) for identity, place in seen.items()]
        try:
            known = await self._ledger.repeats(session_id, request.round, asked) if asked else ()
        except LedgerUnavailable:
            return frozenset(found)  # none of them can be claimed either
        return frozenset(found).union(
            place for place, is_repeat in zip(seen.values(), known, strict=True) if is_repeat
        )

    def _may_be_repeat(self, call: RequestedCall) -> bool:
        tool = self._tools.get(call.name)
        if tool is None or tool.contract.effect == "read" or call.idempotency_key is not None:
            return False
        return tool.contract.repeat != "run" and call.repeat_of is None and call.refused is None

    async def _identity(self, call: RequestedCall, arguments: Arguments) -> str:
        return await aside(identity_of, call.name, self._tools[call.name].input_schema, arguments.plain)

    async def _once(self, work: Work) -> Results:
        """Run a write under its key, at most once; return its outcome, also where another worker ran it."""
        if work.unit.key:
            digest = await aside(fingerprint, work.tool.name, work.arguments.plain)
            return await self._claimed(work, self._write(work, key=work.unit.key, fingerprint=digest))
        schema = work.tool.input_schema
        identity = await aside(identity_of, work.tool.name, schema, work.arguments.plain)
        call, batch = work.calls[0], work.batch
        of_calls: tuple[str, ...] = (identity,)
        if work.unit.variant is not None:
            pairs = zip(work.unit.calls, work.calls, strict=True)
            of_calls = tuple([await self._identity(one, batch.arguments[place]) for place, one in pairs])
        kinds: dict[Repeat, Purpose] = {"return": "once", "run": "next", "ask": "ask"}
        write = self._write(
            work,
            key="",
            fingerprint=identity,
            name=name_of(batch.request.tenant, batch.session.session_id, identity),
            identities=of_calls,
            kind="again" if call.repeat_of is not None else kinds[work.contract.repeat],
            place=work.unit.calls[0],
            is_approved=work.unit.calls[0] in batch.permissions.approved,
        )
        try:
            results = await self._claimed(work, write)
        except MustRunSingly:
            return await self._one_by_one(work)
        if all(result.repeated is None for result in results):
            return results
        return await batch.journal.settle(results)

    async def _one_by_one(self, work: Work) -> Results:
        """Run each call of a group by itself, where the group must not run as one."""
        results: list[ToolResult] = []
        for place, call in zip(work.unit.calls, work.calls, strict=True):
            alone = replace(work.unit, calls=(place,), tool=call.name, variant=None)
            tool, arguments = self._tools[call.name], work.batch.arguments[place]
            results += await self._once(Work(alone, tool, arguments, (call,), work.batch, work.began_s))
        return tuple(results)

    def _write(self, work: Work, **more: Any) -> Write:
        batch = work.batch
        return Write(
            session_id=batch.session.session_id,
            tool=work.tool.name,
            round=batch.request.round,
            call_ids=tuple(call.id for call in work.calls),
            # At least as long as the session may still run, plus its retention.
            ttl_s=max(work.contract.idempotency_ttl_s, batch.time_left_s + self._retention_s),
            format=batch.journal.format,
            asked_ms=batch.asked_ms,
            **more,
        )

    async def _claimed(self, work: Work, write: Write) -> Results:
        batch, contract = work.batch, work.contract

        async def run(claim: Claim) -> Results:
            if not self._is_caching:
                return await self._results(work, await self._answer(work, claim))
            own = OwnWrites(batch.session)
            await own.begin(claim.write.key, claim.fence)
            results = await self._results(work, await self._answer(work, claim))
            if not any(map(is_unknown, results)):
                await own.end(claim.write.key, claim.fence)
            return results

        async def results_of(outcome: Any) -> Results:
            clean = await self._outcomes.clean(outcome, work.arguments.secrets)
            return await self._results(work, Answer(clean))

        async def ask(claim: Claim) -> Any:
            key, fence = claim.write.key, claim.fence
            attempt = Attempt(work.tool, work.arguments, key, work.calls[0].id, 1, fence)
            try:
                return await self._attempts.reconcile(attempt, batch)
            except Exception as error:  # a tool may raise anything; it is logged
                if not work.arguments.secrets:
                    raise
                raise RuntimeError(without(work.arguments.secrets, readable(error))) from None

        return await once(
            self._ledger,
            write,
            WriteHooks(
                run=run,
                results_of=results_of,
                is_safe_to_repeat=contract.is_safe_to_repeat,
                wait_s=batch.time_left_s,
                reconcile=None if work.tool.reconcile is None else ask,
                may_have_begun=batch.attempt > 1,
            ),
        )

    async def _read(self, work: Work) -> Answer:
        """Answer a read from the cache where its contract allows it, else run it and cache the result."""
        digest = await self._digest(work)
        if self._cache is None or digest is None:
            return await self._answer(work)
        if (cached := await self._cache.get(digest)) is not None:
            return Answer(cached.data, cached_at=cached.at)
        begun = utc_now()
        answer = await self._answer(work)
        if not answer.substitute:
            whole = answer.outcome.whole if isinstance(answer.outcome, Items) else answer.outcome
            self._cache.put(digest, whole, begun, work.contract.cache_ttl_s)
        return answer

    async def _digest(self, work: Work) -> str | None:
        """Return the cache key of the read; None when it is not cached."""
        batch = work.batch
        if self._cache is None or not is_cached(work.contract):
            return None
        cache_name = await OwnWrites(batch.session).cache_name()
        if cache_name is None:
            return None
        scopes = batch.permissions.authorization.scopes
        return await aside(
            digest_of, work.tool, batch.request.tenant, scopes, work.arguments.plain, cache_name
        )

    async def _answer(self, work: Work, claim: Claim | None = None) -> Answer:
        """Return the tool's answer; where it keeps failing, that of the first alternative that does not fail."""
        tried = self._tried if work.unit.variant is None else self._tried_as_group
        outcome = await tried(work, work.tool, work.arguments, claim)
        if not isinstance(outcome, ToolError):
            return Answer(outcome)
        failed_too: list[str] = []
        for alternative in substitutes(work.contract, outcome):
            other = self._tools.get(alternative.tool)
            if other is None or other.name in work.batch.permissions.barred or work.batch.time_left_s <= 0:
                continue
            arguments = arguments_of(other, mapped(alternative, work.arguments.plain))
            if isinstance(arguments, ToolError):
                continue
            instead = await self._tried(work, other, arguments, claim)
            told = because(work.tool.name, outcome, other.name)
            if not isinstance(instead, ToolError) or instead.error_type == "outcome_unknown":
                return Answer(instead, other.name, told)
            failed_too.append(other.name)
        return Answer(_with_alternatives(outcome, failed_too))

    async def _tried(self, work: Work, tool: Tool, arguments: Arguments, claim: Claim | None) -> Any:
        """Return the outcome of the last attempt at a single call."""
        with self._attempts.guarded(tool.name) as guard:

            async def make(number: int) -> Any:
                # A function may have changed its arguments; another attempt begins with a fresh copy.
                fresh = arguments if number == 1 else arguments_of(tool, arguments.plain, arguments.secrets)
                return await self._attempt(work, tool, fresh, work.key(claim), claim, number, guard)

            retried = work.batch.retried_by(tool.contract)
            return await with_retries(make, retried, lambda: work.batch.time_left_s)

    async def _tried_as_group(self, work: Work, tool: Tool, arguments: Arguments, claim: Claim | None) -> Any:
        """Return the outcome of calls that run as one: Items, or a ToolError when every attempt failed as a whole."""
        variant = work.unit.variant
        assert variant is not None, "a unit of one call is no group"
        items = arguments.plain[variant.argument]
        contract = work.batch.retried_by(work.contract)
        group = Group(work.unit, contract, work.key(claim), can_be_asked=tool.reconcile is not None)
        with self._attempts.guarded(tool.name) as guard:

            async def make(number: int) -> Any:
                some = gathered(variant, [items[place] for place in group.left])
                fresh = arguments if number == 1 else arguments_of(tool, some, arguments.secrets)
                outcome = await self._attempt(work, tool, fresh, group.key, claim, number, guard)
                return group.note(outcome, number)

            return group.outcome(await with_retries(make, contract, lambda: work.batch.time_left_s))

    async def _attempt(
        self,
        work: Work,
        tool: Tool,
        arguments: Arguments | ToolError,
        key: str,
        claim: Claim | None,
        number: int,
        guard: GuardedCall,
    ) -> Any:
        """Return the outcome of one attempt, without secrets."""
        if isinstance(arguments, ToolError):
            return arguments
        fence = 0 if claim is None else claim.fence
        attempt = Attempt(tool, arguments, key, work.calls[0].id, number, fence, claim, guard)
        outcome = await self._attempts.make(attempt, work.batch)
        return await self._outcomes.clean(outcome, arguments.secrets)

    async def _results(self, work: Work, answer: Answer) -> Results:
        """Return one result per call."""
        outcome, variant = answer.outcome, work.unit.variant
        each: Sequence[Any] = [outcome]
        if isinstance(outcome, Items):
            each = outcome.outcomes
        elif variant is not None:
            each = spread(variant, work.contract.effect, outcome, len(work.calls))
        answers = [replace(answer, outcome=one) for one in each]
        return tuple(
            [
                await self._outcomes.result(
                    work.batch, work.tool, place, call, one, work.began_s, work.arguments.plain
                )
                for place, call, one in zip(work.unit.calls, work.calls, answers, strict=True)
            ]
        )


def _not_together(error: ToolError, variant: Tool, calls: Sequence[RequestedCall]) -> ToolError:
    """Return the error for calls that are valid each, but not accepted together by the batch variant."""
    names = f"{calls[0].name} was to run as one of {len(calls)} by {variant.name}, and was not run."
    return error.model_copy(
        update={
            "message": readable(f"{names} {error.message}"),
            "suggested_action": f"Call {calls[0].name} again with corrected arguments, or fewer times at once.",
            "example_valid_call": None,
        }
    )


def _with_alternatives(error: ToolError, failed_too: Sequence[str]) -> ToolError:
    if not failed_too:
        return error
    message = f"{error.message} ({', '.join(failed_too)}, asked instead, failed as well.)"
    return error.model_copy(update={"message": readable(message)})
