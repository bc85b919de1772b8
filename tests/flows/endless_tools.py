"""Tools that take ten minutes, and write down in the file that STEPS_FILE names when they begin and are cancelled."""

import asyncio
import os
import time

from antiphon import ToolContext, tool
from tests.flows.shared_file import append_line

_FILE = os.environ.get("STEPS_FILE", os.devnull)
_LONG_S = 600.0


@tool(effect="read")
async def look_up(what: str) -> dict[str, str]:
    """Looks a thing up, at once."""
    return {"what": what, "found": "It is 12 cubits high."}


@tool(effect="read", timeout_s=_LONG_S)
async def wait_for(what: str, context: ToolContext) -> str:
    """Waits, and can be cancelled."""
    return await _take_long("wait_for", context)


@tool(effect="read", timeout_s=_LONG_S)
def doze(what: str, context: ToolContext) -> str:
    """Waits in a thread, which nobody can stop."""
    _note("doze", "begun", context)
    time.sleep(_LONG_S)
    return "awake"


@tool(effect="write", timeout_s=_LONG_S)
async def send(what: str, context: ToolContext) -> str:
    """Sends a thing; nobody knows when it is gone."""
    return await _take_long("send", context)


async def _take_long(name: str, context: ToolContext) -> str:
    _note(name, "begun", context)
    try:
        await asyncio.sleep(_LONG_S)
    except asyncio.CancelledError:
        _note(name, "cancelled", context)
        raise
    return "done"


def _note(name: str, what: str, context: ToolContext) -> None:
    append_line(_FILE, f"{context.session_id} {name} {what}")
