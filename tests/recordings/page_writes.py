"""Tools beside those of page_tools.py that write, wait for others, or take their time."""

import asyncio
from typing import Any

from antiphon import Dependency, ToolFailed, tool
from tests.recordings.pages import PAGES


@tool(effect="read", timeout_s=60)
async def open_slowly(name: str) -> Any:
    """Opens a page, and takes its time."""
    await asyncio.sleep(20)
    return PAGES[name]


@tool(effect="write", repeat="ask")
def order(what: str) -> dict[str, str]:
    """Orders a thing; once more only if a person agrees."""
    if what == "a wreck":
        raise ToolFailed("outcome_unknown", "The yard does not answer.", "Ask the yard.")
    return {"ordered": f"One {what} is ordered."}


@tool(effect="write")
def paint(what: str) -> dict[str, str]:
    """Paints a thing."""
    if what == "the sea":
        raise ToolFailed("validation_error", "It cannot be painted.", "Paint something else.")
    if what == "the sky":
        raise ToolFailed("outcome_unknown", "Nobody looked.", "Look up.")
    return {"painted": f"The {what} is blue now."}


@tool(effect="write", timeout_s=60)
async def paint_slowly(what: str) -> str:
    """Paints a thing with care."""
    await asyncio.sleep(20)
    return f"The {what} is blue now."


@tool(effect="read", depends_on=Dependency(tool="open_page", required_fields=("name", "owner")))
def ask_owner(name: str) -> dict[str, str]:
    """Asks the owner of what a page is about."""
    return {"said": f"{name} is in order."}


@tool(effect="read", depends_on=Dependency(tool="find"))
def look_closer(at: str) -> dict[str, str]:
    """Looks closer at what was found."""
    return {"seen": f"It is {at}."}


@tool(effect="read", mode="sequential-only", error_propagation="fail-fast")
def dive(to: str) -> dict[str, str]:
    """Dives to a place."""
    if to == "the wreck":
        raise ToolFailed("validation_error", "It is too deep", "Do not.")
    return {"found": f"There is sand at {to}."}
