"""Wiring: the only place of this room that reads settings."""

from collections.abc import Callable

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.bus.admission import Admission
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.conversations import SharedTurns
from antiphon_shared.bus.intake import Intake
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.memory.conversation import Turns
from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.ids import new_consumer_name
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import PipelineSettings, load

from coordinator.handlers import Coordinator
from coordinator.models import in_order
from coordinator.settings import CoordinatorSettings


def build(
    bus: Bus,
    settings: CoordinatorSettings | None = None,
    pipeline: PipelineSettings | None = None,
    outages: Callable[[], Outages] | None = None,
    turns: Turns | None = None,
) -> Service:
    """The coordinator on `bus`: the decisions, and the door that lets queries in.

    A replay gives what a recorded session was decided by; else settings come from the environment, what is out of
    order and what was said before from the bus. Raises ConfigurationError.
    """
    settings = load(CoordinatorSettings) if settings is None else settings
    pipeline = load(PipelineSettings) if pipeline is None else pipeline
    breakers = SharedBreakers(bus, load(BreakerSettings).breaker)
    coordinator = Coordinator(
        settings.limits(bus.settings.lease_s, bus.settings.deadline_max_s),
        settings.catalogue_wait_s,
        bus.current_catalogue,
        bus.catalogue,
        settings.offer,
        in_order(pipeline.model, pipeline.models),
        outages or breakers.outages,
        turns=turns or SharedTurns(bus),
    )
    admission = Admission(bus, settings.weights)
    intake = Intake(bus, new_consumer_name(), settings.intake, settings.deadline_s, admission.look_soon)
    background = (intake.run, admission.run, breakers.run)
    return Service("coordinator", coordinator.handlers, settings.concurrency, background=background)
