"""The selection of a briefing from the memory, within its tokens. Pure.

When everything fits, everything is shown whole, except the reasoning of older rounds, which is shortened with age.
Otherwise the budget is given out in this order:

    1. the question, its step, the round and the open sub-questions, always; a share for earlier questions
    2. the closest fact of each newest result; facts that the model's conclusions cite (choice.py)
    3. a share for tool uses and reasoning, so that facts do not use up the budget (side_sections.py)
    4. facts by their closeness to the question and the searches (score.py), whole, the next one that fits
    5. from the rest: tool uses and reasoning in their longer forms, answered sub-questions; then facts again

Age only breaks ties. A superseded fact is shown on one line at most. Facts that do not fit are listed by id, for
`recall`.

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
    SAID,
    TRIED,
    Section,
    earlier_section,
    is_search,
    notes_section,
    pieces_of_level,
    said_by_age,
    summaries_section,
    uses_section,
    words_wanted,
)
from context_synthesizer.step import StepText

LAZY_TOKENS = 4_000
_LEVEL_SHARE: dict[Level, int] = {"full": 1, "simplified": 2, "minimal": 4}
_USES_SHARE, _WORDS_SHARE = 12, 8
"""The divisors of the budget for the shares of tool uses and of the model's reasoning."""
_BESIDE_STEP_SHARE = 4
"""The divisor of the tokens for the rest of the briefing, however long the step's instructions and input are."""
_IDS_UNITS = 2 * UNITS_PER_TOKEN
"""A reserve, as another fact with a longer id may be listed first."""
_USES_UNITS_MIN = 20 * UNITS_PER_TOKEN
"""The least useful share of tool uses."""


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

    `scores`: the closeness of each fact; called when it is needed. `planned`: the facts of the section that
    only grows, in the order of their ids; None for one section chosen again. `simplified` has half of the
    tokens and no reasoning, `minimal` a quarter, for question and facts alone. Only a question that is longer
    by itself exceeds the bound; then only the question is shown. When a step uses up the tokens, a quarter is
    added for the rest.
    """
    asked: tuple[tuple[str, Sequence[str]], ...] = (("Question", (memory.query,)),)
    rounds = f"Round {ask.round} of at most {ask.max_rounds}."
    if ask.step is not None:
        asked = (*asked, (ask.step.title, ask.step.lines))
        rounds = f"Round {ask.round}. {ask.step.rounds}"
        memory = memory.since(ask.step.begun)
    now = ("Now", (rounds,))
    room = TokenBudget(tokens_max // _LEVEL_SHARE[ask.level] * UNITS_PER_TOKEN)
    least = room.left // _BESIDE_STEP_SHARE
    if not room.take(token_units(render((*asked, now)) + "\n\n")):
        if ask.step is None:
            return Briefing.of(render(asked), omitted=len(memory.facts))
        room.left = 0
    if ask.step is not None:
        room.left = max(room.left, least)
    before = earlier_section(memory, room)
    shown = _whole_memory(memory, pieces, ask.level, TokenBudget(room.left), planned is not None)
    shown = shown or _select(memory, scores(), pieces, ask.level, room, planned)
    last = ("Now", (*now[1], *filter(None, [shown.remark])))
    text = render((*asked, (before.title, before.texts), *shown.sections, last))
    omitted = len(memory.facts) - len(shown.facts)
    left_out = missed_facts(memory, scores(), shown.facts) if omitted else ()
    return Briefing.of(text, shown.facts, shown.shortened, omitted, left_out)


@dataclass(frozen=True)
class _Sections:
    """The sections between question and round."""

    sections: tuple[tuple[str, Sequence[str]], ...]
    facts: frozenset[str]
    shortened: frozenset[str] = frozenset()
    remark: str = ""
    """The remark of a small briefing about omitted facts, after the round."""


def _whole_memory(
    memory: Memory, pieces: Pieces, level: Level, budget: TokenBudget, by_call: bool
) -> _Sections | None:
    """Return the whole memory, in one section of facts, or None if it does not fit."""
    if pieces.units_least > budget.left:
        return None
    page = Page("Facts", memory, pieces, budget, by_call)
    tried, said, questions = (Section(title, budget) for title in (TRIED, SAID, QUESTIONS))
    uses, notes = pieces_of_level(memory, level)
    open_questions, answered = question_lines(memory)
    fits = (
        tried.put_all(pieces.tried(use, LONG) for use in uses)
        and said.put_all(said_by_age(notes, pieces))
        and questions.put_all((*open_questions, *answered))
        and all(page.show(fact) for fact in memory.facts.values())
    )
    if not fits:
        return None
    sections: list[Page | Section] = [page, tried, said, questions]
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
    questions.put_all(open_questions)
    facts = Page("Facts", memory, pieces, budget, by_call=planned is not None)
    page = facts if planned is None else Page("Further facts", memory, pieces, budget)
    is_small = planned is None
    uses, notes = pieces_of_level(memory, level)
    if is_small:  # the facts of these searches show what was searched
        uses = [use for use in uses if not (is_search(use) and use.facts)]
    uses_units = share if uses and (share := budget.left // _USES_SHARE) >= _USES_UNITS_MIN else 0
    notes_units = min(budget.left // _WORDS_SHARE, words_wanted(notes, answered))
    budget.left -= uses_units + notes_units
    grown = dict.fromkeys(planned or ())
    must = [fact for fact in must_have(memory, scores) if fact.id not in grown]
    show_required(page, must)
    show_each(facts, [memory.facts[id] for id in grown])
    summaries = summaries_section(memory, budget)
    first = chain(grown, (fact.id for fact in must), scores.closest_first())
    fill_page(page, (fact for fact in side_by_side(memory, first) if fact.id not in facts.lines))
    budget.left += uses_units

    left_out = Section("Not shown", budget)
    listing_units = _listing_units(_omitted(memory, facts, page), budget, is_small)
    budget.left -= listing_units
    tried = uses_section(uses, pieces, budget)
    budget.left += notes_units
    said = notes_section(notes, pieces, budget)
    questions.put_all(answered)
    show_each(page, (memory.facts[id] for id in scores.closest_first() if id not in facts.lines))
    budget.left += listing_units
    remark = _list(_omitted(memory, facts, page), left_out, budget, is_small)
    shown = frozenset((*facts.lines, *page.lines))
    pages = [facts] if page is facts else [facts, page]
    sections: list[Page | Section] = [*pages, summaries, tried, said, questions, left_out]
    return _Sections(
        tuple((one.title, one.texts) for one in sections),
        shown,
        frozenset(facts.shortened | page.shortened),
        remark,
    )


def _list(omitted: NotShown, section: Section, budget: TokenBudget, is_small: bool) -> str:
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
    """Return the cost to reserve for the list of omitted facts: its longer form, when that is a small part."""
    if not omitted.count:
        return 0
    if is_small:
        return min(omitted.remark.units + _IDS_UNITS, budget.left)
    around = title_units("Not shown") + _IDS_UNITS
    longer, shorter = (piece.units + around for piece in omitted.lines)
    return longer if 4 * longer <= budget.left else min(shorter, budget.left)
