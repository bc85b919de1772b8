"""Tools that any release can load: each effect is a file in the folder of the one that LEDGER_FILE names."""

import asyncio
import json
import os
from hashlib import sha256
from urllib.parse import quote

from antiphon import ToolContext, tool

_FILE = os.environ["LEDGER_FILE"]
_WAIT_S = float(os.environ.get("LEDGER_WAIT_S", "0"))


@tool(effect="read", steps=[1, 2])  # as any release knows it
async def look_up(what: str, context: ToolContext) -> dict[str, str]:
    """Looks a thing up."""
    await asyncio.sleep(_WAIT_S)
    return {"what": what}


@tool(effect="write", idempotent=True)
async def charge(amount: int, context: ToolContext) -> dict[str, int]:
    """Charges an amount, once for each key. It has happened at once, and takes its time to say so."""
    effect = [context.session_id, amount, sha256(context.idempotency_key.encode()).hexdigest()[:16]]
    name = quote(json.dumps(effect), safe="")
    os.close(os.open(f"{_FILE}.{name}", os.O_WRONLY | os.O_CREAT))
    await asyncio.sleep(_WAIT_S)
    return {"charged": amount}
