"""The facts of the section that only grows, so that the beginning of the prompt stays the same. Pure.

A cached prompt has to be paid for again from its first changed token on. While all facts fit, they are shown in the
order of their ids, so that new facts are appended. When they no longer fit, the section is planned: it gets the
closest facts up to a part of its budget. Later facts are appended if they fit and are as close as the planned ones.
When the budget is used up, the section is planned again. With LAZY_TOKENS or less, facts are selected each round.
"""

from collections.abc import Callable, Sequence

from antiphon_shared.memory.layers import Fact, MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import UNITS_PER_TOKEN, token_units

from context_synthesizer.choice import fill_page, must_have
from context_synthesizer.page import Page, Pieces, TokenBudget
from context_synthesizer.scores import Scores
from context_synthesizer.select import LAZY_TOKENS

_SECTION_SHARE = 0.75
"""The section's share of the budget without the question; the rest is for parts that change every round."""
_PLANNED_SHARE = 0.7
"""The share of the section's budget that a new plan uses; the rest is for later facts."""


class Plan:
    """The facts of the growing section, for one budget."""

    def __init__(self, tokens_max: int) -> None:
        self._units = tokens_max * UNITS_PER_TOKEN if tokens_max > LAZY_TOKENS else 0
        self._shown: list[str] = []
        self._least_score = 0.0

    @property
    def shown(self) -> Sequence[str] | None:
        """Return the ids in their order, or None without a plan."""
        return self._shown if self._units else None

    def advance(
        self,
        memory: Memory,
        delta: MemoryDelta,
        pieces: Pieces,
        scores: Callable[[], Scores],
    ) -> None:
        """Update the plan for `delta`, which is already in `memory`; `scores` is called if needed."""
        if not self._units or not delta.facts:
            return
        units = int((self._units - token_units(memory.query)) * _SECTION_SHARE)
        fitting = delta.facts
        if self._least_score:
            fitting = tuple(fact for fact in fitting if scores()[fact.id] >= self._least_score)
        shown = [memory.facts[id] for id in self._shown]
        if not self._fits(memory, (*shown, *fitting), pieces, units):
            self._plan_anew(memory, pieces, scores(), int(units * _PLANNED_SHARE))
        else:
            self._shown += [fact.id for fact in fitting]

    def _fits(self, memory: Memory, facts: Sequence[Fact], pieces: Pieces, units: int) -> bool:
        page = Page("Facts", memory, pieces, TokenBudget(units), by_call=True)
        return all(page.show(fact) for fact in facts)

    def _plan_anew(self, memory: Memory, pieces: Pieces, scores: Scores, units: int) -> None:
        page = Page("Facts", memory, pieces, TokenBudget(units), by_call=True)
        fill_page(page, must_have(memory, scores))
        shown = fill_page(page, map(memory.facts.__getitem__, scores.closest_first()))
        self._shown = [id for id in memory.facts if id in page.lines]
        self._least_score = min((scores[fact.id] for fact in shown), default=0.0)
