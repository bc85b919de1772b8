"""Wiring: the only place of this room that reads settings and builds clients."""

from reasoning_engine.handlers import ReasoningEngine
from reasoning_engine.model import Model, choose_model
from reasoning_engine.settings import EngineSettings, Provider
from shared.bus.redis_bus import Bus
from shared.service import Service
from shared.settings import PipelineSettings, load, load_environment


def build(bus: Bus, model: Model | None = None, provider: Provider | None = None) -> Service:
    """The reasoning engine on `bus`, with the model the environment names unless it, or who provides it, is given.

    Raises ConfigurationError.
    """
    settings, pipeline = load(EngineSettings), load(PipelineSettings)
    close, is_offline = None, False
    if model is None:
        model = chosen = choose_model(
            provider or settings.provider,
            load_environment("ANTHROPIC_API_KEY"),
            load_environment("ANTHROPIC_BASE_URL"),
            settings.request_timeout_s,
        )
        close, is_offline = chosen.close, chosen.is_offline
    engine = ReasoningEngine(model, settings, pipeline.model, bus.catalogue, is_offline)
    return Service(
        "reasoning_engine", engine.handlers, settings.concurrency, close=close, stops_with_session=True
    )
