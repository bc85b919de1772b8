"""Wiring: the only place of this room that reads settings."""

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import load

from response_assembler.handlers import Clock, handlers
from response_assembler.settings import ResponseAssemblerSettings


def build(
    bus: Bus, settings: ResponseAssemblerSettings | None = None, now: Clock | None = utc_now
) -> Service:
    """The response assembler; it needs nothing of the bus but its deliveries. Raises ConfigurationError.

    A replay gives no clock: it composes at the time of then.
    """
    settings = load(ResponseAssemblerSettings) if settings is None else settings
    return Service("response_assembler", handlers(now), settings.concurrency)
