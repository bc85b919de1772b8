"""Waiting for a Redis that is not available yet, visibly for a person."""

import asyncio
import sys

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.settings import PipelineSettings

_LOOK_S = 0.2
_FIRST_ANSWER_S = 6.0
"""The longest time for the first attempt to connect, in seconds; the attempt's own timeout is shorter."""


async def wait_for_redis(settings: PipelineSettings, *, waits: bool) -> None:
    """Return when Redis replies; show the wait on a terminal.

    Raises ConfigurationError if a retry cannot help, and RedisUnavailable at once unless it `waits`.
    """
    bus = Bus.from_settings(settings)
    began = monotonic_s()
    opening = asyncio.create_task(bus.open(None if waits else _FIRST_ANSWER_S))
    try:
        while not (await asyncio.wait({opening}, timeout=_LOOK_S))[0]:
            if bus.connections.failure:
                if not waits:
                    raise bus.connections.unavailable
                _show(
                    f"{bus.connections.unavailable} Waiting for {monotonic_s() - began:.0f} s; press "
                    "Ctrl-C to stop."
                )
        await opening
    finally:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await bus.close()
        _show("")


def _show(line: str) -> None:
    """Show one line on a terminal in place of the one before; elsewhere the log reports."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
