"""One write: it is claimed, run and settled.

Read `Writes.once` first, then `Writes._claimed_results`, which decides whether a claimed write may run.

There are two rules. No write runs without a valid claim. And a write that has begun, in any process, runs again
only if a second run has no second effect, or if the tool confirms that the first run had no effect.
"""

from collections.abc import Mapping
from dataclasses import replace

from antiphon_shared import faults
from antiphon_shared.process.offload import offload
from antiphon_shared.tools.calls import ToolOutcome, ToolResult
from antiphon_shared.tools.contract import Repeat

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.reconcile import NoEffect, Reconciled, TookEffect
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.idempotency import answers
from tool_dispatcher.idempotency.claims import Claims, MustRunSingly
from tool_dispatcher.idempotency.identity import fingerprint, identity_of, name_of
from tool_dispatcher.idempotency.port import (
    Claim,
    KeyUsedForAnother,
    LedgerUnavailable,
    SessionStopped,
    WriteLedger,
)
from tool_dispatcher.idempotency.write import Purpose, Results, Write
from tool_dispatcher.results.outcome import Answer, Outcomes
from tool_dispatcher.running.arguments import Arguments
from tool_dispatcher.running.attempt import Attempts
from tool_dispatcher.running.batch_run import Call
from tool_dispatcher.running.cache import OwnWrites
from tool_dispatcher.running.runner import Runner

_PURPOSES: Mapping[Repeat, Purpose] = {"return": "once", "run": "next", "ask": "ask"}


