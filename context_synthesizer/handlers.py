"""The async shell: load the session's memory, file the last round into it, and rebuild the briefing."""

from collections.abc import Awaitable
from functools import partial
from typing import TypeVar

import structlog
from antiphon_shared import faults
from antiphon_shared.bus.handling import (
    BRIEFING,
    MEMORY,
    TO_SUMMARIZE,
    VECTORS,
    Append,
    Delivery,
    Handlers,
    Outcome,
    PutDocument,
    SessionStore,
)
from antiphon_shared.bus.reads import Completed, PendingRead, together
from antiphon_shared.events import (
    AnyEvent,
    BriefingRequested,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    SummaryCompleted,
    ToolsCompleted,
)
from antiphon_shared.events.step_records import BriefingRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.offload import is_large, offload_if

from context_synthesizer.embeddings import Weigh, WeighedDelta
from context_synthesizer.session_index_cache import CachedIndex, SessionIndexCache, digest_of
from context_synthesizer.settings import ContextSynthesizerSettings
from context_synthesizer.turn import (
    RoundEvents,
    file_round_delta,
    step_of,
    store_delta,
    tokens_max,
    write_briefing,
)

_FACTS_AT_ONCE_MAX = 200
"""The number of facts of a round above which they are added in another thread."""
_BYTES_AT_ONCE_MAX = 50_000
"""The size of a session's memory in Redis above which it is read and briefed in another thread."""

DataT = TypeVar("DataT", bound=EventData)


class ContextSynthesizer:
    """The handlers of every event that a context synthesizer consumes."""

    def __init__(self, settings: ContextSynthesizerSettings, weigh: Weigh | None = None) -> None:
        self._settings, self._weigh = settings, weigh
        self._session_indexes = SessionIndexCache()

    @property
    def handlers(self) -> Handlers:
        return {BriefingRequested: self.on_briefing_requested}

    async def on_briefing_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """File the results of the round as one delta, and return the briefing.

        Raises UnreadableEvent if the session's log does not hold the events that the request names.
        """
        request = delivery.event.data
        assert isinstance(request, BriefingRequested)
        cached, round_events, question, step_input = await self._read(request, session)
        length = cached.items
        is_heavy = is_large(round_events.results)
        delta, refused = await offload_if(is_heavy, file_round_delta, cached, request, round_events)
        if refused:
            structlog.get_logger().warning(
                "summary_refused", session=session.session_id, round=request.round, reason=refused
            )
        weighed = WeighedDelta(delta)
        if self._weigh is not None:
            weighed = await self._weigh(delta, cached, request.round, session)
        is_heavy, bytes_max = len(delta.facts) > _FACTS_AT_ONCE_MAX, self._settings.memory_bytes_max
        item = await offload_if(
            is_heavy, store_delta, cached, weighed.delta, bytes_max, delivery.event.format
        )
        await faults.pass_point("briefing.filed")
        is_heavy, step = cached.bytes > _BYTES_AT_ONCE_MAX, step_of(request, question, step_input)
        built = await offload_if(is_heavy, write_briefing, cached, request, weighed.salience, refused, step)
        self._session_indexes.store((session.session_id, request.question), cached)
        writes: list[PutDocument | Append] = [
            PutDocument(BRIEFING, None, built.text.encode()),
            *([Append(MEMORY, length, item)] if item else []),
            *([Append(VECTORS, None, weighed.item)] if weighed.item else []),
        ]
        if built.to_summarize is not None:
            writes.append(PutDocument(TO_SUMMARIZE, None, built.to_summarize.encode()))
        record = BriefingRecord.trusted(
            of=delivery.event.id,
            outputs=0,
            kind="briefing",
            briefing_tokens=self._settings.briefing_tokens,
            memory_bytes_max=self._settings.memory_bytes_max,
            filed=digest_of(item),
        )
        return Outcome(events=(built.ready,), writes=tuple(writes), record=record)

    async def _read(
        self, request: BriefingRequested, session: SessionStore
    ) -> tuple[CachedIndex, RoundEvents, QuerySubmitted | None, ReasoningCompleted | None]:
        """Return the session's index, the events of the round, and the question and input of its step.

        The question is None if neither index nor step needs it.
        """
        cached = self._session_indexes.take((session.session_id, request.question))
        step = request.step
        items, question, step_input, reasoning, results, summary = await together(
            session.items(MEMORY, cached.since if cached else 0),
            _event(session, None if cached and step is None else request.question, QuerySubmitted),
            _event(session, step.input if step else None, ReasoningCompleted),
            _event(session, request.reasoning, ReasoningCompleted),
            _event(session, request.results, ToolsCompleted),
            _event(session, request.summary, SummaryCompleted),
        )
        if cached is not None:
            query = cached.session_index.memory.query
        else:
            assert question is not None, "a request always names its question"
            query = question.query
        budget = tokens_max(self._settings.briefing_tokens, request.tokens_per_estimated)
        if cached is None or not cached.catches_up(query, budget, items):
            items = await session.items(MEMORY) if cached and cached.since else items
            is_heavy = sum(map(len, items)) > _BYTES_AT_ONCE_MAX
            cached = await offload_if(is_heavy, CachedIndex, query, budget, items)
        return cached, RoundEvents(reasoning, results, summary), question, step_input


def _event(session: SessionStore, log_entry: str | None, kind: type[DataT]) -> Awaitable[DataT | None]:
    """Return the data of the event at a log entry, if given. Raises UnreadableEvent if it has another type."""
    if log_entry is None:
        return Completed(None)
    return PendingRead(session.event(log_entry), partial(_event_at, log_entry, kind))


def _event_at(log_entry: str, kind: type[DataT], event: AnyEvent) -> DataT:
    data = event.data
    if not isinstance(data, kind):
        raise UnreadableEvent(f"log entry {log_entry} is {data.type}, not {kind.type}.")
    return data
