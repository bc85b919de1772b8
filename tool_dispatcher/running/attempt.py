"""One attempt at one call: admitted by every bound, run, timed, and counted by its tool's breaker."""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from antiphon_shared import faults
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.tools.calls import ToolError

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.authoring.reconcile import TookEffect, contexts_of
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.bounds.rate import RateLimiter
from tool_dispatcher.bounds.refusals import NotAdmitted
from tool_dispatcher.bounds.slots import Slots
from tool_dispatcher.builtin import Builtin
from tool_dispatcher.idempotency.ledger import Claim
from tool_dispatcher.results.as_json import as_json
from tool_dispatcher.running.arguments import Arguments
from tool_dispatcher.running.batch_run import BatchRun
from tool_dispatcher.running.breakers import GuardedCall, ToolBreakers
from tool_dispatcher.running.execute import Call, execute
from tool_dispatcher.running.threads import NoThread, Place, Threads


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a call."""

    tool: Tool
    arguments: Arguments
    key: str
    call_id: str
    number: int
    """The number of this attempt, from 1."""
    fence: int = 0
    claim: Claim | None = None
    """The claim of a write, which runs only while this is valid; None for a read."""
    guard: GuardedCall | None = None
    """The breaker's view of the call; None where the tool is only asked about the outcome of a write."""


class Attempts:
    """The limits on calls of this process, and of all processes."""

    def __init__(
        self, slots: Slots, rates: RateLimiter, breakers: ToolBreakers, threads: Threads, calls_max: int
    ) -> None:
        self._slots, self._rates, self._threads = slots, rates, threads
        self.guarded = breakers.call_of
        self._places = asyncio.Semaphore(calls_max)

    async def make(self, attempt: Attempt, batch: BatchRun) -> Any:
        """Return the outcome of one attempt as JSON values or a ToolError. Raises only CancelledError."""
        if isinstance(attempt.tool, Builtin):
            batch.log.began(attempt.call_id, attempt.tool.name)
            return await attempt.tool.answer(attempt.arguments.plain, batch, attempt.call_id)
        async with AsyncExitStack() as held:
            try:
                place = await self._admitted(attempt.tool, batch, held)
            except NotAdmitted as refusal:
                return refusal.error
            except (NoThread, TimeoutError):
                return _out_of_time("The session's time was over before the call began; it was not run.")
            # The wait for the bounds may have outlasted the claim or the grant.
            if attempt.claim is not None and attempt.claim.is_over:
                return _claim_lost(attempt.tool)
            if batch.permissions.authorization.is_over(utc_now()):
                return _grant_over(attempt.tool)
            assert attempt.guard is not None, "an attempt is made within `guarded`"
            if (refused := await attempt.guard.ask()) is not None:
                return refused
            began_s = monotonic_s()
            batch.log.began(attempt.call_id, attempt.tool.name)
            await faults.at("tool.before")
            outcome = await execute(_call(attempt, batch), place)
            await faults.at("tool.after")
            attempt.guard.attempted(outcome, _is_slow(attempt.tool, monotonic_s() - began_s))
            return _with_example(outcome, attempt.tool)

    async def reconcile(self, attempt: Attempt, batch: BatchRun) -> Any:
        """Return the tool's answer about a write: TookEffect, NO_EFFECT or None. Raises whatever the tool raises."""
        tool = attempt.tool
        assert tool.reconcile is not None, "only tools that can be asked are asked"
        timeout_s = _timeout_s(attempt, batch)
        contexts = dict.fromkeys(contexts_of(tool.reconcile), _context(attempt, batch, timeout_s))
        ask = partial(tool.reconcile, attempt.key, attempt.arguments.plain, **contexts)
        async with asyncio.timeout(timeout_s):
            if inspect.iscoroutinefunction(tool.reconcile):
                told = await ask()
            else:
                told = await self._in_thread(ask, batch)
        return TookEffect(as_json(told.data)) if isinstance(told, TookEffect) else told

    async def _in_thread(self, ask: Callable[[], Any], batch: BatchRun) -> Any:
        async with self._threads.place(batch.time_left_s) as place:
            try:
                told = await place.run(ask)
            except asyncio.CancelledError:
                place.abandon()
                raise
        return await told if inspect.isawaitable(told) else told

    async def _admitted(self, tool: Tool, batch: BatchRun, held: AsyncExitStack) -> Place | None:
        """Wait for every bound in turn; return the thread the tool needs, if any. Raises when time is over."""
        contract = tool.contract
        if batch.time_left_s <= 0:
            raise TimeoutError
        if contract.max_concurrency is not None:
            slot = self._slots.held(tool.name, contract.max_concurrency, batch.time_left_s)
            await held.enter_async_context(slot)
        if contract.rate_limit is not None:
            await self._rates.admit(tool.name, contract.rate_limit, batch.time_left_s)
        if self._places.locked():
            async with asyncio.timeout(batch.time_left_s):
                await held.enter_async_context(self._places)
        else:
            await held.enter_async_context(self._places)
        if tool.is_async:
            return None
        return await held.enter_async_context(self._threads.place(batch.time_left_s))


def _call(attempt: Attempt, batch: BatchRun) -> Call:
    timeout_s = _timeout_s(attempt, batch)
    context = _context(attempt, batch, timeout_s)
    secrets = attempt.arguments.secrets

    def raised(error: BaseException) -> None:
        batch.log.raised(attempt.call_id, attempt.tool.name, error, secrets)
        if attempt.guard is not None:
            attempt.guard.raised(error)

    return Call(attempt.tool, attempt.arguments.given, context, timeout_s, secrets, raised)


def _timeout_s(attempt: Attempt, batch: BatchRun) -> float:
    return min(attempt.tool.contract.timeout_s, batch.time_left_s)


def _context(attempt: Attempt, batch: BatchRun, timeout_s: float) -> ToolContext:
    return ToolContext(
        idempotency_key=attempt.key,
        session_id=batch.session.session_id,
        call_id=attempt.call_id,
        attempt=attempt.number + batch.attempt - 1,
        deadline=utc_now() + timedelta(seconds=timeout_s),
        tenant=batch.request.tenant,
        fence=attempt.fence,
    )


def _is_slow(tool: Tool, took_s: float) -> bool:
    return tool.contract.slow_s is not None and took_s > tool.contract.slow_s


def _with_example(outcome: Any, tool: Tool) -> Any:
    """Add an example to the error of a tool that refuses its arguments: only the dispatcher knows one."""
    if not isinstance(outcome, ToolError) or outcome.error_type != "validation_error":
        return outcome
    return outcome.model_copy(
        update={"example_valid_call": outcome.example_valid_call or tool.example or None}
    )


def _claim_lost(tool: Tool) -> ToolError:
    return tool_error(
        "api_failure",
        f"{tool.name} was not run: the ledger of writes could not be reached for so long that another dispatcher "
        "may have taken the call over.",
        "Call it again later, or go on without it and say that it was not done.",
    )


def _grant_over(tool: Tool) -> ToolError:
    return tool_error(
        "permission_denied",
        f"{tool.name} was not run: the session's grant has ended.",
        "Call no further tools; answer from what has been found, and say what could not be done.",
    )


def _out_of_time(message: str) -> ToolError:
    return tool_error("timeout", message, "Answer from what has been found, and say what is missing.")
