"""The base of the five components: a step of a rerun, from its turn to its outcome."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Any, ClassVar

from antiphon_shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, Component
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, UnreadableEvent
from antiphon_shared.process.service import Service

from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.surroundings import SessionBus
from antiphon.replay.serving.turns import wait_for_events


class FailedAsRecorded(AntiphonError):
    """A component could not handle an event, as when it was recorded."""

    def __init__(self, error: ErrorInfo) -> None:
        super().__init__(error.message)
        self.code, self.retryable = error.code, error.retryable


class Part(ABC):
    """A component, which today's wiring builds for each session from the recorded settings."""

    name: ClassVar[Component]

    def __init__(self, bus: Bus, recordings: Mapping[str, RecordingIndex], misses: list[Miss]) -> None:
        """Prepare the component for these sessions; requests that were not recorded are added to `misses`."""
        self.bus, self.recordings, self.misses = bus, recordings, misses
        self._handlers: dict[str, Handlers] = {}

    @abstractmethod
    def service(self, bus: Bus, recording_index: RecordingIndex) -> Service:
        """Return today's component, on the bus of one session."""

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Run one step once the events before it in the recording are in the log."""
        id, recording_index = delivery.event.id, self.recording_index(session.session_id)
        await wait_for_events(self.bus, session.session_id, recording_index.events_before(id))
        if (error := recording_index.failure(id, self.name)) is not None:
            raise FailedAsRecorded(error)
        if recording_index.is_unanswered(id):
            await self.never_end(recording_index, delivery, session)
        if session.session_id not in self._handlers:
            self._handlers[session.session_id] = self.service(
                SessionBus(self.bus, recording_index), recording_index
            ).handlers
        handler = self._handlers[session.session_id][type(delivery.event.data)]
        async with self.step_context(session.session_id):
            self.prepare(recording_index, delivery.event)
            return await handler(
                delivery._replace(event=self.as_recorded(recording_index, delivery.event)), session
            )

    def recording_index(self, session_id: str) -> RecordingIndex:
        """Return the index of the session's recording. Raises UnreadableEvent."""
        if session_id not in self.recordings:
            raise UnreadableEvent(f"session {session_id} is not in the recordings of this rerun.")
        return self.recordings[session_id]

    async def never_end(
        self, recording_index: RecordingIndex, delivery: Delivery, session: SessionStore
    ) -> None:
        """Wait in an unfinished step until the session is stopped or the rerun ends."""
        await asyncio.Event().wait()

    def step_context(self, session_id: str) -> AbstractAsyncContextManager[Any]:
        """Return the context in which a step of a session runs."""
        return nullcontext()

    def prepare(self, recording_index: RecordingIndex, event: AnyEvent) -> None:  # noqa: B027  # most components need none
        """Prepare for a step that is about to run."""

    def as_recorded(self, recording_index: RecordingIndex, event: AnyEvent) -> AnyEvent:
        """Return the event with the recorded values for the step."""
        return event


def with_recorded_time(recording_index: RecordingIndex, event: AnyEvent, otherwise: datetime) -> AnyEvent:
    """Return the event with its recorded time, or with the time `otherwise` if it was not recorded."""
    then = recording_index.by_id.get(event.id)
    return event.model_copy(update={"time": otherwise if then is None else then.event.time})
