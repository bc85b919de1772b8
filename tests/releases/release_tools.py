"""Tools that any release can load: each effect is written down as it happens, in the file that LEDGER_FILE names."""

import asyncio
import json
import os

from antiphon import ToolContext, tool

_FILE = os.environ["LEDGER_FILE"]
_WAIT_S = float(os.environ.get("LEDGER_WAIT_S", "0"))


@tool(effect="read")
async def look_up(what: str, context: ToolContext) -> dict[str, str]:
    """Looks a thing up."""
    await asyncio.sleep(_WAIT_S)
    return {"what": what}


@tool(effect="write")
async def charge(amount: int, context: ToolContext) -> dict[str, int]:
    """Charges an amount. It has happened at once, and takes its time to say so."""
    line = {"session": context.session_id, "amount": amount, "key": context.idempotency_key}
    file = os.open(_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, json.dumps(line).encode() + b"\n")
    os.close(file)
    await asyncio.sleep(_WAIT_S)
    return {"charged": amount}
