"""The async shell: load the session's memory, file the last round into it, rebuild the briefing."""

import asyncio
from typing import TypeVar

from context_synthesizer.select import build_briefing
from context_synthesizer.settings import ContextSynthesizerSettings
from shared.bus.handling import BRIEFING, MEMORY, Append, Delivery, Handlers, Outcome, Put, SessionStore
from shared.errors import UnreadableEvent
from shared.events import (
    BriefingReady,
    BriefingRequested,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ToolsCompleted,
)
from shared.filing import file_round, keep_within
from shared.memory import Memory, MemoryDelta

DataT = TypeVar("DataT", bound=EventData)


class ContextSynthesizer:
    """Handlers of everything a context synthesizer consumes."""

    def __init__(self, settings: ContextSynthesizerSettings) -> None:
        self._settings = settings

    @property
    def handlers(self) -> Handlers:
        return {BriefingRequested: self.on_briefing_requested}

    async def on_briefing_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """File what the round brought, as one delta, and answer with the briefing.

        Raises UnreadableEvent when the session's log does not hold what the request names.
        """
        request = delivery.event.data
        assert isinstance(request, BriefingRequested)
        items, question, reasoning, results = await asyncio.gather(
            session.items(MEMORY),
            _event(session, request.question, QuerySubmitted),
            _event(session, request.reasoning, ReasoningCompleted),
            _event(session, request.results, ToolsCompleted),
        )
        assert question is not None, "a request always names its question"
        deltas = [MemoryDelta.model_validate_json(item) for item in items]
        bytes_left = self._settings.memory_bytes_max - sum(map(len, items))
        delta, item = _file(Memory.fold(question.query, tuple(deltas)), reasoning, results, bytes_left)
        memory = Memory.fold(question.query, (*deltas, delta))
        briefing = build_briefing(
            memory, request.round, request.max_rounds, request.level, self._settings.briefing_tokens
        )
        ready = BriefingReady(round=request.round, briefing=briefing.outline)
        rendered = Put(BRIEFING, None, briefing.text.encode())
        filed = (Append(MEMORY, len(items), item),) if item else ()
        return Outcome(events=(ready,), writes=(rendered, *filed))


def _file(
    memory: Memory, reasoning: ReasoningCompleted | None, results: ToolsCompleted | None, bytes_left: int
) -> tuple[MemoryDelta, bytes]:
    """The round's delta, and the item to append; empty when there is nothing to file."""
    delta = file_round(memory, reasoning, results)
    if not (delta.facts or delta.reasoning or delta.tool_usage):
        return delta, b""
    item = delta.model_dump_json().encode()
    if len(item) > bytes_left:
        delta = keep_within(delta, bytes_left)
        item = delta.model_dump_json().encode()
    return delta, item


async def _event(session: SessionStore, log_entry: str | None, kind: type[DataT]) -> DataT | None:
    """What the event named says, if one is named. Raises UnreadableEvent when it is of another kind."""
    if log_entry is None:
        return None
    data = (await session.event(log_entry)).data
    if not isinstance(data, kind):
        raise UnreadableEvent(f"log entry {log_entry} is {data.type}, not {kind.type}.")
    return data
