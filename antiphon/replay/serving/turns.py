"""The turns of a rerun: each step runs after the events before it in the recording."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s

POLL_S = 0.01
PATIENCE_S = 5.0
"""The time without any new event of any session, in seconds, after which missing events are no longer awaited."""
_LOOK_S_MAX = 0.25
"""The most time that counts between two checks, as no log can grow while this machine or Redis stalls."""


async def wait_for_events(bus: Bus, session_id: str, count: int) -> bool:
    """Wait for `count` events in the session's log; return False if no session continues before that."""
    log = bus.keys.log(session_id)

    async def are_there() -> bool:
        length: int = await bus.batcher.submit("XLEN", log)
        return length >= count

    return await wait_until(bus, session_id, are_there)


async def wait_until(bus: Bus, session_id: str, condition: Callable[[], Awaitable[bool]]) -> bool:
    """Wait for a condition of the session; return False if no session of its partition continues before that.

    While other sessions continue, the wait continues too, as a slow machine may not have reached this session yet.
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