class Writes:
    """The writes of this process. `is_caching` means that reads are cached, so that writes are noted for them."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        ledger: WriteLedger,
        runner: Runner,
        attempts: Attempts,
        outcomes: Outcomes,
        retention_s: float,
        *,
        is_caching: bool,
    ) -> None:
        self._tools, self._ledger, self._outcomes = tools, ledger, outcomes
        self._runner, self._attempts = runner, attempts
        self._retention_s, self._is_caching = retention_s, is_caching

    async def make(self, call: Call) -> Results:
        """Return the settled results of a write; under its key it runs at most once."""
        write = await self._write(call)
        try:
            results = await self.once(call, write)
        except MustRunSingly:
            return await self._one_by_one(call)
        if write.name and any(result.repeated is not None for result in results):
            # The claim of another call has settled them elsewhere.
            return await call.batch.journal.settle(results)
        return results

    async def once(self, call: Call, write: Write) -> Results:
        """Claim and run the write, or wait for its run by another worker; return its results.

        Raises MustRunSingly.
        """
        claims = Claims(
            self._ledger,
            write,
            is_safe_to_repeat=call.contract.is_safe_to_repeat,
            can_reconcile=call.tool.reconcile is not None,
            wait_s=call.batch.time_left_s,
            may_have_begun=call.batch.attempt > 1,
        )
        try:
            while isinstance(claim := await claims.next(), Claim):
                async with claims.renewed(claim):
                    await faults.pass_point("write.claimed")
                    results = await self._claimed_results(claim, claims, call.with_claim(claim))
                    if results is not None:
                        await faults.pass_point("write.settle.before")
                        if await self._ledger.settle(claim, results, *answers.write_end(results)):
                            return results
                        claims.log().warning("write_lost_while_running")
            results = claim.results or await self._results(call, claim.error)
            return results if claim.denied is None else answers.mark_repeated(results, claim.denied)
        except (KeyUsedForAnother, SessionStopped, LedgerUnavailable) as error:
            return await self._results(call, claims.refusal(error))

    async def _claimed_results(self, claim: Claim, claims: Claims, call: Call) -> Results | None:
        """Return the results of a claimed write; None if the claim was lost before the write ran here."""
        # A process that was suspended after its claim must not run a write that another may have taken over.
        if not await claims.is_held(claim):
            return None
        if claim.problem:
            claims.log().warning("write_claim_not_replicated", problem=claim.problem)
            return await self._results(call, answers.not_claimed_error(claim.write, claim.problem, False))
        answer = await self._reconciled(call, claims) if await claims.must_reconcile(claim) else None
        if isinstance(answer, TookEffect):
            return claims.mark_first(await self._results(call, answer.data))
        if answer is None and claims.is_uncertain(claim):
            unknown = answers.unknown_outcome_error(claim.write.tool)
            return claims.mark_first(await self._results(call, unknown))
        if not await claims.is_held(claim):
            return None
        claims.may_have_begun = True
        own_writes = OwnWrites(call.batch.session) if self._is_caching else None
        if own_writes is not None:
            await own_writes.begin(claim.write.key, claim.fence)
        results = await self._outcomes.results(call, await self._runner.answer(call))
        if own_writes is not None and not any(map(answers.is_unknown, results)):
            await own_writes.end(claim.write.key, claim.fence)
        if all(map(answers.is_unknown, results)):
            # Only TookEffect is reliable so early: the request may still be in transit, or a thread running.
            answer = await self._reconciled(call, claims)
            if isinstance(answer, TookEffect):
                results = await self._results(call, answer.data)
        return claims.after_run(claim, results)

    async def _reconciled(self, call: Call, claims: Claims) -> Reconciled:
        """Return the tool's answer about the write; None if the tool does not know or has no `reconcile`."""
        if call.tool.reconcile is None:
            return None
        try:
            answer = await self._attempts.reconcile(call)
        except Exception as error:  # noqa: BLE001  # a tool may raise anything; that counts as "does not know"
            claims.log().warning("reconcile_failed", error=readable(error))
            return None
        if answer is None or isinstance(answer, TookEffect | NoEffect):
            return answer
        claims.log().warning("reconcile_answer_invalid", type=type(answer).__name__)
        return None

    async def _results(self, call: Call, outcome: ToolOutcome) -> Results:
        return await self._outcomes.results(call, Answer(outcome))

    async def _one_by_one(self, call: Call) -> Results:
        """Make the calls of a group one after the other."""
        results: list[ToolResult] = []
        for index, requested in zip(call.unit.calls, call.requested, strict=True):
            unit = replace(call.unit, calls=(index,), tool=requested.name, variant=None)
            results += await self.make(
                call._replace(
                    unit=unit,
                    requested=(requested,),
                    tool=self._tools[requested.name],
                    arguments=call.batch.arguments[index],
                )
            )
        return tuple(results)

    async def _write(self, call: Call) -> Write:
        """Return the write of a call."""
        batch, requested, index = call.batch, call.requested[0], call.unit.calls[0]
        write = Write(
            session_id=batch.session.session_id,
            key=call.unit.key,
            tool=call.tool.name,
            fingerprint="",
            round=batch.request.round,
            call_ids=tuple([one.id for one in call.requested]),
            # The session may run until its deadline, and is then retained.
            ttl_s=max(call.contract.idempotency_ttl_s, batch.time_left_s + self._retention_s),
            format=batch.journal.format,
            requested_at_ms=batch.requested_at_ms,
        )
        if write.key:
            digest = await offload(fingerprint, call.tool.name, call.arguments.plain)
            return replace(write, fingerprint=digest)
        identity = await call_identity(call.tool, call.arguments)
        identities: tuple[str, ...] = (identity,)
        if call.unit.variant is not None:
            pairs = zip(call.unit.calls, call.requested, strict=True)
            identities = tuple(
                [await call_identity(self._tools[one.name], batch.arguments[at]) for at, one in pairs]
            )
        return replace(
            write,
            fingerprint=identity,
            name=name_of(batch.request.tenant, write.session_id, identity),
            identities=identities,
            kind="again" if requested.repeat_of is not None else _PURPOSES[call.contract.repeat],
            index=index,
            is_approved=index in batch.permissions.approved,
        )


async def call_identity(tool: Tool, arguments: Arguments) -> str:
    """Return the identity of a call with these arguments."""
    return await offload(identity_of, tool.name, tool.input_schema, arguments.plain)
