"""Failures on demand, for demonstrations and tests: TRAVEL_FAILURES says which calls fail, and how.

    TRAVEL_FAILURES=book_hotel:1                 the first call of book_hotel fails; nothing was written
    TRAVEL_FAILURES=search_flights               every call fails
    TRAVEL_FAILURES=process_payment:declined     every payment is declined
    TRAVEL_FAILURES=create_booking:timeout:1,confirm_trip:declined

An entry is `TOOL`, `TOOL:KIND`, `TOOL:COUNT` or `TOOL:KIND:COUNT`. The kinds: `down`, which may pass; `declined`, which
stays; `timeout`: a write takes place, and its answer is lost. Calls are counted in the database, over all processes;
an attempt that is made again is one more call.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from antiphon import ToolFailed

from .database import TRAVEL, TravelSettings

_ENTRY = re.compile(r"(?P<tool>[a-z_]+)(:(?P<kind>down|declined|timeout))?(:(?P<count>[0-9]{1,9}))?")


@contextmanager
def answering(tool: str, is_write: bool = False) -> Iterator[None]:
    """Answer a call of a tool, or fail it where TRAVEL_FAILURES says so."""
    try:
        kind = _due(tool)
        if kind == "down":
            raise ToolFailed("api_failure", f"The travel service is out of order. {_nothing(is_write)}")
        if kind == "declined":
            raise ToolFailed(
                "validation_error",
                f"{tool} was declined. {_nothing(is_write)}",
                "Do not repeat it; say that it was declined.",
                code="DECLINED",
            )
        yield
        if kind == "timeout":
            message = "The answer of the travel service was lost."
            raise ToolFailed("outcome_unknown" if is_write else "timeout", message)
    except sqlite3.Error as error:
        why = f"The travel service cannot be used: {error}. {_nothing(is_write)}"
        raise ToolFailed("api_failure", why) from None


def _due(tool: str) -> str | None:
    """Return how this call fails, if it does, and count it."""
    for entry in filter(None, map(str.strip, TravelSettings().failures.split(","))):
        found = _ENTRY.fullmatch(entry)
        if found is None:
            raise ToolFailed(
                "permission_denied",
                f"TRAVEL_FAILURES has an entry that cannot be read: {entry!r}. Nothing was done.",
                "Say that the operator has to write TOOL:KIND:COUNT, such as book_hotel:down:1.",
            )
        if found["tool"] == tool and (not found["count"] or _counted(entry) <= int(found["count"])):
            return found["kind"] or "down"
    return None


def _counted(entry: str) -> int:
    command = "INSERT INTO failures VALUES (?, 1) ON CONFLICT (entry) DO UPDATE SET calls = calls + 1 RETURNING calls"
    with TRAVEL.writing() as connection:
        return int(connection.execute(command, (entry,)).fetchone()["calls"])


def _nothing(is_write: bool) -> str:
    return "Nothing was written." if is_write else "Nothing was found out."
