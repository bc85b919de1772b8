"""What the five have in common: a step of a rerun, from its turn to its outcome."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from antiphon_shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, Component
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, UnreadableEvent
from antiphon_shared.process.service import Service

from antiphon.recording.serving.score import Score
from antiphon.recording.serving.surroundings import SessionBus
from antiphon.recording.serving.turns import events_there


class FailedAsRecorded(AntiphonError):
    """A component could not handle this event when it was recorded."""

    def __init__(self, error: ErrorInfo) -> None:
        super().__init__(error.message)
        self.code, self.retryable = error.code, error.retryable


class Part:
    """One component: for each session built anew by today's wiring, from what it had then."""

    name: ClassVar[Component]

    def __init__(self, bus: Bus, scores: Mapping[str, Score], model_url: str) -> None:
        self.bus, self.scores, self.model_url = bus, scores, model_url
        self._handlers: dict[str, Handlers] = {}

    def service(self, bus: Bus, score: Score) -> Service:
        """Today's component on the bus as one session had it."""
        raise NotImplementedError

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """One step, in its turn."""
        id, score = delivery.event.id, self.score(session.session_id)
        await events_there(self.bus, session.session_id, score.place_of(id))
        if (error := score.failure(id, self.name)) is not None:
            raise FailedAsRecorded(error)
        if score.is_unanswered(id):
            await self.never_end(score, delivery, session)
        if session.session_id not in self._handlers:
            self._handlers[session.session_id] = self.service(SessionBus(self.bus, score), score).handlers
        handler = self._handlers[session.session_id][type(delivery.event.data)]
        async with self.alone(session.session_id):
            self.before(score, delivery.event)
            return await handler(replace(delivery, event=self.as_then(score, delivery.event)), session)

    def score(self, session_id: str) -> Score:
        """The session's. Raises UnreadableEvent."""
        if session_id not in self.scores:
            raise UnreadableEvent(f"session {session_id} is none of those that are run again.")
        return self.scores[session_id]

    async def never_end(self, score: Score, delivery: Delivery, session: SessionStore) -> None:
        """Stay with a step that nothing came of, until its session is stopped, or the rerun is over."""
        await asyncio.Event().wait()

    def alone(self, session_id: str) -> AbstractAsyncContextManager[Any]:
        """What a step of a session is made within."""
        return nullcontext()

    def before(self, score: Score, event: AnyEvent) -> None:
        """Told of each step that is about to be made."""

    def as_then(self, score: Score, event: AnyEvent) -> AnyEvent:
        """The event as it is handled."""
        return event

    async def close(self) -> None:
        """Let go of clients."""


def at_its_time(score: Score, event: AnyEvent, otherwise: datetime) -> AnyEvent:
    """The event at the time that it had; one that there was not, at another."""
    then = score.by_id.get(event.id)
    return event.model_copy(update={"time": otherwise if then is None else then.event.time})
