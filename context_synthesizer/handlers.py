"""The async shell: load the session's memory, file the last round into it, rebuild the briefing."""

import asyncio
from math import ceil
from typing import TypeVar

from context_synthesizer.desks import Desks, Kept
from context_synthesizer.embeddings import Embed, with_salience
from context_synthesizer.settings import ContextSynthesizerSettings
from context_synthesizer.summaries import checked
from shared import faults
from shared.bus.handling import (
    BRIEFING,
    MEMORY,
    TO_SUMMARIZE,
    Append,
    Delivery,
    Handlers,
    Outcome,
    Put,
    SessionStore,
)
from shared.errors import UnreadableEvent
from shared.events import (
    BriefingReady,
    BriefingRequested,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    SummaryCompleted,
    ToolsCompleted,
)
from shared.filing import keep_within
from shared.memory import Summary

DataT = TypeVar("DataT", bound=EventData)


class ContextSynthesizer:
    """Handlers of everything a context synthesizer consumes."""

    def __init__(self, settings: ContextSynthesizerSettings, embed: Embed | None = None) -> None:
        self._settings, self._embed = settings, embed
        self._desks = Desks()

    @property
    def handlers(self) -> Handlers:
        return {BriefingRequested: self.on_briefing_requested}

    async def on_briefing_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """File what the round brought, as one delta, and answer with the briefing.

        Raises UnreadableEvent when the session's log does not hold what the request names.
        """
        request = delivery.event.data
        assert isinstance(request, BriefingRequested)
        kept = self._desks.take(session.session_id)
        items, question, reasoning, results, summary = await asyncio.gather(
            session.items(MEMORY, kept.since if kept else 0),
            _event(session, request.question, QuerySubmitted),
            _event(session, request.reasoning, ReasoningCompleted),
            _event(session, request.results, ToolsCompleted),
            _event(session, request.summary, SummaryCompleted),
        )
        assert question is not None, "a request always names its question"
        tokens_max = _tokens_max(self._settings.briefing_tokens, request.tokens_per_estimated)
        if kept is None or not kept.catches_up(question.query, tokens_max, items):
            items = await session.items(MEMORY) if kept else items
            kept = Kept(question.query, tokens_max, items)
        length = kept.items
        believed = checked(summary, kept.desk.memory) if summary else ""
        item, salience = await self._file(kept, request, reasoning, results, believed)
        await faults.at("briefing.filed")
        briefing = kept.desk.briefing(request.round, request.max_rounds, request.level)
        left_out = kept.desk.to_summarize(briefing) if request.may_summarize else None
        self._desks.put_back(session.session_id, kept)
        ready = BriefingReady(
            round=request.round,
            briefing=briefing.outline,
            to_summarize=left_out[1] if left_out else None,
            salience=salience,
            summary_refused=believed if isinstance(believed, str) else "",
        )
        writes: list[Put | Append] = [
            Put(BRIEFING, None, briefing.text.encode()),
            *([Append(MEMORY, length, item)] if item else []),
        ]
        if left_out:
            writes.append(Put(TO_SUMMARIZE, None, left_out[0].encode()))
        return Outcome(events=(ready,), writes=tuple(writes))

    async def _file(
        self,
        kept: Kept,
        request: BriefingRequested,
        reasoning: ReasoningCompleted | None,
        results: ToolsCompleted | None,
        summary: Summary | str,
    ) -> tuple[bytes, dict[str, float]]:
        """File the round on the desk; the item to append, empty when there is nothing to file.

        With it, of each fact whose salience embeddings have changed, what it is now.
        """
        bytes_left = self._settings.memory_bytes_max - kept.bytes
        if request.conversation:  # comes first, and alone
            delta = kept.desk.begun(request.conversation)
        else:
            delta = kept.desk.filed(reasoning, results, untrusted=request.untrusted, entry=request.results)
        if isinstance(summary, Summary) and summary not in kept.desk.memory.summaries:
            delta = delta.model_copy(update={"summaries": (summary,)})
        if delta.is_empty:
            return b"", {}
        before = {fact.id: fact.salience for fact in delta.facts}
        if self._embed is not None:
            delta = await with_salience(delta, kept.desk.memory.query, self._embed)
        item = delta.model_dump_json(exclude_defaults=True).encode()
        if len(item) > bytes_left:
            delta = keep_within(delta, bytes_left)
            item = delta.model_dump_json(exclude_defaults=True).encode()
        kept.add(item, delta)
        return item, {fact.id: fact.salience for fact in delta.facts if fact.salience != before[fact.id]}


def _tokens_max(estimated: int, tokens_per_estimated: float) -> int:
    """The budget in estimated tokens, by what the model's own count has shown.

    In steps of a tenth, so that it changes seldom: each change plans the briefing anew.
    """
    return int(estimated / (ceil(round(tokens_per_estimated * 10, 6)) / 10))


async def _event(session: SessionStore, log_entry: str | None, kind: type[DataT]) -> DataT | None:
    """What the event named says, if one is named. Raises UnreadableEvent when it is of another kind."""
    if log_entry is None:
        return None
    data = (await session.event(log_entry)).data
    if not isinstance(data, kind):
        raise UnreadableEvent(f"log entry {log_entry} is {data.type}, not {kind.type}.")
    return data
