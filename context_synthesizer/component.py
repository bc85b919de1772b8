"""Wiring: the only place of this room that reads settings."""

from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings
from shared.bus.redis_bus import Bus
from shared.service import Service
from shared.settings import load


def build(bus: Bus) -> Service:
    """The context synthesizer; it needs nothing of the bus but its deliveries."""
    settings = load(ContextSynthesizerSettings)
    return Service("context_synthesizer", ContextSynthesizer(settings).handlers, settings.concurrency)
