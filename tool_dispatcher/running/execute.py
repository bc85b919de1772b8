"""The execution of one call: awaited or in a thread, and timed; every exception becomes an error."""

import asyncio
import inspect
from functools import partial
from typing import NamedTuple

import structlog
from antiphon_shared import faults
from antiphon_shared.process.offload import offload
from antiphon_shared.tools.calls import ToolError, ToolOutcome
from antiphon_shared.values import JsonObject

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import error_of, tool_error
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.results.as_json import NotJson, as_json, unusable
from tool_dispatcher.running.threads import HeldThread, Threads


class ExecutionEnd(NamedTuple):
    """The end of one execution."""

    outcome: ToolOutcome
    raised: BaseException | None = None
    """The exception that the tool raised, which the outcome reports."""


_End = asyncio.Future[ExecutionEnd | None]
"""The end of one execution; None if its time is over first."""

_ABANDONED: set[asyncio.Task[None]] = set()
"""Abandoned calls, which need a reference until they end, as the event loop holds only weak references to tasks."""


async def execute(
    tool: Tool, arguments: JsonObject, context: ToolContext, timeout_s: float, thread: HeldThread | None
) -> ExecutionEnd:
    """Call the tool with valid arguments, for at most `timeout_s`; a plain function runs in `thread`.

    Raises only CancelledError, if the caller is cancelled.
    """
    end: _End = asyncio.Future()
    task = asyncio.create_task(_run_and_report(end, tool, arguments, context, thread))
    try:
        await faults.pass_point("tool.running")
        timer = asyncio.get_running_loop().call_later(timeout_s, _set, end, None)
        try:
            ended = await end
        finally:
            timer.cancel()
    except asyncio.CancelledError:
        _abandon(task, thread)
        raise
    if ended is None:
        _abandon(task, thread)
        return ExecutionEnd(_timed_out(tool, context, timeout_s, thread))
    return ended


async def execute_without_batch(
    tool: Tool, arguments: JsonObject, context: ToolContext, threads: Threads, wait_s: float
) -> ExecutionEnd:
    """Execute a call outside of a batch; wait up to `wait_s` for a thread. Raises NoThread."""
    timeout_s = tool.contract.timeout_s
    if tool.is_async:
        return await execute(tool, arguments, context, timeout_s, None)
    async with threads.reserve(wait_s) as thread:
        return await execute(tool, arguments, context, timeout_s, thread)


async def _run_and_report(
    end: _End, tool: Tool, arguments: JsonObject, context: ToolContext, thread: HeldThread | None
) -> None:
    try:
        _set(end, await _run(tool, arguments, context, thread))
    except asyncio.CancelledError:
        _set(end, ExecutionEnd(error_of(RuntimeError("the tool cancelled itself"), tool.effect)))
        raise


def _set(end: _End, ended: ExecutionEnd | None) -> None:
    if not end.done():
        end.set_result(ended)


async def _run(
    tool: Tool, arguments: JsonObject, context: ToolContext, thread: HeldThread | None
) -> ExecutionEnd:
    try:
        function = partial(tool.call, arguments, context)
        result = function() if thread is None else await thread.run(function)
        if inspect.isawaitable(result):
            result = await result
        return ExecutionEnd(await offload(as_json, result))
    except asyncio.CancelledError:
        raise
    except NotJson as problem:
        return ExecutionEnd(unusable(str(problem), tool.effect))
    except BaseException as error:  # noqa: BLE001  # a tool may raise anything, and SystemExit must not end the process
        return ExecutionEnd(error_of(error, tool.effect), error)


def _abandon(task: asyncio.Task[None], thread: HeldThread | None) -> None:
    task.cancel()
    if thread is not None:
        thread.abandon()
    _ABANDONED.add(task)
    task.add_done_callback(_ABANDONED.discard)


def _timed_out(tool: Tool, context: ToolContext, timeout_s: float, thread: HeldThread | None) -> ToolError:
    where = (
        "cancelled" if thread is None else "left behind: its thread cannot be stopped, its result is dropped"
    )
    structlog.get_logger().debug(
        "tool_attempt_timed_out", tool=tool.name, call_id=context.call_id, call_is=where
    )
    message = f"{tool.name} did not finish within {timeout_s:.3g} s."
    return tool_error("outcome_unknown" if tool.effect == "write" else "timeout", message)
