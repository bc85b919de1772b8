"""The life of one write: claimed, run, settled; or the outcome of another worker's run.

Two rules hold at every line. No write runs without a valid claim. And a write that has begun, in any process,
runs again only where a second run has no second effect, or where the tool confirms that the first had none.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import structlog
from antiphon_shared import faults
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.calls import ToolError
from redis.exceptions import RedisError

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.reconcile import NoEffect, TookEffect
from tool_dispatcher.idempotency import answers
from tool_dispatcher.idempotency.ledger import (
    Claim,
    ClaimNotReplicated,
    KeyUsedForAnother,
    Ledger,
    LedgerUnavailable,
    SessionStopped,
)
from tool_dispatcher.idempotency.write import Decided, EndState, Results, Write, WriteStatus

_PAUSE_S_MIN = 0.01
_PAUSE_S_MAX = 0.5
_PAUSE_GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class WriteHooks:
    """The callbacks and limits with which a write is run."""

    run: Callable[[Claim], Awaitable[Results]]
    """Runs it, each time only while the claim is valid, and returns its results. When cancelled, it does
    nothing more.
    """
    results_of: Callable[[Any | ToolError], Awaitable[Results]]
    """Returns the results of its calls, from an error or from the tool's return value."""
    is_safe_to_repeat: bool
    """Whether a second run with the same key has no second effect."""
    wait_s: float
    """How long to wait at most for the outcome of another worker's run, in seconds."""
    reconcile: Callable[[Claim], Awaitable[Any]] | None = None
    """Asks the tool, with the key and the fence of the claim, whether it took effect: TookEffect, NO_EFFECT, or None.

    Like `run`, it has to limit its own time: the claim is renewed for as long as it takes.
    """
    may_have_begun: bool = False
    """Whether another worker may have begun the write before."""


class MustRunSingly(Exception):
    """Calls of a group that must not run as one: one of them began, or was answered, by itself."""


async def once(ledger: Ledger, write: Write, hooks: WriteHooks) -> Results:
    """Return the outcome of the write, which runs here at most once, and nowhere else at the same time."""
    return await _Once(ledger, write, hooks).results()


