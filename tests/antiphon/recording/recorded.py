"""Recordings for tests, made by the real pipeline: embedded, with the offline model."""

import asyncio
from typing import Any

from antiphon import Antiphon
from antiphon.recording.lines import End, EventLine, Line, RecordLine
from antiphon.recording.session_lines import session_lines

COURSES_QUERY = 'Find a course that discusses the same topic as lesson 4 of course "Designing Web APIs"'
_CLOSED_LIMIT_S = 60.0


async def recorded(
    query: str = COURSES_QUERY, tools: Any = ("examples.courses",), **options: Any
) -> list[Line]:
    """Return a session of the offline model, as its recording, once the last decision is in it."""
    async with Antiphon.embedded(tools=list(tools), model="offline") as antiphon:
        response = await antiphon.ask(query, **options)
        return await closed_lines(antiphon, response.session_id)


async def closed_lines(antiphon: Antiphon, session_id: str) -> list[Line]:
    """Return the recording of a session, once its last decision is in it."""
    bus = antiphon.open_bus()
    async with asyncio.timeout(_CLOSED_LIMIT_S):
        while True:
            lines = [line async for line in session_lines(session_id, bus)]
            if is_closed(lines):
                return lines
            await asyncio.sleep(0.01)


def is_closed(lines: list[Line]) -> bool:
    """Return whether the decision that closes the session is there; an earlier request's summary may come after it."""
    return any(isinstance(line, RecordLine) and getattr(line.record, "closes", False) for line in lines)


def events(lines: list[Line]) -> list[EventLine]:
    """Return the events among the lines."""
    return [line for line in lines if isinstance(line, EventLine)]


def end(lines: list[Line]) -> End:
    """Return the last line."""
    assert isinstance(lines[-1], End)
    return lines[-1]
