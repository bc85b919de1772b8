"""Tools of recorded runs: each does what its name says, at once."""

import asyncio
from typing import Any

from antiphon import ToolFailed, tool

_TRIED: dict[str, int] = {}


@tool(effect="read")
def find(place: str) -> dict[str, Any]:
    """Find rooms."""
    return {"rooms": [{"id": f"{place}-1", "price": 80}, {"id": f"{place}-2", "price": 120}], "count": 2}


@tool(effect="read", mode="sequential-only")
def count(number: int) -> dict[str, Any]:
    """Count, one at a time; odd numbers fail."""
    if number % 2:
        raise ToolFailed("validation_error", f"{number} is odd")
    return {"number": number}


@tool(effect="read", retry=1)
def stutter(name: str, times: int) -> dict[str, Any]:
    """Fail so often, for a reason that passes."""
    _TRIED[name] = _TRIED.get(name, 0) + 1
    if _TRIED[name] <= times:
        raise ToolFailed("rate_limit", "not so fast")
    return {"tries": _TRIED[name]}


@tool(effect="write")
def reserve(room: str) -> dict[str, Any]:
    """Reserve a room."""
    return {"reservation": f"R-{room}"}


@tool(effect="write")
def release(reservation: str) -> dict[str, Any]:
    """Give a reservation back."""
    return {"released": reservation}


@tool(effect="write")
def lose(room: str) -> dict[str, Any]:
    """Break off without a word of what has happened."""
    raise ValueError("the line is dead")


@tool(effect="write")
def charge(amount: int) -> dict[str, Any]:
    """Charge a card; a person has to approve it."""
    return {"charged": amount}


@tool(effect="read")
async def pause() -> str:
    """Take a long time."""
    await asyncio.sleep(60)
    return "rested"


@tool(effect="write", scopes="rooms.admit")
def admit(guest: str) -> str:
    """Admit a guest, which needs a scope of its own."""
    return guest
