"""Three writes, each with another promise to keep, and the read they all begin with.

They write down where they are, in the file that RUNS_FILE names: `begin` first of all, `sends` right before the
request goes to the service at SERVICE_PORT, `end` last of all.
"""

import asyncio
import json
import os
import random
import time
from typing import Any
from uuid import uuid4

from antiphon import NO_EFFECT, TookEffect, ToolContext, ToolFailed, tool
from tests.chaos.write_service import receipt_from
from tests.flows.shared_file import append_line

_FILE = os.environ.get("RUNS_FILE", os.devnull)
_PORT = int(os.environ.get("SERVICE_PORT", "0"))
_WAIT_S = float(os.environ.get("RUN_WAIT_S", "0"))
_TIMEOUT_S = 300
"""Far longer than any freeze here: a run that times out would be of unknown outcome, which these tests do not need."""


@tool(effect="read")
async def look_up(what: str) -> dict[str, str]:
    """Finds something else in each of its runs: a write that is taken over must still have its first arguments."""
    await _asleep()
    return {"found": f"{what} {uuid4().hex[:8]}"}


@tool(effect="write", idempotent=True, error_propagation="partial-success", timeout_s=_TIMEOUT_S)
async def keyed(what: str, context: ToolContext) -> dict[str, Any]:
    """Writes to a service that honours its key."""
    return await asyncio.to_thread(_write, "keyed", what, context)


def _reconciled_outcome(key: str, arguments: dict[str, Any], context: ToolContext) -> Any:
    """Ask the service for the outcome. A no is a promise: it then refuses late requests of an earlier run."""
    receipt = receipt_from(_PORT, "/came-of", key=key, fence=context.fence)
    return NO_EFFECT if receipt is None else TookEffect({"receipt": receipt, "run": None})


@tool(
    effect="write", reconcile=_reconciled_outcome, error_propagation="partial-success", timeout_s=_TIMEOUT_S
)
def asked(what: str, context: ToolContext) -> dict[str, Any]:
    """Writes to a service that ignores keys, and can be asked for an outcome."""
    return _write("asked", what, context)


@tool(effect="write", error_propagation="partial-success", timeout_s=_TIMEOUT_S)
def plain(what: str, context: ToolContext) -> dict[str, Any]:
    """Writes to a service that honours no key and cannot be asked."""
    return _write("plain", what, context)


def _write(kind: str, what: str, context: ToolContext) -> dict[str, Any]:
    run = uuid4().hex[:12]
    _note("begin", run, kind, context)
    try:
        time.sleep(_drawn_s())
        _note("sends", run, kind, context)
        receipt = receipt_from(
            _PORT,
            "/effects",
            run=run,
            key=context.idempotency_key,
            what=what,
            fence=context.fence,
            honours_key=kind == "keyed",
        )
        if receipt is None:
            raise ToolFailed("cancelled", "A later run has been told that this one has no effect.")
        time.sleep(_drawn_s())
        return {"receipt": receipt, "run": run}
    finally:
        _note("end", run, kind, context)


async def _asleep() -> None:
    await asyncio.sleep(_drawn_s())


def _drawn_s() -> float:
    return _WAIT_S * random.uniform(0.5, 1.5)


def _note(at: str, run: str, kind: str, context: ToolContext) -> None:
    line = {
        "at": at,
        "run": run,
        "kind": kind,
        "key": context.idempotency_key,
        "fence": context.fence,
        "pid": os.getpid(),
    }
    append_line(_FILE, json.dumps(line))
