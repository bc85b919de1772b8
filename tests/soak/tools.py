"""Tools that misbehave, and one that needs approval; in addition to those of tests/chaos/write_tools.py."""

import asyncio
import time

from antiphon import ToolContext, tool
from tests.chaos.write_tools import asked, keyed, look_up, plain

__all__ = ["approved", "asked", "falls", "floods", "hangs", "keyed", "look_up", "overruns", "plain", "sits"]


@tool(effect="read")
def falls(what: str) -> str:
    """Always raises."""
    raise RuntimeError(f"nothing is known of {what}")


@tool(effect="read", timeout_s=0.3)
async def overruns(what: str) -> str:
    """Takes longer than it may."""
    await asyncio.sleep(3)
    return what


@tool(effect="read", timeout_s=0.5)
def hangs(what: str) -> str:
    """Holds a thread for longer than anybody waits for it."""
    time.sleep(2)
    return what


@tool(effect="read")
def floods(what: str) -> list[str]:
    """Returns far more than can be shown."""
    return [f"{what} {n} " + "x" * 200 for n in range(5_000)]


@tool(effect="read", timeout_s=60)
async def sits(what: str, context: ToolContext) -> str:
    """Takes as long as a short deadline lets it, and longer."""
    await asyncio.sleep(20)
    return what


@tool(effect="read")
def approved(what: str) -> str:
    """Runs when a person has approved it."""
    return f"{what} was approved"
