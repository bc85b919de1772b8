"""The turns of a rerun: each step runs when the events before it in the recording have happened again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s

POLL_S = 0.01
PATIENCE_S = 5.0
"""The silence of all sessions after which a log that does not grow is taken to differ from the recorded one."""
_LOOK_S_MAX = 0.25
"""The limit of counted time between two checks: while this machine or Redis stalls, no log can grow."""


async def events_there(bus: Bus, session_id: str, count: int) -> bool:
    """Return True if the session's log has so many events, or False if it does not grow any more."""
    log = bus.keys.log(session_id)

    async def are_there() -> bool:
        length: int = await bus.batcher.submit("XLEN", log)
        return length >= count

    return await reached(bus, session_id, are_there)


async def reached(bus: Bus, session_id: str, condition: Callable[[], Awaitable[bool]]) -> bool:
    """Return True if a condition of the session holds, or False if no session of its partition continues.

    While other sessions continue, the wait continues too: a slow machine may not have reached this session yet.
    """
    feed = bus.keys.feed(bus.keys.partition(session_id))
    newest: Any = None
    silent_s, looked_s = 0.0, monotonic_s()
    while not await condition():
        before_s, looked_s = looked_s, monotonic_s()
        silent_s += min(looked_s - before_s, _LOOK_S_MAX)
        before, newest = newest, await bus.batcher.submit("XREVRANGE", feed, "+", "-", "COUNT", 1)
        if newest != before:
            silent_s = 0.0
        elif silent_s > PATIENCE_S:
            return False
        await asyncio.sleep(POLL_S)
    return True
