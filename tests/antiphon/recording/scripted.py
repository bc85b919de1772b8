"""Recordings of sessions with a scripted model: the embedded pipeline, and the SDK over a socket."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus

from antiphon import Antiphon, ToolContext, tool
from antiphon.recording.lines import Line
from antiphon.recording.session_lines import session_lines
from tests.antiphon.recording.recorded import is_closed
from tests.messages_server import MessagesServer, Scripted, serving

LIMIT_S = 60.0

During = Callable[[Antiphon, str, MessagesServer], Awaitable[object]]
"""The events while the session runs."""


@tool(effect="read")
def look_up(what: str) -> str:
    """Look something up."""
    return f"The {what} is 30 cm."


@tool(effect="read")
async def ponder(what: str) -> str:
    """Think for longer than any timeout."""
    await asyncio.sleep(60)
    return f"Nobody knows the {what}."


@tool(effect="read")
def fall_down(what: str) -> str:
    """Fail."""
    raise RuntimeError("the shelf is empty")


LET_GO: set[str] = set()
"""The sessions whose tool need dawdle no longer."""


@tool(effect="read")
async def dawdle(context: ToolContext) -> str:
    """Take as long as the test does."""
    while context.session_id not in LET_GO:  # noqa: ASYNC110  # an Event belongs to one loop, a tool to every test
        await asyncio.sleep(0.01)
    return "It is late."


async def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return close vectors for all texts about heights."""
    return [[1.0, 0.3 if "high" in text else 0.0] for text in texts]


async def scripted(
    monkeypatch: pytest.MonkeyPatch,
    script: Sequence[Scripted],
    during: During | None = None,
    tools: Sequence[Any] = (look_up, ponder, fall_down, dawdle),
    settings: dict[str, str] | None = None,
    **options: Any,
) -> list[Line]:
    """Return the recording of one session, once the decision that closes it is there."""
    quick = {"BACKOFF_INITIAL_S": "0.001", "BACKOFF_MAX_S": "0.002", "RETRY_AFTER_MAX_S": "0"}
    for name, value in quick.items():
        monkeypatch.setenv(f"ANTIPHON_REASONING_ENGINE_{name}", value)
    for name, value in (settings or {}).items():
        monkeypatch.setenv(name, value)
    async with serving(*script) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        try:
            return await _session(server, during, tools, options)
        finally:
            monkeypatch.undo()


async def _session(
    server: MessagesServer, during: During | None, tools: Sequence[Any], options: dict[str, Any]
) -> list[Line]:
    async with asyncio.timeout(LIMIT_S), Antiphon.embedded(tools=list(tools), model="anthropic") as antiphon:
        id = await antiphon.submit("How high is it?", **options)
        if during is not None:
            await during(antiphon, id, server)
        await antiphon.result(id)
        while True:
            lines = await lines_of(antiphon.open_bus(), id)
            if is_closed(lines):
                return lines
            await asyncio.sleep(0.01)


async def lines_of(bus: Bus, session_id: str) -> list[Line]:
    """Return the recording of a session as far as it has come."""
    return [line async for line in session_lines(session_id, bus)]


async def until_logged(antiphon: Antiphon, session_id: str, type: str, count: int = 1) -> None:
    """Wait until the session's log has a number of events of a type."""
    while True:
        log = await antiphon.open_bus().session(session_id).log()
        if sum(event.type == type for _, event in log) >= count:
            return
        await asyncio.sleep(0.01)
