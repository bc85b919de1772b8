"""Wiring: the only file of this package that reads settings."""

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import load

from response_assembler.handlers import Clock, handlers
from response_assembler.settings import ResponseAssemblerSettings


def build(
    bus: Bus, settings: ResponseAssemblerSettings | None = None, now: Clock | None = utc_now
) -> Service:
    """Return the response assembler. Raises ConfigurationError.

    A replay passes no clock, as it composes at the recorded time.
    """
    settings = load(ResponseAssemblerSettings) if settings is None else settings
    return Service("response_assembler", handlers(now), settings.concurrency)
