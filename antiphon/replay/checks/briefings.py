"""The synthesizer's briefings: each recorded round is filed again, and its briefing is written again."""

from collections.abc import Mapping

from antiphon_shared.events import (
    BriefingReady,
    BriefingRequested,
    QuerySubmitted,
    ReasoningCompleted,
    SummaryCompleted,
    ToolsCompleted,
)
from antiphon_shared.events.step_records import BriefingRecord
from antiphon_shared.formats import in_format
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import LogEntry

from antiphon.replay.differences import Difference
from antiphon.replay.steps.replay_state import RecordingContent, RepeatedStep, Step
from context_synthesizer.session_index_cache import CachedIndex, digest_of
from context_synthesizer.turn import (
    RoundEvents,
    file_round_delta,
    step_of,
    store_delta,
    tokens_max,
    write_briefing,
)

_RECENT_MAX = 4


class Briefings:
    """The memory of a session, filed again round by round.

    It is always the memory of today's code: a recording contains only digests of the recorded one.
    """

    def __init__(self) -> None:
        self.items: list[bytes] = []
        """The stored list of memory: one delta for each filing with content."""
        self.text = ""
        """The newest briefing."""
        self.to_summarize: str | None = None
        """The text of the facts to summarize, if the newest briefing has any."""
        self.newest: dict[str, str] = {}
        """The texts of the last few briefings, by their digests."""
        self.sources: dict[str, str] = {}
        """The last few texts to summarize, by their digests."""
        self.lacks = ""
        """The reason why a filing, and so every later one, could not be repeated."""
        self._index: CachedIndex | None = None
        self._results: LogEntry | None = None

    @property
    def memory(self) -> Memory:
        """Return all filed memory. Raises UnreadableEvent if a filing could not be repeated."""
        self._check_complete()
        return self._index.session_index.memory if self._index else Memory()

    def redo(self, step: Step, content: RecordingContent) -> RepeatedStep:
        """Repeat a briefing with today's code. Raises UnreadableEvent if this or an earlier filing lacks an input."""
        self._check_complete()
        try:
            return self._redo(step, content)
        except UnreadableEvent as error:
            self.lacks = error.message
            raise

    def _redo(self, step: Step, content: RecordingContent) -> RepeatedStep:
        request, record = step.line.event.data, step.record
        if not isinstance(request, BriefingRequested) or not isinstance(record, BriefingRecord):
            raise UnreadableEvent(f"a briefing was recorded for a {request.type}.")
        index = self._cached_index(request, record, content)
        round_events = RoundEvents(
            content.data(request.reasoning, ReasoningCompleted),
            content.data(request.results, ToolsCompleted),
            content.data(request.summary, SummaryCompleted),
        )
        delta, refused = file_round_delta(index, request, round_events)
        recorded = step.output(BriefingReady)
        salience = recorded.salience if recorded else {}
        format = step.line.event.format
        item = store_delta(index, _with_salience(delta, salience), record.memory_bytes_max, format)
        if item:
            self.items.append(item)
        step_input = content.data(request.step.input, ReasoningCompleted) if request.step else None
        step_text = step_of(request, content.data(request.question, QuerySubmitted), step_input)
        built = write_briefing(index, request, salience, refused, step_text)
        self.text, self.to_summarize = built.text, built.to_summarize
        _remember(self.newest, built.ready.briefing.digest, built.text)
        if built.ready.to_summarize is not None and built.to_summarize is not None:
            _remember(self.sources, built.ready.to_summarize.source, built.to_summarize)
        self._forget_results(request.results, content)
        today = in_format(record.model_copy(update={"filed": digest_of(item)}), format)
        others: list[tuple[str, Difference]] = []
        if record.filed not in (None, today.filed) and recorded == in_format(built.ready, format):
            # a changed briefing shows the difference itself
            others.append(("memory", Difference("filed", record.filed, today.filed)))
        return RepeatedStep((built.ready,), tuple(others), today)

    def _cached_index(
        self, request: BriefingRequested, record: BriefingRecord, content: RecordingContent
    ) -> CachedIndex:
        """Return the index of all filed memory, rebuilt if the budget or the question has changed."""
        question = content.data(request.question, QuerySubmitted)
        assert question is not None, "a request always names its question"
        budget = tokens_max(record.briefing_tokens, request.tokens_per_estimated)
        session_index = self._index.session_index if self._index else None
        if session_index is None or (session_index.memory.query, session_index.tokens_max) != (
            question.query,
            budget,
        ):
            self._index = CachedIndex(question.query, budget, self.items)
        assert self._index is not None
        return self._index

    def _forget_results(self, results: LogEntry | None, content: RecordingContent) -> None:
        """Forget earlier results, which no later step needs; the newest may still be needed by an assembly."""
        if results is None:
            return
        if self._results is not None and self._results != results:
            content.forget(self._results)
        self._results = results

    def _check_complete(self) -> None:
        if self.lacks:
            raise UnreadableEvent(f"an earlier filing could not be done again: {self.lacks}")


def _remember(recent: dict[str, str], digest: str, text: str) -> None:
    recent[digest] = text
    while len(recent) > _RECENT_MAX:
        del recent[next(iter(recent))]


def _with_salience(delta: MemoryDelta, salience: Mapping[str, float]) -> MemoryDelta:
    """Add the recorded salience, as embeddings are not computed in a replay."""
    if not salience:
        return delta
    facts = (
        fact.model_copy(update={"salience": salience[fact.id]}) if fact.id in salience else fact
        for fact in delta.facts
    )
    return delta.model_copy(update={"facts": tuple(facts)})
