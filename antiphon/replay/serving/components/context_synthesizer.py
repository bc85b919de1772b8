"""The context synthesizer of a rerun."""

from collections.abc import Mapping
from functools import partial

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import BriefingReady
from antiphon_shared.events.step_records import BriefingRecord
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.process.service import Service
from antiphon_shared.values import Round

from antiphon.replay.serving.components.part import Part
from antiphon.replay.serving.recording_index import RecordingIndex
from context_synthesizer.component import build
from context_synthesizer.embeddings import WeighedDelta
from context_synthesizer.session_index_cache import CachedIndex
from context_synthesizer.settings import ContextSynthesizerSettings


class SynthesizerPart(Part):
    """The synthesizer with the recorded limits, and with the recorded weights of facts from embeddings."""

    name = "context_synthesizer"

    def service(self, bus: Bus, recording_index: RecordingIndex) -> Service:
        settings = ContextSynthesizerSettings.model_construct()
        if record := next(iter(recording_index.records_of(BriefingRecord)), None):
            bounds = {"briefing_tokens": record.briefing_tokens, "memory_bytes_max": record.memory_bytes_max}
            settings = settings.model_copy(update=bounds)
        salience: dict[Round, dict[str, float]] = {}
        for _, ready in recording_index.all_of(BriefingReady):
            salience.setdefault(ready.round, {}).update(ready.salience)
        return build(bus, settings, partial(_weighed, salience) if any(salience.values()) else None)


async def _weighed(
    salience: Mapping[Round, Mapping[str, float]],
    delta: MemoryDelta,
    kept: CachedIndex,
    round: Round,
    session: SessionStore,
) -> WeighedDelta:
    then = salience.get(round, {})
    facts = (fact.model_copy(update={"salience": then.get(fact.id, fact.salience)}) for fact in delta.facts)
    return WeighedDelta(delta.model_copy(update={"facts": tuple(facts)}), then)
