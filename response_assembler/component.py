"""Wiring: the only place of this room that reads settings."""

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import load

from response_assembler.handlers import HANDLERS
from response_assembler.settings import ResponseAssemblerSettings


def build(bus: Bus, settings: ResponseAssemblerSettings | None = None) -> Service:
    """The response assembler; it needs nothing of the bus but its deliveries. Raises ConfigurationError."""
    settings = load(ResponseAssemblerSettings) if settings is None else settings
    return Service("response_assembler", HANDLERS, settings.concurrency)
