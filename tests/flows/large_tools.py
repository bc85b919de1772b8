"""Tools that return very much, or block their process, and writes that take as long as a test wants.

They write down that they have begun in the folder that LARGE_FOLDER names, and go on when a file is there.
"""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from antiphon import ToolContext, tool

_FOLDER = Path(os.environ.get("LARGE_FOLDER", os.devnull))
ROWS = 200_000


def many_rows() -> list[dict[str, Any]]:
    return [{"id": n, "name": f"row {n}", "value": n * 1.5, "tags": ["a", "b"]} for n in range(ROWS)]


@tool(effect="read", timeout_s=600)
async def list_rows(context: ToolContext) -> list[dict[str, Any]]:
    """Lists all rows there are."""
    rows = many_rows()
    await _wait_for_release("list_rows", context)
    return rows


@tool(effect="read", timeout_s=600)
async def hang(context: ToolContext) -> str:
    """Stops the event loop, the first time."""
    await _wait_for_release("hang", context)
    if context.attempt == 1:
        time.sleep(600)  # noqa: ASYNC251  # that is the point
    return "over"


@tool(effect="write", mode="parallel-safe", timeout_s=600)
async def write_slowly(what: str, context: ToolContext) -> dict[str, str]:
    """Writes a thing, and takes its time."""
    await _wait_for_release("write_slowly", context)
    return {"written": what}


async def _wait_for_release(name: str, context: ToolContext) -> None:
    (_FOLDER / f"begun-{context.session_id}-{context.call_id}").touch()
    while not (_FOLDER / f"{name}-may-go").exists():  # noqa: ASYNC110  # another process says so
        await asyncio.sleep(0.01)
