"""The successive claims of one write, or its answer if it does not run here."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import structlog
from antiphon_shared import faults
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.calls import ToolError
from redis.exceptions import RedisError

from tool_dispatcher.idempotency import answers
from tool_dispatcher.idempotency.port import (
    Claim,
    ClaimNotReplicated,
    KeyUsedForAnother,
    LedgerUnavailable,
    SessionStopped,
    WriteLedger,
)
from tool_dispatcher.idempotency.write import DeniedClaim, Results, Write, WriteStatus

_PAUSE_S_MIN = 0.01
_PAUSE_S_MAX = 0.5
_PAUSE_GROWTH = 1.5


class MustRunSingly(Exception):
    """The calls of a group must not run as one, because one of them began, or was answered, as a single call."""


@dataclass(frozen=True, slots=True)
class AnsweredWrite:
    """The answer of a write that does not run here: the results of its run, or an error for each of its calls."""

    results: Results = ()
    error: ToolError | None = None
    denied: DeniedClaim | None = None
    """The identical write of another call, if its result answers this call."""


class Claims:
    """The claims of one write by one call: a second claim follows only a lost one."""

    def __init__(
        self,
        ledger: WriteLedger,
        write: Write,
        *,
        is_safe_to_repeat: bool,
        can_reconcile: bool,
        wait_s: float,
        may_have_begun: bool,
    ) -> None:
        """Create the claims of one write.

        Args:
            is_safe_to_repeat: whether a second run with the same key has no second effect.
            can_reconcile: whether the tool can report if a write took effect.
            wait_s: how long to wait for the outcome of another worker's run, in seconds.
            may_have_begun: whether another worker may have begun the write before.
        """
        self._ledger, self._write = ledger, write
        self._is_safe_to_repeat, self._can_reconcile = is_safe_to_repeat, can_reconcile
        self._ends_s = monotonic_s() + wait_s
        self.may_have_begun = may_have_begun
        self._has_claimed = False
        self._first: DeniedClaim | None = None
        """The identical write of another call, if this call has taken it over."""

    async def next(self) -> Claim | AnsweredWrite:
        """Return the right to run the write, or its answer; wait while another worker runs it.

        Raises KeyUsedForAnother, SessionStopped, LedgerUnavailable and MustRunSingly.
        """
        if self._has_claimed:
            return await self._follow()
        await faults.pass_point("write.claim.before")
        claim = await (self._by_identity() if self._write.name else self._ledger.claim(self._write))
        if claim is None:
            claim = await self._follow()
        elif isinstance(claim, Claim) and not claim.has_begun:
            self._write, self.may_have_begun = claim.write, False
        self._has_claimed = True
        return claim

    async def _by_identity(self) -> Claim | AnsweredWrite | None:
        """Claim the write by its identity, as in sessions of format 2.

        Returns the answer of an identical write, or None if this write has a record whose status must be read.
        """
        pause_s = _PAUSE_S_MIN
        while True:
            reply = await self._ledger.begin(self._write)
            if isinstance(reply, Claim):
                return reply
            match reply.verdict:
                case "recorded":
                    self._write = replace(self._write, key=reply.key)
                    return None
                case "repeated" | "between" if self._write.kind == "ask":
                    return AnsweredWrite(
                        error=answers.approval_needed_error(self._write, reply), denied=reply
                    )
                case "repeated":
                    first = answers.repeated_result(self._write, reply)
                    if isinstance(first, ToolError):
                        return AnsweredWrite(error=first, denied=reply)
                    return AnsweredWrite((first,), denied=reply)
                case "between":
                    return AnsweredWrite(error=answers.write_between_error(self._write, reply), denied=reply)
                case "split":
                    raise MustRunSingly
                case "stopped":
                    return AnsweredWrite(error=answers.cancelled_session_error(self._write))
                case "unsettled":
                    if self._write.kind == "again":
                        return AnsweredWrite(error=answers.not_approved_error(self._write, reply))
                    if (outcome := await self._identical_write(reply, pause_s)) is not None:
                        return outcome
                    pause_s = min(pause_s * _PAUSE_GROWTH, _PAUSE_S_MAX)

    async def _identical_write(self, denied: DeniedClaim, pause_s: float) -> Claim | AnsweredWrite | None:
        """Return a claim on the identical write of another call, or its outcome; None to decide again.

        Waits for a moment if that write is in progress.
        """
        self.may_have_begun = True
        identical = replace(self._write, key=denied.key)
        status = await self._ledger.status(identical)
        # If that write was part of a group, the arguments of the other calls are not known here.
        is_single_call = denied.key.startswith(f"{self._write.name}/")
        if status.state == "in_progress":
            if not await self._has_waited(pause_s, status):
                return AnsweredWrite(error=answers.still_running_error(self._write), denied=denied)
            return None
        if denied.state == "open" and status.state in ("settled", "unknown"):
            return None  # it has ended in the meantime
        can_resume = self._is_safe_to_repeat or self._can_reconcile
        if is_single_call and (status.state == "abandoned" or (status.state != "none" and can_resume)):
            claim = await self._ledger.take_over(identical, status.fence, is_unknown=True)
            if claim is not None:
                self.log().warning("identical_write_taken_over", fence=claim.fence)
                self._write, self._first = identical, denied
            return claim
        outcome = status.outcomes[denied.item - 1] if len(status.outcomes) >= denied.item else None
        return AnsweredWrite(error=answers.unknown_before_error(self._write, denied, outcome), denied=denied)

    async def _follow(self) -> Claim | AnsweredWrite:
        """Wait for the outcome of another worker's run, or take over a run that was abandoned."""
        self.may_have_begun = True
        pause_s = _PAUSE_S_MIN
        while True:
            status = await self._ledger.status(self._write)
            match status.state:
                case "settled" | "unknown" if self._is_of_another_attempt(status):
                    claim = await self._ledger.take_over(self._write, status.fence, is_again=True)
                    if claim is not None:
                        return claim
                case "settled" | "unknown" | "none":
                    return AnsweredWrite(status.outcomes, answers.unknown_outcome_error(self._write.tool))
                case "abandoned":
                    claim = await self._ledger.take_over(self._write, status.fence)
                    if claim is not None:
                        self.log().warning("write_taken_over", fence=claim.fence)
                        return claim
                case "in_progress":
                    if not await self._has_waited(pause_s, status):
                        return AnsweredWrite(error=answers.still_running_error(self._write))
                    pause_s = min(pause_s * _PAUSE_GROWTH, _PAUSE_S_MAX)

    async def _has_waited(self, pause_s: float, status: WriteStatus) -> bool:
        """Wait a moment for the run of another worker; return False if no time is left to wait."""
        left_s = self._ends_s - monotonic_s()
        if left_s > 0:
            await asyncio.sleep(min(pause_s, left_s, status.left_s))
        return left_s > 0

    def _is_of_another_attempt(self, status: WriteStatus) -> bool:
        """Return whether the outcome is a failed earlier attempt of a run, which now retries under the same key."""
        if self._write.name or not self._is_safe_to_repeat:
            return False
        outcomes = status.outcomes
        have_failed = bool(outcomes) and all(result.error is not None for result in outcomes)
        return have_failed and not any(result.call_id in self._write.call_ids for result in outcomes)

    async def is_held(self, claim: Claim) -> bool:
        """Return whether the claim is still valid, after renewing it if its lease is over."""
        return not claim.is_over or await self._ledger.renew(claim)

    async def must_reconcile(self, claim: Claim) -> bool:
        """Return whether the tool must report, before the write runs, if an earlier run took effect."""
        if not self._can_reconcile or self._is_safe_to_repeat:
            return False
        return claim.has_begun or await self._ledger.may_have_forgotten(claim.write)

    def is_uncertain(self, claim: Claim) -> bool:
        """Return whether the write has begun before, so that it must not run while its effect is unknown."""
        return claim.has_begun and not self._is_safe_to_repeat

    def mark_first(self, results: Results) -> Results:
        """Return the results of the first run, with the mark of the identical call if it was that call's run."""
        return results if self._first is None else answers.mark_repeated(results, self._first)

    def after_run(self, claim: Claim, results: Results) -> Results:
        """Return the results of a run; after a takeover, a failed second run leaves the outcome unknown."""
        if claim.has_begun and self._is_safe_to_repeat and all(result.error for result in results):
            results = tuple(map(answers.unknown_after_second_run, results))
        return answers.mark_settling(results, self._first)

    def refusal(self, error: AntiphonError) -> ToolError:
        """Return the error of a write that cannot be claimed, and log the cause."""
        match error:
            case KeyUsedForAnother():
                self.log().error("idempotency_key_reused")
                return answers.other_write_error(self._write)
            case SessionStopped():
                return answers.cancelled_session_error(self._write)
            case ClaimNotReplicated():
                self.log().warning("write_claim_not_replicated", error=error.message)
                return answers.not_claimed_error(self._write, error.message, self.may_have_begun)
            case _:
                self.log().warning("write_ledger_unavailable", error=str(error))
                return answers.not_claimed_error(self._write, "", self.may_have_begun)

    @asynccontextmanager
    async def renewed(self, claim: Claim) -> AsyncIterator[None]:
        """Renew the claim's lease every third of its length, until the block ends or the claim is taken over."""
        every_s = self._ledger.lease_s / 3
        renewing: list[asyncio.Task[None]] = []
        # Most writes end before the first renewal is due: a task for each would be most of their cost.
        timer = asyncio.get_running_loop().call_later(
            every_s, lambda: renewing.append(asyncio.create_task(self._renew(claim, every_s)))
        )
        try:
            yield
        finally:
            timer.cancel()
            for task in renewing:
                task.cancel()

    async def _renew(self, claim: Claim, every_s: float) -> None:
        while True:
            try:
                if not await self._ledger.renew(claim):
                    return  # taken over: settling it will be refused
            except (LedgerUnavailable, RedisError) as error:
                self.log().warning("write_lease_not_renewed", error=str(error))
            await asyncio.sleep(every_s)

    def log(self) -> structlog.typing.FilteringBoundLogger:
        """Return a logger bound to this write; binding one for every write would cost more than its claim."""
        logger: structlog.typing.FilteringBoundLogger = structlog.get_logger()
        return logger.bind(tool=self._write.tool, key=self._write.key)