class _Once:
    def __init__(self, ledger: Ledger, write: Write, hooks: WriteHooks) -> None:
        self._ledger, self._write, self._hooks = ledger, write, hooks
        self._ends_s = monotonic_s() + hooks.wait_s
        self._may_have_begun = hooks.may_have_begun
        self._first: Decided | None = None
        """The identical write of another call, where this one has taken it over."""

    async def results(self) -> Results:
        try:
            await faults.at("write.claim.before")
            if self._write.name:
                return await self._by_identity()
            claim = await self._ledger.claim(self._write)
            if claim is None:
                return await self._follow()
            self._may_have_begun = False
            return await self._finish(claim, self._run)
        except KeyUsedForAnother:
            self._log().error("idempotency_key_reused")
            return await self._answer(answers.refused(self._write))
        except SessionStopped:
            return await self._answer(answers.stopped(self._write))
        except ClaimNotReplicated as error:
            self._log().warning("write_claim_not_replicated", error=error.message)
            return await self._answer(
                answers.not_replicated(self._write, error.message, self._may_have_begun)
            )
        except LedgerUnavailable as error:
            self._log().warning("write_ledger_unavailable", error=str(error))
            return await self._answer(answers.out_of_reach(self._write, self._may_have_begun))

    async def _by_identity(self) -> Results:
        """Return the outcome in sessions of format 2, where an identical write may answer this one."""
        pause_s = _PAUSE_S_MIN
        while True:
            found = await self._ledger.begin(self._write)
            if isinstance(found, Claim):
                self._write, self._may_have_begun = found.write, False
                return await self._finish(found, self._run)
            match found.verdict:
                case "taken":
                    self._write = replace(self._write, key=found.key)
                    return await self._follow()
                case "repeated" | "between" if self._write.kind == "ask":
                    return answers.marked(await self._answer(answers.must_ask(self._write, found)), found)
                case "repeated":
                    first = answers.repeated(self._write, found)
                    results = await self._answer(first) if isinstance(first, ToolError) else (first,)
                    return answers.marked(results, found)
                case "between":
                    return answers.marked(await self._answer(answers.between(self._write, found)), found)
                case "split":
                    raise MustRunSingly
                case "stopped":
                    return await self._answer(answers.stopped(self._write))
                case "theirs":
                    if self._write.kind == "again":
                        return await self._answer(answers.not_approved(self._write, found))
                    if (theirs := await self._theirs(found, pause_s)) is not None:
                        return theirs
                    pause_s = min(pause_s * _PAUSE_GROWTH, _PAUSE_S_MAX)

    async def _theirs(self, found: Decided, pause_s: float) -> Results | None:
        """Return the outcome of an identical write of another call; None while that call is in progress."""
        self._may_have_begun = True
        theirs = replace(self._write, key=found.key)
        standing = await self._ledger.stands(theirs)
        # If that write was part of a group, the arguments of the other calls are not known here.
        is_alone = found.key.startswith(f"{self._write.name}/")
        if standing.state == "in_progress":
            left_s = self._ends_s - monotonic_s()
            if left_s <= 0:
                return answers.marked(await self._answer(answers.still_running(self._write)), found)
            await asyncio.sleep(min(pause_s, left_s, standing.left_s))
            return None
        if found.state == "open" and standing.state in ("settled", "unknown"):
            return None  # it has ended since: decide anew
        can_tell = self._hooks.is_safe_to_repeat or self._hooks.reconcile is not None
        if is_alone and (standing.state == "abandoned" or (standing.state != "none" and can_tell)):
            claim = await self._ledger.take_over(theirs, standing.fence, is_unknown=True)
            if claim is None:
                return None
            self._log().warning("identical_write_taken_over", fence=claim.fence)
            self._write, self._first = theirs, found
            return await self._finish(claim, self._after_a_crash)
        outcome = standing.outcomes[found.item - 1] if len(standing.outcomes) >= found.item else None
        error = answers.unknown_before(self._write, found, outcome)
        return answers.marked(await self._answer(error), found)

    async def _follow(self) -> Results:
        """Wait for the outcome of another worker's run, or take over a run that was abandoned."""
        self._may_have_begun = True
        pause_s = _PAUSE_S_MIN
        while True:
            standing = await self._ledger.stands(self._write)
            match standing.state:
                case "settled" | "unknown" if self._is_of_another_attempt(standing):
                    claim = await self._ledger.take_over(self._write, standing.fence, is_again=True)
                    if claim is not None:
                        return await self._finish(claim, self._run)
                case "settled" | "unknown" | "none":
                    return standing.outcomes or await self._answer(answers.unknown(self._write))
                case "abandoned":
                    claim = await self._ledger.take_over(self._write, standing.fence)
                    if claim is not None:
                        self._log().warning("write_taken_over", fence=claim.fence)
                        return await self._finish(claim, self._after_a_crash)
                case "in_progress":
                    left_s = self._ends_s - monotonic_s()
                    if left_s <= 0:
                        return await self._answer(answers.still_running(self._write))
                    await asyncio.sleep(min(pause_s, left_s, standing.left_s))
                    pause_s = min(pause_s * _PAUSE_GROWTH, _PAUSE_S_MAX)

    def _is_of_another_attempt(self, standing: WriteStatus) -> bool:
        """Return whether the outcome is a failed earlier attempt of a run, which now retries under the same key."""
        if self._write.name or not self._hooks.is_safe_to_repeat:
            return False
        outcomes = standing.outcomes
        have_failed = bool(outcomes) and all(result.error is not None for result in outcomes)
        return have_failed and not any(result.call_id in self._write.call_ids for result in outcomes)

    async def _finish(self, claim: Claim, work: Callable[[Claim], Awaitable[Results | None]]) -> Results:
        """Do the work and settle its results. After a takeover, the results of the new claimant count."""
        async with self._renewed(claim):
            await faults.at("write.claimed")
            results = await work(claim)
            if results is not None:
                await faults.at("write.settle.before")
                if await self._settle(claim, results):
                    return results
                self._log().warning("write_lost_while_running")
        return await self._follow()

    async def _settle(self, claim: Claim, results: Results) -> bool:
        effects = tuple(map(answers.effect_of, results))
        return await self._ledger.settle(claim, results, _end_of(results), effects)

    async def _after_a_crash(self, claim: Claim) -> Results | None:
        """Return the outcome of a write whose last claimant has let its lease expire."""
        if self._hooks.is_safe_to_repeat:
            return self._settling(self._after_both(await self._run(claim, is_first=False)))
        told = await self._asked(claim)
        if isinstance(told, NoEffect):
            return self._settling(await self._run(claim, is_first=False))
        if isinstance(told, TookEffect):
            results = await self._hooks.results_of(told.data)
        else:
            results = await self._answer(answers.unknown(self._write))
        return results if self._first is None else answers.marked(results, self._first)

    def _settling(self, results: Results | None) -> Results | None:
        """Return the results, marked as the outcome of the identical call too, where its write was taken over."""
        return None if results is None else answers.settling(results, self._first)

    def _after_both(self, results: Results | None) -> Results | None:
        """Return the outcome after a second run. A failure of the second run does not undo the first."""
        if results is None or not all(result.error for result in results):
            return results
        return tuple(answers.unknown_in_spite_of(result) for result in results)

    async def _run(self, claim: Claim, is_first: bool = True) -> Results | None:
        """Run the write and return its results. None when the claim was lost before: then nothing has run here."""
        # A process that was suspended after its claim must not run a write that another may have taken over.
        if claim.is_over and not await self._ledger.renew(claim):
            return None
        if claim.problem:
            self._log().warning("write_claim_not_replicated", problem=claim.problem)
            return await self._answer(answers.not_replicated(self._write, claim.problem, False))
        if is_first and (told := await self._asked_ahead(claim)) is not None:
            return await self._hooks.results_of(told.data)
        self._may_have_begun = True
        results = await self._hooks.run(claim)
        if all(answers.is_unknown(result) for result in results):
            # Only TookEffect can be believed so early: the request may still be in transit, or a thread
            # running.
            told = await self._asked(claim)
            if isinstance(told, TookEffect):
                return await self._hooks.results_of(told.data)
        return results

    async def _asked_ahead(self, claim: Claim) -> TookEffect | None:
        """Return TookEffect for a write that Redis may have lost and that the tool knows to have run, else None."""
        if self._hooks.reconcile is None or self._hooks.is_safe_to_repeat:
            return None
        if not await self._ledger.may_have_forgotten(self._write):
            return None
        told = await self._asked(claim)
        return told if isinstance(told, TookEffect) else None

    async def _asked(self, claim: Claim) -> Any:
        """Return the tool's answer about the write: TookEffect, NO_EFFECT, or None when it cannot tell."""
        if self._hooks.reconcile is None:
            return None
        try:
            told = await self._hooks.reconcile(claim)
            if told is not None and not isinstance(told, TookEffect | NoEffect):
                self._log().warning("reconcile_answer_invalid", type=type(told).__name__)
            return told
        except Exception as error:  # noqa: BLE001  # a tool may raise anything; that counts as "cannot tell"
            self._log().warning("reconcile_failed", error=readable(error))
            return None

    @asynccontextmanager
    async def _renewed(self, claim: Claim) -> AsyncIterator[None]:
        """Renew the claim's lease at every third of it, until the block ends or the claim is taken over."""
        every_s = self._ledger.lease_s / 3
        renewing: list[asyncio.Task[None]] = []
        # Most writes are over before the first renewal is due: a task for each would be most of their cost.
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
                self._log().warning("write_lease_not_renewed", error=str(error))
            await asyncio.sleep(every_s)

    def _log(self) -> Any:
        """Return a logger, bound only when needed: binding for each write would cost more than its claim."""
        return structlog.get_logger().bind(tool=self._write.tool, key=self._write.key)

    async def _answer(self, error: ToolError) -> Results:
        return await self._hooks.results_of(error)


def _end_of(results: Results) -> EndState:
    """Return `unknown` as soon as one call's effect is unknown: then no part of the write runs again."""
    return "unknown" if any(answers.is_unknown(result) for result in results) else "settled"
