"""Wiring: the only place of this room that reads settings."""

from context_synthesizer.embeddings import load_embed
from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings
from shared.bus.redis_bus import Bus
from shared.service import Service
from shared.settings import load


def build(bus: Bus) -> Service:
    """The context synthesizer; it needs nothing of the bus but its deliveries."""
    settings = load(ContextSynthesizerSettings)
    embed = load_embed(settings.embeddings) if settings.embeddings else None
    return Service("context_synthesizer", ContextSynthesizer(settings, embed).handlers, settings.concurrency)
