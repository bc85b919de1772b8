"""Waiting for one's turn: each step of a rerun is made when what preceded it in the recording has happened again."""

import asyncio
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s

POLL_S = 0.01
PATIENCE_S = 5.0
"""A log that does not grow goes another way than the recorded one, when nothing happens in any session for so long."""
_LOOK_S_MAX = 0.25
"""What of the time between two looks counts: while this machine stands still, or Redis, no log can grow."""


async def events_there(bus: Bus, session_id: str, count: int) -> bool:
    """Return when the session's log has so many events: True, or False when it does not grow any more.

    Where other sessions go on, the machine has perhaps only not come to this one yet, and it is waited for.
    """
    log, feed = bus.keys.log(session_id), bus.keys.feed(bus.keys.partition(session_id))
    newest: Any = None
    silent_s, looked_s = 0.0, monotonic_s()
    while await bus.batcher.submit("XLEN", log) < count:
        before_s, looked_s = looked_s, monotonic_s()
        silent_s += min(looked_s - before_s, _LOOK_S_MAX)
        before, newest = newest, await bus.batcher.submit("XREVRANGE", feed, "+", "-", "COUNT", 1)
        if newest != before:
            silent_s = 0.0
        elif silent_s > PATIENCE_S:
            return False
        await asyncio.sleep(POLL_S)
    return True
