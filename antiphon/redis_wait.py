"""Waiting for a Redis that is not there yet, so that a person sees what is waited for."""

import asyncio
import sys

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.settings import PipelineSettings

_LOOK_S = 0.2
_FIRST_ANSWER_S = 6.0
"""An attempt to connect is given up sooner."""


async def wait_for_redis(settings: PipelineSettings, *, waits: bool) -> None:
    """Return when Redis answers; say so on a terminal while it does not.

    Raises ConfigurationError where waiting cannot help, and RedisUnavailable at once unless it `waits`.
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
                    f"{bus.connections.unavailable} Waiting: {monotonic_s() - began:.0f} s, Ctrl-C ends it."
                )
        await opening
    finally:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await bus.close()
        _show("")


def _show(line: str) -> None:
    """One line of a terminal, in the place of the one before; elsewhere the log tells."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
