"""The synthesizer's briefings, built again from the recording: each round is filed again, then briefed."""

from collections.abc import Mapping
from typing import TypeVar

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
from antiphon.replay.steps.known import Known, Redone, Step
from context_synthesizer.session_index_cache import CachedIndex, digest_of
from context_synthesizer.turn import (
    RoundEvents,
    file_round_delta,
    step_of,
    store_delta,
    tokens_max,
    write_briefing,
)

KeptT = TypeVar("KeptT")
_KEPT_MAX = 4


class Briefings:
    """One session's memory, followed through its recorded filings.

    The memory is today's throughout: a recording holds only the digests of the recorded one.
    """

    def __init__(self) -> None:
        self.items: list[bytes] = []
        """The list that the synthesizer would have written: one delta for each filing with content."""
        self.text = ""
        """The newest briefing."""
        self.to_summarize: str | None = None
        """The facts to summarize that go with the newest briefing, as a text."""
        self.newest: dict[str, str] = {}
        """The texts of the last few briefings, by their digests."""
        self.sources: dict[str, str] = {}
        """The last few texts to summarize, likewise."""
        self.lacks = ""
        """The reason why a filing could not be repeated, and so no later one either."""
        self._kept: CachedIndex | None = None
        self._results: LogEntry | None = None

    @property
    def memory(self) -> Memory:
        """Return all filed memory. Raises UnreadableEvent when a filing could not be repeated."""
        self._check_whole()
        return self._kept.session_index.memory if self._kept else Memory()

    def redo(self, step: Step, known: Known) -> Redone:
        """Repeat one briefing with today's code.

        Raises UnreadableEvent when this or an earlier filing lacks something.
        """
        self._check_whole()
        try:
            return self._redo(step, known)
        except UnreadableEvent as error:
            self.lacks = error.message
            raise

    def _redo(self, step: Step, known: Known) -> Redone:
        request, record = step.line.event.data, step.record
        if not isinstance(request, BriefingRequested) or not isinstance(record, BriefingRecord):
            raise UnreadableEvent(f"a briefing was recorded for a {request.type}.")
        kept = self._session_index(request, record, known)
        brought = RoundEvents(
            known.data(request.reasoning, ReasoningCompleted),
            known.data(request.results, ToolsCompleted),
            known.data(request.summary, SummaryCompleted),
        )
        delta, refused = file_round_delta(kept, request, brought)
        recorded = next((line.event.data for line in step.outputs), None)
        salience = recorded.salience if isinstance(recorded, BriefingReady) else {}
        format = step.line.event.format
        item, _ = store_delta(kept, _with_salience(delta, salience), record.memory_bytes_max, format)
        if item:
            self.items.append(item)
        step_input = known.data(request.step.input, ReasoningCompleted) if request.step else None
        made = step_of(request, known.data(request.question, QuerySubmitted), step_input)
        built = write_briefing(kept, request, salience, refused, made)
        self.text, self.to_summarize = built.text, built.to_summarize
        _remember(self.newest, built.ready.briefing.digest, built.text)
        if built.ready.to_summarize is not None and built.to_summarize is not None:
            _remember(self.sources, built.ready.to_summarize.source, built.to_summarize)
        self._let_go(request.results, known)
        today = in_format(record.model_copy(update={"filed": digest_of(item)}), format)
        others: list[tuple[str, Difference]] = []
        if record.filed not in (None, today.filed) and recorded == in_format(built.ready, format):
            # a changed briefing shows the difference itself
            others.append(("memory", Difference("filed", record.filed, today.filed)))
        return Redone((built.ready,), tuple(others), today)

    def _session_index(self, request: BriefingRequested, record: BriefingRecord, known: Known) -> CachedIndex:
        """Return the state with all filed memory, rebuilt when the budget or the question has changed."""
        question = known.data(request.question, QuerySubmitted)
        assert question is not None, "a request always names its question"
        budget = tokens_max(record.briefing_tokens, request.tokens_per_estimated)
        session_index = self._kept.session_index if self._kept else None
        if session_index is None or (session_index.memory.query, session_index.tokens_max) != (
            question.query,
            budget,
        ):
            self._kept = CachedIndex(question.query, budget, self.items)
        assert self._kept is not None
        return self._kept

    def _let_go(self, results: LogEntry | None, known: Known) -> None:
        """Forget earlier results: results are named once more at most, by an assembly that overtakes their filing."""
        if results is None:
            return
        if self._results is not None and self._results != results:
            known.forget(self._results)
        self._results = results

    def _check_whole(self) -> None:
        if self.lacks:
            raise UnreadableEvent(f"an earlier filing could not be done again: {self.lacks}")


def _remember(kept: dict[str, KeptT], digest: str, one: KeptT) -> None:
    kept[digest] = one
    while len(kept) > _KEPT_MAX:
        del kept[next(iter(kept))]


def _with_salience(delta: MemoryDelta, salience: Mapping[str, float]) -> MemoryDelta:
    """Add the recorded salience, as embeddings are not computed in a replay."""
    if not salience:
        return delta
    facts = (
        fact.model_copy(update={"salience": salience[fact.id]}) if fact.id in salience else fact
        for fact in delta.facts
    )
    return delta.model_copy(update={"facts": tuple(facts)})
