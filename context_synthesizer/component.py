"""Wiring: the only module of the context synthesizer that reads settings."""

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import load

from context_synthesizer.embeddings import Embeddings, Weigh, embed_of
from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings


def build(
    bus: Bus, settings: ContextSynthesizerSettings | None = None, weigh: Weigh | None = None
) -> Service:
    """Return the context synthesizer; it uses only the deliveries of the bus.

    A replay passes the settings, and how facts were weighed. Raises ConfigurationError.
    """
    settings = load(ContextSynthesizerSettings) if settings is None else settings
    if weigh is None and settings.embeddings:
        weigh = Embeddings(settings.embeddings, embed_of(settings.embeddings)).weigh
    return Service("context_synthesizer", ContextSynthesizer(settings, weigh).handlers, settings.concurrency)
