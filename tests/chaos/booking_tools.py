"""Tools of a booking service that keeps a ledger of its own: each effect is a row of the SQLite file BOOKINGS_FILE.

A call takes BOOKING_S, half of it before its effect, so that it can be killed on either side of it.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from antiphon import ToolContext, ToolFailed, tool

_FILE = Path(os.environ.get("BOOKINGS_FILE", os.devnull))
_TAKES_S = float(os.environ.get("BOOKING_S", "0"))
_LOCKED_MAX_S = 60.0
_TABLES = """
CREATE TABLE IF NOT EXISTS effects (key TEXT, run TEXT, node TEXT, tool TEXT);
CREATE TABLE IF NOT EXISTS refusals (run TEXT, node TEXT);
"""
_ONCE = "INSERT INTO effects SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 FROM effects WHERE key = ?1)"


@contextmanager
def ledger(file: Path) -> Iterator[sqlite3.Connection]:
    """Open the ledger for the length of a block; every command is its own transaction."""
    with closing(sqlite3.connect(file, _LOCKED_MAX_S, isolation_level=None)) as connection:
        connection.executescript(_TABLES)
        yield connection


@tool(effect="write")
def book(node: str, context: ToolContext, refusals: int = 0) -> dict[str, str]:
    """Book something. The service knows no keys: a second call is a second booking."""
    _refuse(node, context, refusals)
    return _effect("INSERT INTO effects VALUES (?1, ?2, ?3, ?4)", "book", node, context)


@tool(effect="write", idempotent=True)
def reserve(node: str, context: ToolContext) -> dict[str, str]:
    """Reserve something. The service does it once for each key."""
    return _effect(_ONCE, "reserve", node, context)


@tool(effect="write", idempotent=True)
def cancel(node: str, context: ToolContext) -> dict[str, str]:
    """Cancel the booking or reservation of a node."""
    return _effect(_ONCE, "cancel", node, context)


@tool(effect="read")
def decline(node: str) -> dict[str, str]:
    """Decline, after a while."""
    time.sleep(_TAKES_S)
    raise ToolFailed("not_found", f"There is nothing for {node}.")


def _effect(command: str, name: str, node: str, context: ToolContext) -> dict[str, str]:
    time.sleep(_TAKES_S / 2)
    with ledger(_FILE) as connection:
        connection.execute(command, (context.idempotency_key, context.session_id, node, name))
    time.sleep(_TAKES_S / 2)
    return {"node": node}


def _refuse(node: str, context: ToolContext, refusals: int) -> None:
    with ledger(_FILE) as connection:
        row = (context.session_id, node)
        (so_far,) = connection.execute(
            "SELECT count(*) FROM refusals WHERE run = ? AND node = ?", row
        ).fetchone()
        if so_far < refusals:
            connection.execute("INSERT INTO refusals VALUES (?, ?)", row)
            raise ToolFailed("rate_limit", "The service is busy. Nothing was booked.")
