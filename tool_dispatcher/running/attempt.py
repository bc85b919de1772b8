"""One attempt at a call: it waits for every limit, runs for a limited time, and is counted by the tool's breaker."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import NoReturn

from antiphon_shared import faults
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.tools.calls import ToolError, ToolOutcome
from antiphon_shared.values import JsonSchema, ToolArguments

from tool_dispatcher.authoring.failures import readable, tool_error
from tool_dispatcher.authoring.reconcile import Reconciled, TookEffect, contexts_of
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.bounds.rate import RateLimiter
from tool_dispatcher.bounds.refusals import NotAdmitted
from tool_dispatcher.bounds.slots import Slots
from tool_dispatcher.results.as_json import as_json
from tool_dispatcher.results.outcome import Outcomes
from tool_dispatcher.results.redacted import redact_call_secrets
from tool_dispatcher.running.batch_run import BatchRun, Call
from tool_dispatcher.running.breakers import GuardedCall
from tool_dispatcher.running.execute import execute
from tool_dispatcher.running.threads import HeldThread, NoThread, Threads

_Answer = Callable[[ToolArguments, BatchRun, str], Awaitable[ToolOutcome]]
"""Takes the arguments, the batch and the call's id."""


class Builtin(Tool):
    """A tool that the dispatcher itself answers from the session's data."""

    def __init__(self, name: str, description: str, parameters: JsonSchema, answer: _Answer) -> None:
        super().__init__(name, description, parameters, _never_called, effect="read")
        self.answer = answer


class Attempts:
    """The attempts of this process, and the limits on them; `slots` and `rates` are limits of all processes.

    A tool's result or error is redacted here, before any other code sees it.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        breakers: SharedBreakers | None,
        threads: Threads,
        calls_max: int,
        slots: Slots | None = None,
        rates: RateLimiter | None = None,
    ) -> None:
        self._outcomes, self._slots, self._rates, self._threads = outcomes, slots, rates, threads
        self._breakers = breakers
        self._call_slots = asyncio.Semaphore(calls_max)

    def guarded(self, tool: str) -> GuardedCall:
        """Return the guard of one call of a tool, with all its attempts."""
        return GuardedCall(self._breakers, tool)

    async def make(self, call: Call, guard: GuardedCall) -> ToolOutcome:
        """Return the outcome of one attempt, within `guarded`. Raises only CancelledError."""
        tool, batch = call.tool, call.batch
        if isinstance(tool, Builtin):
            batch.log.began(call.id, tool.name)
            return await self._outcomes.clean(await tool.answer(call.arguments.plain, batch, call.id))
        if (
            tool.is_async
            and not self._is_bounded(tool)
            and not self._call_slots.locked()
            and batch.time_left_s
        ):
            async with self._call_slots:  # a slot is free, so this does not wait
                return await self._run_admitted(call, guard, None)
        async with AsyncExitStack() as bounds:
            try:
                thread = await self._admit(tool, batch, bounds)
            except NotAdmitted as refusal:
                return refusal.error
            except (NoThread, TimeoutError):
                return _out_of_time()
            return await self._run_admitted(call, guard, thread)

    async def _run_admitted(self, call: Call, guard: GuardedCall, thread: HeldThread | None) -> ToolOutcome:
        """Return the outcome of an attempt that all bounds have admitted; a plain function runs in `thread`."""
        tool, batch = call.tool, call.batch
        # The wait for the bounds may have outlasted the claim or the grant.
        if call.claim is not None and call.claim.is_over:
            return _claim_lost(tool)
        if batch.permissions.authorization.is_over(utc_now()):
            return _grant_over(tool)
        if (refused := await guard.ask()) is not None:
            return refused
        began_s, timeout_s = monotonic_s(), call.timeout_s
        batch.log.began(call.id, tool.name)
        await faults.pass_point("tool.before")
        ended = await execute(tool, call.arguments.values, call.context(timeout_s), timeout_s, thread)
        await faults.pass_point("tool.after")
        if ended.raised is not None:
            batch.log.raised(call.id, tool.name, ended.raised, call.arguments.secrets)
            guard.raised(ended.raised)
        slow_s = tool.contract.slow_s
        guard.attempted(ended.outcome, is_slow=slow_s is not None and monotonic_s() - began_s > slow_s)
        return await self._outcomes.clean(_with_example(ended.outcome, tool), call.arguments.secrets)

    async def reconcile(self, call: Call) -> Reconciled:
        """Return the tool's answer about a write: TookEffect, NO_EFFECT or None.

        An exception of the tool is raised without the call's secrets, so that it can be logged.
        """
        secrets = call.arguments.secrets
        try:
            answer = await self._reconciled(call)
            data = as_json(answer.data) if isinstance(answer, TookEffect) else None
        except Exception as error:  # a tool may raise anything
            if not secrets:
                raise
            raise RuntimeError(redact_call_secrets(secrets, readable(error))) from None
        if not isinstance(answer, TookEffect):
            return answer
        return TookEffect(await self._outcomes.clean(data, secrets))

    async def _reconciled(self, call: Call) -> Reconciled:
        reconcile, timeout_s = call.tool.reconcile, call.timeout_s
        assert reconcile is not None, "only tools that can be asked are asked"
        contexts = dict.fromkeys(contexts_of(reconcile), call.context(timeout_s))
        ask = partial(reconcile, call.key, call.arguments.plain, **contexts)
        async with asyncio.timeout(timeout_s):
            if inspect.iscoroutinefunction(reconcile):
                reported = await ask()
            else:
                async with self._threads.reserve(call.batch.time_left_s) as thread:
                    try:
                        reported = await thread.run(ask)
                    except asyncio.CancelledError:
                        thread.abandon()
                        raise
                reported = await reported if inspect.isawaitable(reported) else reported
        answer: Reconciled = reported  # not checked here: the author may return another type
        return answer

    def _is_bounded(self, tool: Tool) -> bool:
        """Return whether a bound of all processes limits calls of the tool."""
        contract = tool.contract
        is_by_slots = self._slots is not None and contract.max_concurrency is not None
        return is_by_slots or (self._rates is not None and contract.rate_limit is not None)

    async def _admit(self, tool: Tool, batch: BatchRun, bounds: AsyncExitStack) -> HeldThread | None:
        """Wait for each bound, and return the thread for a plain function. Raises TimeoutError and NotAdmitted."""
        contract = tool.contract
        if batch.time_left_s <= 0:
            raise TimeoutError
        if self._slots is not None and contract.max_concurrency is not None:
            slot = self._slots.hold(tool.name, contract.max_concurrency, batch.time_left_s)
            await bounds.enter_async_context(slot)
        if self._rates is not None and contract.rate_limit is not None:
            await self._rates.admit(tool.name, contract.rate_limit, batch.time_left_s)
        async with asyncio.timeout(batch.time_left_s):
            await bounds.enter_async_context(self._call_slots)
        if tool.is_async:
            return None
        return await bounds.enter_async_context(self._threads.reserve(batch.time_left_s))


def _with_example(outcome: ToolOutcome, tool: Tool) -> ToolOutcome:
    """Add an example to the error of a tool that refuses its arguments; the tool's function has none."""
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


def _out_of_time() -> ToolError:
    return tool_error(
        "timeout",
        "The session's time was over before the call began; it was not run.",
        "Answer from what has been found, and say what is missing.",
    )


def _never_called(arguments: ToolArguments, context: object) -> NoReturn:
    raise AssertionError("a built-in tool is answered, not called")
