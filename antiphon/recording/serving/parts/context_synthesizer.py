"""The context synthesizer of a rerun."""

from collections.abc import Mapping

from antiphon.recording.serving.parts.part import Part
from antiphon.recording.serving.score import Score
from context_synthesizer.handlers import ContextSynthesizer
from context_synthesizer.settings import ContextSynthesizerSettings
from shared.bus.handling import Handlers
from shared.bus.redis_bus import Bus
from shared.events import BriefingRequested
from shared.step_records import BriefingRecord


class SynthesizerPart(Part):
    """Builds briefings within the bounds of then."""

    name = "context_synthesizer"
    kinds = (BriefingRequested,)

    def handlers(self, score: Score) -> Handlers:
        settings = ContextSynthesizerSettings.model_construct()
        if record := next(iter(score.records_of(BriefingRecord)), None):
            bounds = {"briefing_tokens": record.briefing_tokens, "memory_bytes_max": record.memory_bytes_max}
            settings = settings.model_copy(update=bounds)
        return ContextSynthesizer(settings).handlers


def build(bus: Bus, scores: Mapping[str, Score], model_url: str) -> Part:
    return SynthesizerPart(bus, scores)
