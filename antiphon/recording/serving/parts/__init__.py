"""The five components of a rerun: today's code, set up for each session as it was when it was recorded.

What a component's surroundings did is done again: a step that failed fails, what never ended never ends, the breakers
are open that were open, and events have the times that they had. So it takes no clock to reach a deadline, and what
is decided is what today's code makes of the same inputs, in the same order.
"""

from collections.abc import Mapping
from importlib import import_module

from antiphon.recording.serving.parts.part import Part
from antiphon.recording.serving.score import Score
from shared.bus.redis_bus import Bus
from shared.events import Component
from shared.service import Service
from shared.settings import BusSettings

_CONCURRENCY = 64


def part_of(name: Component, bus: Bus, scores: Mapping[str, Score], model_url: str) -> Service:
    """One component, for the sessions of these scores."""
    # By its name: the process of one component has no use for the code of the others.
    part: Part = import_module(f"{__name__}.{name}").build(bus, scores, model_url)
    return Service(
        name,
        dict.fromkeys(part.kinds, part.play),
        _CONCURRENCY,
        close=part.close,
        stops_with_session=name in ("reasoning_engine", "tool_dispatcher"),
    )


def bus_settings() -> BusSettings:
    """The bus of a rerun, whatever the environment says: nothing is tried twice, and nothing recorded."""
    return BusSettings.model_construct(max_attempts=1, max_open_sessions=100_000, recording=False)
