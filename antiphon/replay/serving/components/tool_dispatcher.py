"""The tool dispatcher of a rerun: today's, with tools that answer from the recordings."""

from collections.abc import Mapping

from antiphon_shared.bus.handling import Delivery, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.process.service import Service

from antiphon.replay.serving.components.part import Part
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.tools import (
    RecordedCaller,
    RecordedGatekeeper,
    RecordedResults,
    current_trace,
    recorded_tools,
)
from tool_dispatcher.component import build
from tool_dispatcher.settings import ToolDispatcherSettings


class DispatcherPart(Part):
    """The dispatcher with the recorded limits; it reports calls that were not recorded."""

    name = "tool_dispatcher"

    def __init__(self, bus: Bus, recordings: Mapping[str, RecordingIndex], misses: list[Miss]) -> None:
        super().__init__(bus, recordings, misses)
        self._results = {id: RecordedResults(recording_index) for id, recording_index in recordings.items()}
        self._callers = {id: RecordedCaller(id, misses) for id in recordings}

    def service(self, bus: Bus, recording_index: RecordingIndex) -> Service:
        settings = ToolDispatcherSettings.model_construct()
        if record := next(iter(recording_index.records_of(BatchRecord)), None):
            bounds = {"batch_concurrency": record.batch_concurrency, "collapse_above": record.collapse_above}
            settings = settings.model_copy(update=bounds)
        caller = self._callers[recording_index.session_id]
        return build(bus, recorded_tools(recording_index), settings, RecordedGatekeeper(), caller)

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Restore the journal, then run the step."""
        id = self.recording_index(session.session_id).session_id
        then = self._results[id].trace_of(delivery.event)
        current_trace.set(then)
        assert isinstance(delivery.event.data, ToolsRequested)
        if await then.restore_journal(delivery.event.data, session):
            delivery = delivery._replace(redelivered=True)
        return await super().play(delivery, session)
