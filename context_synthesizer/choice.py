"""The order of facts in a briefing: required ones first, then those closest to the question and the searches. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from antiphon_shared.memory.briefing import ids_in, number_of
from antiphon_shared.memory.layers import Fact
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import UNITS_PER_TOKEN

from context_synthesizer.page import Page
from context_synthesizer.scores import Scores
from context_synthesizer.shares import Shares

MISSED_MAX = 10
_MISFITS_MAX = 20
"""The number of consecutive facts that do not fit after which the page counts as full."""
_LINE_UNITS_MIN = 4 * UNITS_PER_TOKEN
"""The minimum size of a fact's line."""
_OTHER_SIDES_MAX = 2
_MISSED_SHARE = 0.6
"""The share of the closest fact's score from which a fact counts as missed when it is not shown."""


def must_have(memory: Memory, scores: Mapping[str, float]) -> list[Fact]:
    """Return the closest fact of each of the newest results, then the cited facts, the newest first.

    New facts come first, as conclusions may cite more facts than fit, and the model has not seen the new ones.
    """
    closest = [max(facts, key=lambda fact: scores[fact.id]) for facts in _newest_results(memory)]
    cited = [memory.facts[id] for id in sorted(memory.cited, key=number_of, reverse=True)]
    return list({fact.id: fact for fact in (*closest, *cited)}.values())


def side_by_side(memory: Memory, ids: Iterable[str]) -> Iterator[Fact]:
    """Yield each fact, followed by facts that contradict it, as one value alone would look certain."""
    seen: set[str] = set()
    for id in ids:
        if id in seen:
            continue
        seen.add(id)
        yield memory.facts[id]
        for other in memory.contradicted.get(id, ())[:_OTHER_SIDES_MAX]:
            yield memory.facts[other]


def fill_page(page: Page, facts: Iterable[Fact]) -> list[Fact]:
    """Show the facts that fit, those beyond their share (shares.py) last; return the shown facts."""
    shares = Shares(page)
    waiting: list[Fact] = []
    repeated: list[Fact] = []
    shown: list[Fact] = []

    def is_accepted(fact: Fact, units: int) -> bool:
        if shares.is_over(fact, units):
            waiting.append(fact)
        elif shares.is_repetition(fact):
            repeated.append(fact)
        else:
            shares.count_shown(fact, units)
            return True
        return False

    if show_each(page, facts, shown, is_accepted):
        show_each(page, (*waiting, *repeated), shown)
    return shown


def show_each(
    page: Page,
    facts: Iterable[Fact],
    shown: list[Fact] | None = None,
    is_accepted: Callable[[Fact, int], bool] = lambda _fact, _units: True,
) -> bool:
    """Show the facts that fit and that `is_accepted` accepts, superseded ones short; return whether tokens are left.

    `is_accepted` is called with the fact and its cost. The facts that it shows are appended to `shown`.
    """
    superseded = page.memory.superseded
    misfits = 0
    for fact in facts:
        if page.budget.left < _LINE_UNITS_MIN or misfits == _MISFITS_MAX:
            return False
        if fact.id in page.lines:
            continue
        is_short = fact.id in superseded
        price = page.price(fact, is_short=is_short)
        if price > page.budget.left:
            misfits += 1
        elif is_accepted(fact, price):
            page.show(fact, is_short=is_short)
            misfits = 0
            if shown is not None:
                shown.append(fact)
    return True


def show_required(page: Page, facts: Sequence[Fact]) -> None:
    """Show each fact: whole, if the short forms of the following ones still fit, else short."""
    prices = [page.price(fact, is_short=True) for fact in facts]
    reserved = sum(prices)
    for fact, price in zip(facts, prices, strict=True):
        reserved -= price
        is_affordable = page.price(fact) + reserved <= page.budget.left
        _ = page.show(fact, is_short=not is_affordable)


def missed_facts(memory: Memory, scores: Scores, shown: frozenset[str]) -> tuple[str, ...]:
    """Return the omitted facts that are nearly as close as the closest, without superseded or summarized ones."""
    least_score = _MISSED_SHARE * scores[next(scores.closest_first())]
    close_ids = takewhile(lambda id: scores[id] >= least_score > 0, scores.closest_first())
    summarized = {id for summary in memory.summaries for id in ids_in(summary.facts)}
    left_out = (id for id in close_ids if not (id in shown or id in summarized or id in memory.superseded))
    return tuple(islice(left_out, MISSED_MAX))


def _newest_results(memory: Memory) -> list[list[Fact]]:
    """Return the facts of each result of the newest round."""
    newest_first = memory.tool_usage[::-1]
    newest = list(takewhile(lambda use: use.round == newest_first[0].round, newest_first))
    results = [ids_in(use.facts) for use in reversed(newest) if use.facts]
    return [facts for ids in results if (facts := [memory.facts[id] for id in ids if id in memory.facts])]
