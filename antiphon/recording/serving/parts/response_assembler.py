"""The response assembler of a rerun."""

from collections.abc import Mapping

from antiphon.recording.serving.parts.part import Part, at_its_time
from antiphon.recording.serving.score import Score
from antiphon.recording.serving.tools import note_unfinished
from response_assembler.handlers import HANDLERS
from shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from shared.bus.redis_bus import Bus
from shared.events import AnyEvent, AssemblyRequested
from shared.step_records import AssemblyRecord


class AssemblerPart(Part):
    """Assembles at the time of then, so that a session has taken as long."""

    name = "response_assembler"
    kinds = (AssemblyRequested,)

    def handlers(self, score: Score) -> Handlers:
        return HANDLERS

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """With the journal of a batch under way as it was read then, however far the batch is today."""
        record = self.score(session.session_id).records.get(delivery.event.id)
        if isinstance(record, AssemblyRecord) and record.batch is not None:
            await note_unfinished(record.batch, session)
        return await super().play(delivery, session)

    def as_then(self, score: Score, event: AnyEvent) -> AnyEvent:
        return at_its_time(score, event, score.events[-1].event.time)


def build(bus: Bus, scores: Mapping[str, Score], model_url: str) -> Part:
    return AssemblerPart(bus, scores)
