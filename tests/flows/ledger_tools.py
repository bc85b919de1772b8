"""Tools that write down each of their runs, in the file that LEDGER_FILE names, before and after it.

A result carries its run's id: what the pipeline says of a call can be compared with what really ran.
"""

import asyncio
import json
import os
import time
from uuid import uuid4

from antiphon import ToolContext, tool
from tests.flows.shared_file import append_line

_FILE = os.environ.get("LEDGER_FILE", os.devnull)
_WAIT_S = float(os.environ.get("LEDGER_WAIT_S", "0"))


@tool(effect="read")
async def look_up(what: str, context: ToolContext) -> dict[str, str]:
    """Looks a thing up."""
    run = _begin("look_up", context)
    await asyncio.sleep(_WAIT_S)
    return _end(run, "look_up", context, what)


@tool(effect="write")
def write_down(what: str, context: ToolContext) -> dict[str, str]:
    """Writes a thing down."""
    run = _begin("write_down", context)
    time.sleep(_WAIT_S)
    return _end(run, "write_down", context, what)


@tool(effect="read", timeout_s=900)
async def ponder(seconds: float, context: ToolContext) -> dict[str, str]:
    """Takes its time, the first time."""
    run = _begin("ponder", context)
    await asyncio.sleep(seconds if context.attempt == 1 else 0)
    return _end(run, "ponder", context, "time")


@tool(effect="read")
def fall_over() -> str:
    """Ends the process it runs in, as the kernel does when memory runs out."""
    os.kill(os.getpid(), 9)
    return "never"


def _begin(name: str, context: ToolContext) -> str:
    run = uuid4().hex[:12]
    _note("begin", run, name, context)
    return run


def _end(run: str, name: str, context: ToolContext, what: str) -> dict[str, str]:
    _note("end", run, name, context)
    return {"run": run, "what": what}


def _note(at: str, run: str, name: str, context: ToolContext) -> None:
    line = {"at": at, "pid": os.getpid(), "key": context.idempotency_key, "run": run, "tool": name}
    append_line(_FILE, json.dumps(line))
