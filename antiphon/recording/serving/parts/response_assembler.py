"""The response assembler of a rerun."""

from collections.abc import Mapping

from antiphon.recording.serving.parts.part import Part, at_its_time
from antiphon.recording.serving.score import Score
from response_assembler.handlers import HANDLERS
from shared.bus.handling import Handlers
from shared.bus.redis_bus import Bus
from shared.events import AnyEvent, AssemblyRequested


class AssemblerPart(Part):
    """Assembles at the time of then, so that a session has taken as long."""

    name = "response_assembler"
    kinds = (AssemblyRequested,)

    def handlers(self, score: Score) -> Handlers:
        return HANDLERS

    def as_then(self, score: Score, event: AnyEvent) -> AnyEvent:
        return at_its_time(score, event, score.events[-1].event.time)


def build(bus: Bus, scores: Mapping[str, Score], model_url: str) -> Part:
    return AssemblerPart(bus, scores)
