"""The selection of a briefing's parts from the memory, within its tokens. Pure.

If everything fits, everything is shown whole, except the reasoning of older rounds, which is shortened with age.
Otherwise the budget is spent in this order:

    1. the question, its step, the round and the open sub-questions, always; a share for earlier questions
    2. the closest fact of each newest result; facts that the model's conclusions cite (choice.py)
    3. a share for tool uses and reasoning, so that facts do not use up the budget (side_sections.py)
    4. facts by their closeness to the question and the searches (score.py), whole, as far as they fit
    5. the rest: tool uses and reasoning in their longer forms, answered sub-questions; then facts again

Age only decides between equally close facts. A superseded fact is shown on one line at most. Facts that do not fit
are listed by id, for `recall`.

Above LAZY_TOKENS the facts are in two sections: "Facts", which only grows at its end as long as it fits (plan.py),
and "Further facts", chosen again each round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from antiphon_shared.memory.briefing import Briefing, Level
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import UNITS_PER_TOKEN, token_units

from context_synthesizer.choice import (
    fill_page,
    missed_facts,
    must_have,
    show_each,
    show_required,
    side_by_side,
)
from context_synthesizer.page import Page, Pieces, TokenBudget, title_units
from context_synthesizer.render import LONG, NotShown, question_lines, render
from context_synthesizer.scores import Scores
from context_synthesizer.side_sections import (
    QUESTIONS,
    REASONING,
    TOOL_USES,
    Section,
    earlier_section,
    is_search,
    notes_by_age,
    notes_section,
    pieces_of_level,
    reasoning_units,
    summaries_section,
    uses_section,
)
from context_synthesizer.step import StepText

LAZY_TOKENS = 4_000
_LEVEL_SHARE: dict[Level, int] = {"full": 1, "simplified": 2, "minimal": 4}
_USES_SHARE, _WORDS_SHARE = 12, 8
"""The divisors of the budget for the shares of tool uses and of the model's reasoning."""
_SHARE_BESIDES_STEP = 4
"""The divisor of the tokens that the rest of the briefing gets even if the step's instructions and input are long."""
_IDS_UNITS = 2 * UNITS_PER_TOKEN
"""A reserve, as another fact with a longer id may be listed first."""
_USES_UNITS_MIN = 20 * UNITS_PER_TOKEN
"""The minimum useful share of tool uses."""


@dataclass(frozen=True)
class Ask:
    """The purpose of a briefing: its round, level and step."""

    round: int
    max_rounds: int
    level: Level = "full"
    step: StepText | None = None


