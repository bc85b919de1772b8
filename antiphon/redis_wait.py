"""The wait for a Redis that is not available yet, shown to the person at the terminal."""

import asyncio
import sys

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.settings import PipelineSettings

_POLL_S = 0.2
_FIRST_ATTEMPT_S = 6.0
"""The maximum time of the first attempt to connect, whose own timeout is shorter."""


async def wait_for_redis(settings: PipelineSettings, *, waits: bool) -> None:
    """Return when Redis replies; show the wait on a terminal.

    Raises ConfigurationError if a retry cannot help, and RedisUnavailable at once unless it `waits`.
    """
    bus = Bus.from_settings(settings)
    began = monotonic_s()
    opening = asyncio.create_task(bus.open(None if waits else _FIRST_ATTEMPT_S))
    try:
        while not (await asyncio.wait({opening}, timeout=_POLL_S))[0]:
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
    """Replace the line shown on a terminal; without a terminal, only the log reports."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
