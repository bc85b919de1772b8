"""The execution of one call: awaited or in a thread, timed, with every exception turned into an error."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from antiphon_shared import faults
from antiphon_shared.process.aside import aside
from antiphon_shared.tools.calls import ToolError

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import error_of, tool_error
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.results.as_json import NotJson, as_json, unusable
from tool_dispatcher.running.threads import Place

_GIVEN_UP: set[asyncio.Task[Any]] = set()
"""Abandoned calls, referenced until they end: the event loop holds only weak references to tasks."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, ready to run: its arguments are valid, and it may run for `timeout_s`."""

    tool: Tool
    arguments: dict[str, Any]
    context: ToolContext
    timeout_s: float
    secrets: Sequence[str] = ()
    """The texts among the arguments that must not be shown."""
    on_raise: Callable[[BaseException], None] | None = None
    """Called with the exception that the tool raises."""


async def execute(call: Call, place: Place | None) -> Any:
    """Return the call's result as JSON values, or a ToolError. Plain functions run in the thread of `place`.

    Raises only CancelledError, when the caller is cancelled.
    """
    task = asyncio.create_task(_run(call, place))
    try:
        await faults.at("tool.running")
        await _ended(task, call.timeout_s)
    except asyncio.CancelledError:
        _give_up(task, place)
        raise
    if not task.done():
        _give_up(task, place)
        return _timed_out(call, place)
    if task.cancelled():
        return error_of(RuntimeError("the tool cancelled itself"), call.tool.effect)
    return task.result()


async def _run(call: Call, place: Place | None) -> Any:
    tool = call.tool
    try:
        function = partial(tool.call, call.arguments, call.context)
        result = function() if place is None else await place.run(function)
        if inspect.isawaitable(result):
            result = await result
        return await aside(as_json, result)
    except asyncio.CancelledError:
        raise
    except NotJson as problem:
        return unusable(str(problem), tool.effect)
    except BaseException as error:  # noqa: BLE001  # a tool may raise anything, and SystemExit must not end the process
        if call.on_raise is not None:
            call.on_raise(error)
        return error_of(error, tool.effect)


async def _ended(task: asyncio.Task[Any], timeout_s: float) -> None:
    """Wait for one task, as `asyncio.wait` does at twice the cost."""
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(timeout_s, wake)
    task.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        task.remove_done_callback(wake)


def _give_up(task: asyncio.Task[Any], place: Place | None) -> None:
    task.cancel()
    if place is not None:
        place.abandon()
    _GIVEN_UP.add(task)
    task.add_done_callback(_GIVEN_UP.discard)


def _timed_out(call: Call, place: Place | None) -> ToolError:
    where = (
        "cancelled" if place is None else "left behind: its thread cannot be stopped, its result is dropped"
    )
    structlog.get_logger().debug(
        "tool_attempt_timed_out", tool=call.tool.name, call_id=call.context.call_id, call_is=where
    )
    message = f"{call.tool.name} did not finish within {call.timeout_s:.3g} s."
    return tool_error("outcome_unknown" if call.tool.effect == "write" else "timeout", message)