def build_briefing(
    memory: Memory,
    scores: Callable[[], Scores],
    pieces: Pieces,
    ask: Ask,
    tokens_max: int,
    planned: Sequence[str] | None = None,
) -> Briefing:
    """Return the briefing for a round, of at most `tokens_max` estimated tokens, fewer at a lower level.

    `scores` returns the closeness of each fact, and is called if needed. `planned` are the facts of the section that
    only grows, in the order of their ids; None for one section that is selected again. The level `simplified` has half
    of the tokens and no reasoning, `minimal` a quarter, only for question and facts. A question longer than the bound
    is shown alone, and exceeds it. If a step uses up the tokens, a quarter is added for the rest.
    """
    question_sections: tuple[tuple[str, Sequence[str]], ...] = (("Question", (memory.query,)),)
    rounds = f"Round {ask.round} of at most {ask.max_rounds}."
    if ask.step is not None:
        question_sections = (*question_sections, (ask.step.title, ask.step.lines))
        rounds = f"Round {ask.round}. {ask.step.rounds}"
        memory = memory.since(ask.step.begun)
    now = ("Now", (rounds,))
    budget = TokenBudget(tokens_max // _LEVEL_SHARE[ask.level] * UNITS_PER_TOKEN)
    least = budget.left // _SHARE_BESIDES_STEP
    if not budget.take(token_units(render((*question_sections, now)) + "\n\n")):
        if ask.step is None:
            return Briefing.of(render(question_sections), omitted=len(memory.facts))
        budget.left = 0
    if ask.step is not None:
        budget.left = max(budget.left, least)
    earlier = earlier_section(memory, budget)
    selection = _complete_memory(memory, pieces, ask.level, TokenBudget(budget.left), planned is not None)
    selection = selection or _select(memory, scores(), pieces, ask.level, budget, planned)
    last = ("Now", (*now[1], *filter(None, [selection.remark])))
    text = render((*question_sections, (earlier.title, earlier.texts), *selection.sections, last))
    omitted = len(memory.facts) - len(selection.facts)
    left_out = missed_facts(memory, scores(), selection.facts) if omitted else ()
    return Briefing.of(text, selection.facts, selection.shortened, omitted, left_out)


@dataclass(frozen=True)
class _Sections:
    """The sections between the question and the round."""

    sections: tuple[tuple[str, Sequence[str]], ...]
    facts: frozenset[str]
    shortened: frozenset[str] = frozenset()
    remark: str = ""
    """The remark of a small briefing about omitted facts, after the round."""


def _complete_memory(
    memory: Memory, pieces: Pieces, level: Level, budget: TokenBudget, by_call: bool
) -> _Sections | None:
    """Return the whole memory, in one section of facts, or None if it does not fit."""
    if pieces.units_least > budget.left:
        return None
    page = Page("Facts", memory, pieces, budget, by_call)
    tool_uses, reasoning, questions = (Section(title, budget) for title in (TOOL_USES, REASONING, QUESTIONS))
    uses, notes = pieces_of_level(memory, level)
    open_questions, answered = question_lines(memory)
    fits = (
        tool_uses.add_all(pieces.use_piece(use, LONG) for use in uses)
        and reasoning.add_all(notes_by_age(notes, pieces))
        and questions.add_all((*open_questions, *answered))
        and all(page.show(fact) for fact in memory.facts.values())
    )
    if not fits:
        return None
    sections: list[Page | Section] = [page, tool_uses, reasoning, questions]
    return _Sections(tuple((one.title, one.texts) for one in sections), frozenset(page.lines))


def _select(
    memory: Memory,
    scores: Scores,
    pieces: Pieces,
    level: Level,
    budget: TokenBudget,
    planned: Sequence[str] | None,
) -> _Sections:
    """Return the selection in the order at the top of this file."""
    questions = Section(QUESTIONS, budget)
    open_questions, answered = question_lines(memory)
    questions.add_all(open_questions)
    facts = Page("Facts", memory, pieces, budget, by_call=planned is not None)
    page = facts if planned is None else Page("Further facts", memory, pieces, budget)
    is_small = planned is None
    uses, notes = pieces_of_level(memory, level)
    if is_small:  # facts show what these searches have found
        uses = [use for use in uses if not (is_search(use) and use.facts)]
    uses_units = share if uses and (share := budget.left // _USES_SHARE) >= _USES_UNITS_MIN else 0
    notes_units = min(budget.left // _WORDS_SHARE, reasoning_units(notes, answered))
    budget.left -= uses_units + notes_units
    planned_ids = dict.fromkeys(planned or ())
    must = [fact for fact in must_have(memory, scores) if fact.id not in planned_ids]
    show_required(page, must)
    show_each(facts, [memory.facts[id] for id in planned_ids])
    summaries = summaries_section(memory, budget)
    first = chain(planned_ids, (fact.id for fact in must), scores.closest_first())
    fill_page(page, (fact for fact in side_by_side(memory, first) if fact.id not in facts.lines))
    budget.left += uses_units

    left_out = Section("Not shown", budget)
    listing_units = _listing_units(_omitted(memory, facts, page), budget, is_small)
    budget.left -= listing_units
    tool_uses = uses_section(uses, pieces, budget)
    budget.left += notes_units
    reasoning = notes_section(notes, pieces, budget)
    questions.add_all(answered)
    show_each(page, (memory.facts[id] for id in scores.closest_first() if id not in facts.lines))
    budget.left += listing_units
    remark = _list_omitted(_omitted(memory, facts, page), left_out, budget, is_small)
    shown = frozenset((*facts.lines, *page.lines))
    pages = [facts] if page is facts else [facts, page]
    sections: list[Page | Section] = [*pages, summaries, tool_uses, reasoning, questions, left_out]
    return _Sections(
        tuple((one.title, one.texts) for one in sections),
        shown,
        frozenset(facts.shortened | page.shortened),
        remark,
    )


def _list_omitted(omitted: NotShown, section: Section, budget: TokenBudget, is_small: bool) -> str:
    """List the omitted facts in their section, or return the remark that replaces it in a small briefing."""
    if not omitted.count:
        return ""
    if is_small:
        remark = omitted.remark
        return remark.text if budget.take(remark.units) else ""
    longer, shorter = omitted.lines
    _ = section.add(longer) or section.add(shorter)
    return ""


def _omitted(memory: Memory, *pages: Page) -> NotShown:
    return NotShown.of(len(memory.facts), set[str]().union(*(page.lines for page in pages)))


def _listing_units(omitted: NotShown, budget: TokenBudget, is_small: bool) -> int:
    """Return the cost to reserve for the list of omitted facts; for its longer form if that is a small part."""
    if not omitted.count:
        return 0
    if is_small:
        return min(omitted.remark.units + _IDS_UNITS, budget.left)
    around = title_units("Not shown") + _IDS_UNITS
    longer, shorter = (piece.units + around for piece in omitted.lines)
    return longer if 4 * longer <= budget.left else min(shorter, budget.left)
