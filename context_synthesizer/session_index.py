"""The index of one session: its memory, the scores of its facts, and the plan of its briefing. Pure, and mutable.

An index grows by deltas, and depends only on them, the query and the budget. So a cached index and one that is built
again from the session's list of deltas give the same briefing, byte for byte.
"""

from collections.abc import Collection, Mapping

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted, ToSummarize
from antiphon_shared.memory.briefing import Briefing, Level
from antiphon_shared.memory.filing import KnownFacts, file_round
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.values import LogEntry

from context_synthesizer.page import Pieces
from context_synthesizer.plan import Plan
from context_synthesizer.score import Relevance
from context_synthesizer.scores import Scores
from context_synthesizer.select import Ask, build_briefing
from context_synthesizer.step import StepText
from context_synthesizer.summaries import select_to_summarize

TOKENS_MAX = 8_000


class SessionIndex:
    """The indexed memory of one session, into which rounds are filed, and from which briefings are made."""

    def __init__(self, query: str, tokens_max: int = TOKENS_MAX) -> None:
        self.memory = Memory(query)
        self.tokens_max = tokens_max
        self._known = KnownFacts.of(self.memory)
        self._relevance = Relevance()
        self._pieces = Pieces()
        self._plan = Plan(tokens_max)
        self._scores: Scores | None = None
        self._in_step: tuple[StepText | None, Scores] | None = None
        self._salience: Mapping[str, float] = {}

    def add(self, delta: MemoryDelta) -> None:
        """Add the delta of one filing."""
        self.memory = self.memory.plus(delta)
        self._known.add(delta, self.memory)
        self._relevance.add(self.memory, delta)
        self._pieces.add(delta.facts)
        self._scores = self._in_step = None
        self._plan.advance(self.memory, delta, self._pieces, lambda: self.scores)

    def weigh(self, salience: Mapping[str, float]) -> None:
        """Let `salience` replace the filed salience of some facts for the next briefing.

        The plan of a briefing uses only the filed values, so that it is the same in every process.
        """
        if salience != self._salience:
            self._salience, self._in_step = dict(salience), None

    def filed(
        self,
        reasoning: ReasoningCompleted | None,
        results: ToolsCompleted | None,
        *,
        untrusted: Collection[str] = (),
        entry: LogEntry | None = None,
    ) -> MemoryDelta:
        """Return the delta of a round; it is not added yet."""
        return file_round(
            self.memory, reasoning, results, filed_facts=self._known, untrusted=untrusted, entry=entry
        )

    def file(self, reasoning: ReasoningCompleted | None, results: ToolsCompleted | None) -> MemoryDelta:
        """File a round; return its delta, which has to be stored."""
        delta = self.filed(reasoning, results)
        self.add(delta)
        return delta

    def to_summarize(
        self, briefing: Briefing, step: StepText | None = None
    ) -> tuple[str, ToSummarize] | None:
        """Return a text of the closest facts that are not in `briefing`, if they are worth a summary."""
        return select_to_summarize(
            self.memory, lambda: self._scores_in(step), self._pieces, briefing, self.tokens_max
        )

    @property
    def scores(self) -> Scores:
        """Return the closeness of each fact to the question and the searches."""
        if self._scores is None:
            self._scores = self._relevance.scores(self.memory)
        return self._scores

    def _scores_in(self, step: StepText | None) -> Scores:
        """Return the closeness of each fact to the step and its searches; without a step, to the query."""
        if step is None and not self._salience:
            return self.scores
        if self._in_step is None or self._in_step[0] != step:
            memory = self.memory.since(step.begun) if step else self.memory
            scores = self._relevance.scores(memory, step.question if step else (), self._salience)
            self._in_step = step, scores
        return self._in_step[1]

    def briefing(
        self, round: int, max_rounds: int, level: Level = "full", step: StepText | None = None
    ) -> Briefing:
        """Return the briefing for a round and its step."""
        return build_briefing(
            self.memory,
            lambda: self._scores_in(step),
            self._pieces,
            Ask(round, max_rounds, level, step),
            self.tokens_max,
            self._plan.shown if level == "full" else None,
        )
