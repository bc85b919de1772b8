"""Waiting for one's turn: each step of a rerun is made when what preceded it in the recording has happened again."""

import asyncio

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s

POLL_S = 0.01
PATIENCE_S = 5.0
"""A log that does not grow for so long goes another way than the recorded one, and nothing is waited for any more."""
_LOOK_S_MAX = 0.25
"""What of the time between two looks counts: while this machine stands still, or Redis, no log can grow."""


async def events_there(bus: Bus, session_id: str, count: int) -> bool:
    """Return when the session's log has so many events: True, or False when it does not grow any more."""
    log, length, silent_s, looked_s = bus.keys.log(session_id), -1, 0.0, monotonic_s()
    while True:
        now: int = await bus.batcher.submit("XLEN", log)
        if now >= count:
            return True
        before_s, looked_s = looked_s, monotonic_s()
        silent_s += min(looked_s - before_s, _LOOK_S_MAX)
        if now != length:
            length, silent_s = now, 0.0
        elif silent_s > PATIENCE_S:
            return False
        await asyncio.sleep(POLL_S)
