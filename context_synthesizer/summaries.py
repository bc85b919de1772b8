"""Summaries by a model: the choice of its facts, and the check of its text. Pure.

A summary is one line for one or several facts, which it names: `F20, F22: Both courses last six hours.` Each
line is checked against them (faithful.py). If one line fails, the whole summary is refused.
"""

import re
from collections.abc import Callable, Iterable
from itertools import takewhile

from antiphon_shared.events import SummaryCompleted, ToSummarize
from antiphon_shared.memory.briefing import Briefing, digest_of, id_ranges, ids_in
from antiphon_shared.memory.layers import Fact, Summary
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.fence import unescaped
from antiphon_shared.text.tokens import UNITS_PER_TOKEN, estimate_tokens

from context_synthesizer.choice import fill_page
from context_synthesizer.faithful import ComparedText, Source, disagreement
from context_synthesizer.page import Page, Pieces, TokenBudget
from context_synthesizer.scores import Scores

SOURCE_TOKENS_MIN, SOURCE_TOKENS_MAX = 1_500, 6_000
"""Bounds on the text to summarize: less is not worth a call, and more is left to later summaries."""
_SUMMARY_SHARE = 10
_SUMMARY_TOKENS_MAX = 600
_LINES_MAX, _LINE_CHARACTERS_MAX = 200, 2_000
_LINE = re.compile(r"^[-*\s]*+((?:F\d{1,9}(?:\s?[-–]\s?F\d{1,9})?(?:,\s*+)?){1,200})\s*+:\s*(\S.*)$")
_PART = re.compile(r"F(\d{1,9})(?:\s?[-–]\s?F(\d{1,9}))?")
_RUN_MAX = 1_000


def select_to_summarize(
    memory: Memory,
    closeness: Callable[[], Scores],
    pieces: Pieces,
    briefing: Briefing,
    tokens_max: int,
) -> tuple[str, ToSummarize] | None:
    """Return a text of the closest facts that are neither in `briefing` nor in a summary, with its request.

    `closeness` is called if needed.
    """
    if not briefing.outline.omitted:
        return None
    scores = closeness()
    shown = {*ids_in(briefing.outline.shown), *_summarized(memory), *memory.superseded}
    close = takewhile(lambda id: scores[id] > 0, scores.closest_first())
    left = (memory.facts[id] for id in close if id not in shown)
    page = Page("Facts", memory, pieces, TokenBudget(SOURCE_TOKENS_MAX * UNITS_PER_TOKEN))
    fill_page(page, left)
    text = "\n".join(page.texts)
    tokens = estimate_tokens(text)
    if tokens < SOURCE_TOKENS_MIN:
        return None
    return text, ToSummarize(
        source=digest_of(text),
        facts=id_ranges(page.lines),
        tokens=tokens,
        tokens_max=min(_SUMMARY_TOKENS_MAX, tokens_max // _SUMMARY_SHARE),
    )


def check_summary(summary: SummaryCompleted, memory: Memory) -> Summary | str:
    """Return the summary as it is stored, or why it is refused, as a sentence."""
    sources = {id: _source(memory.facts[id], memory) for id in ids_in(summary.facts) if id in memory.facts}
    lines: list[str] = []
    summarized_ids: list[str] = []
    text_lines = list(filter(None, map(str.strip, unescaped(summary.text).splitlines())))
    if len(text_lines) > _LINES_MAX or any(len(line) > _LINE_CHARACTERS_MAX for line in text_lines):
        return (
            f"It has more than {_LINES_MAX} lines, or one of more than {_LINE_CHARACTERS_MAX:,} characters."
        )
    for line in text_lines:
        match = _LINE.match(line)
        ids = _ids(match[1]) if match else []
        if match is None or not ids:
            return f"A line names no facts: {one_line(line, 80)}"
        if unknown := [id for id in ids if id not in sources]:
            return f"It names facts that it was not given: {', '.join(unknown[:5])}."
        if problem := disagreement(match[2], [sources[id] for id in ids]):
            return problem
        lines.append(f"{', '.join(id_ranges(ids))}: {match[2]}")
        summarized_ids += ids
    if not summarized_ids:
        return "It says nothing."
    return Summary(round=summary.round, text="\n".join(lines), facts=id_ranges(summarized_ids))


def _source(fact: Fact, memory: Memory) -> Source:
    title = memory.document_of(fact).title
    return Source(ComparedText(unescaped(fact.statement), fact.is_json), ComparedText(unescaped(title)))


def _summarized(memory: Memory) -> Iterable[str]:
    return (id for summary in memory.summaries for id in ids_in(summary.facts))


def _ids(text: str) -> list[str]:
    ids: dict[str, None] = {}
    for first, last in _PART.findall(text):
        numbers = range(int(first), min(int(last or first), int(first) + _RUN_MAX) + 1)
        ids.update(dict.fromkeys(f"F{number}" for number in numbers))
    return list(ids)
