"""The tool dispatcher of a rerun: the one of the five that is not today's code."""

from collections.abc import Mapping

from antiphon.recording.serving.parts.part import Part
from antiphon.recording.serving.score import Score
from antiphon.recording.serving.tools import RecordedDispatcher, misses_key
from shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from shared.bus.redis_bus import Bus
from shared.events import ToolsRequested


class DispatcherPart(Part):
    """Answers from the recordings, and tells of what they do not hold."""

    name = "tool_dispatcher"
    kinds = (ToolsRequested,)

    def __init__(self, bus: Bus, scores: Mapping[str, Score]) -> None:
        super().__init__(bus, scores)
        self._dispatchers = {id: RecordedDispatcher(score) for id, score in scores.items()}

    def handlers(self, score: Score) -> Handlers:
        return self._dispatchers[score.session_id].handlers

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        outcome = await super().play(delivery, session)
        misses = self._dispatchers[session.session_id].misses
        while misses:
            miss = misses.pop(0)
            await self.bus.batcher.submit("RPUSH", misses_key(self.bus), miss.session_id, miss.asked)
        return outcome


def build(bus: Bus, scores: Mapping[str, Score], model_url: str) -> Part:
    return DispatcherPart(bus, scores)
