"""Writes whose effects are counted where they take place: in a file, one line for each run that has an effect."""

import os
from typing import Any

from antiphon import NO_EFFECT, TookEffect, ToolContext, tool
from tests.flows.shared_file import append_line

_FILE = os.environ.get("EFFECTS_FILE", os.devnull)


@tool(effect="write", idempotent=True)
def book(what: str, context: ToolContext) -> dict[str, str]:
    """Books a thing, once for each key."""
    if not _has(context.idempotency_key):
        _note("book", context.idempotency_key, what)
    return {"booked": what}


def _reconciled_outcome(key: str, arguments: dict[str, Any]) -> Any:
    return TookEffect({"posted": arguments["what"]}) if _has(key) else NO_EFFECT


@tool(effect="write", reconcile=_reconciled_outcome)
def post(what: str, context: ToolContext) -> dict[str, str]:
    """Posts a thing; what has been posted can be looked up."""
    _note("post", context.idempotency_key, what)
    return {"posted": what}


def _has(key: str) -> bool:
    try:
        with open(_FILE) as file:
            return any(line.split()[1] == key for line in file)
    except FileNotFoundError:
        return False


def _note(name: str, key: str, what: str) -> None:
    append_line(_FILE, f"{name} {key} {what}")
