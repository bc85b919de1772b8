"""Wiring: the only place of this room that reads settings."""

from response_assembler.handlers import HANDLERS
from response_assembler.settings import ResponseAssemblerSettings
from shared.bus.redis_bus import Bus
from shared.service import Service
from shared.settings import load


def build(bus: Bus, settings: ResponseAssemblerSettings | None = None) -> Service:
    """The response assembler; it needs nothing of the bus but its deliveries. Raises ConfigurationError."""
    settings = load(ResponseAssemblerSettings) if settings is None else settings
    return Service("response_assembler", HANDLERS, settings.concurrency)
