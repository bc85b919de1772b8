"""Wiring: the only file of this package that reads settings and builds clients."""

from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.service import Background, Service
from antiphon_shared.process.settings import PipelineSettings, load

from reasoning_engine.access import load_access
from reasoning_engine.call_guard import CallGuard
from reasoning_engine.choice import choose_model
from reasoning_engine.engine import UNGUARDED
from reasoning_engine.handlers import ReasoningEngine
from reasoning_engine.limits.limiter import Limiter
from reasoning_engine.port import Model
from reasoning_engine.settings import EngineSettings, Provider


def build(
    bus: Bus,
    model: Model | None = None,
    provider: Provider | None = None,
    guard: CallGuard = UNGUARDED,
    settings: EngineSettings | None = None,
    pipeline: PipelineSettings | None = None,
) -> Service:
    """Return the reasoning engine on `bus`, with the environment's model unless `model` or `provider` is given.

    A given model has neither limits nor a breaker, unless its owner passes a `guard` with them. Settings come
    from the environment unless they are given. Raises ConfigurationError.
    """
    settings = load(EngineSettings) if settings is None else settings
    pipeline = load(PipelineSettings) if pipeline is None else pipeline
    system = settings.system_prompt()
    close, is_offline = None, getattr(model, "is_offline", False)
    background: tuple[Background, ...] = ()
    if model is None:
        model = chosen = choose_model(
            provider or settings.provider,
            load_access(),
            settings.request_timeout_s,
            {
                "ANTIPHON_MODEL": (pipeline.model,),
                "ANTIPHON_MODELS": pipeline.models,
                "ANTIPHON_REASONING_ENGINE_SUMMARY_MODEL": (settings.summary_model,),
            },
        )
        close, is_offline = chosen.close, chosen.is_offline
        if not is_offline:
            guard, background = _limits_and_breaker(bus, settings)
    keep = bus.keep_content if bus.settings.recording else None
    engine = ReasoningEngine(
        model,
        settings,
        pipeline.model,
        load_catalogue=bus.catalogue,
        is_offline=is_offline,
        guard=guard,
        remember=keep,
        system=system,
        record_bytes_max=bus.settings.max_event_bytes,
        interruptions=lambda: bus.batcher.interruptions,
        redactor=bus.redactor,
    )
    return Service(
        "reasoning_engine", engine.handlers, settings.concurrency, background, close, stops_with_session=True
    )


def _limits_and_breaker(bus: Bus, settings: EngineSettings) -> tuple[CallGuard, tuple[Background, ...]]:
    """Return the guard of calls to a server, with its duty in the background."""
    breakers = SharedBreakers(bus, load(BreakerSettings).breaker)
    limiter = Limiter(bus.batcher, bus.keys, settings.limits)
    return CallGuard(limiter, breakers, settings.slow_s, settings.retry_after_max_s), (breakers.run,)
