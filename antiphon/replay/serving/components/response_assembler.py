"""The response assembler of a rerun."""

from antiphon_shared.bus.handling import Delivery, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent
from antiphon_shared.events.step_records import AssemblyRecord
from antiphon_shared.process.service import Service

from antiphon.replay.serving.components.part import Part, with_recorded_time
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.tools import note_unfinished
from response_assembler.component import build
from response_assembler.settings import ResponseAssemblerSettings


class AssemblerPart(Part):
    """The assembler with the recorded times, so that a session has the same duration."""

    name = "response_assembler"

    def service(self, bus: Bus, recording_index: RecordingIndex) -> Service:
        return build(bus, ResponseAssemblerSettings.model_construct(), now=None)

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Restore the journal of a batch in flight as it was read, then run the step."""
        record = self.recording_index(session.session_id).records.get(delivery.event.id)
        if isinstance(record, AssemblyRecord) and record.batch is not None:
            await note_unfinished(record.batch, session)
        return await super().play(delivery, session)

    def as_recorded(self, recording_index: RecordingIndex, event: AnyEvent) -> AnyEvent:
        return with_recorded_time(recording_index, event, recording_index.events[-1].event.time)
