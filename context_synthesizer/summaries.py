"""A model as compressor: which facts it is given, and whether what it made of them can be believed. Pure.

A summary is one line for one or several facts, which it names: `F20, F22: Both courses last six hours.` It is held
against them: a number, an id, a name or a quotation that none of them holds is invented, one that a named fact
holds and the line does not is lost. One such, and the whole summary is refused; the rules go on without it.
"""

import re
from collections.abc import Iterable, Mapping

from context_synthesizer.choice import by_closeness, fill
from context_synthesizer.page import Page, Pieces, Room
from shared.briefing import Briefing, digest_of, id_ranges, ids_in
from shared.events import SummaryCompleted, ToSummarize
from shared.excerpt import one_line
from shared.memory import Fact, Memory, Summary
from shared.tokens import UNITS_PER_TOKEN, estimate_tokens

SOURCE_TOKENS_MIN, SOURCE_TOKENS_MAX = 1_500, 6_000
"""Less is not worth a call; more is not read at once."""
_SUMMARY_SHARE = 10
_SUMMARY_TOKENS_MAX = 600
_LINE = re.compile(r"^[-*\s]*((?:F\d{1,9}(?:\s?[-–]\s?F\d{1,9})?(?:,\s*)?){1,200})\s*:\s*(\S.*)$")
_PART = re.compile(r"F(\d{1,9})(?:\s?[-–]\s?F(\d{1,9}))?")
_RUN_MAX = 1_000
_CODE = re.compile(r"[\w][\w.,:/@%+-]*")
"""A number, a date, an id: told by its digits."""
_NAME = re.compile(r"(?<![.!?:;\n\"“(] )(?<=[^\S\n])[^\W\d_a-z][\w'’-]+")
"""A capitalised word that does not begin a sentence."""
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{8,500})[\"”»]")


def select_to_summarize(
    memory: Memory, scores: Mapping[str, float], pieces: Pieces, briefing: Briefing, tokens_max: int
) -> tuple[str, ToSummarize] | None:
    """A text of facts that are not in `briefing` and in no summary, the closest to what is asked."""
    if not briefing.outline.omitted:
        return None
    shown = {*ids_in(briefing.outline.shown), *_summarized(memory), *memory.superseded}
    left = [fact for fact in by_closeness(memory, scores) if fact.id not in shown and scores[fact.id] > 0]
    page = Page("Facts", memory, pieces, Room(SOURCE_TOKENS_MAX * UNITS_PER_TOKEN))
    fill(page, left)
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


def checked(summary: SummaryCompleted, memory: Memory) -> Summary | str:
    """The summary as it is kept, or why it is refused, as a sentence."""
    given = {id: memory.facts[id] for id in ids_in(summary.facts) if id in memory.facts}
    lines: list[str] = []
    named: list[str] = []
    for line in filter(None, map(str.strip, summary.text.splitlines())):
        told = _LINE.match(line)
        ids = _ids(told[1]) if told else []
        if told is None or not ids:
            return f"A line names no facts: {one_line(line, 80)}"
        if unknown := [id for id in ids if id not in given]:
            return f"It names facts that it was not given: {', '.join(unknown[:5])}."
        if fault := _fault(told[2], [given[id] for id in ids], memory):
            return fault
        lines.append(f"{', '.join(id_ranges(ids))}: {told[2]}")
        named += ids
    if not named:
        return "It says nothing."
    return Summary(round=summary.round, text="\n".join(lines), facts=id_ranges(named))


def _fault(line: str, facts: Iterable[Fact], memory: Memory) -> str:
    """What the line invents or loses, as a sentence; empty when nothing."""
    statements = "\n".join(fact.statement for fact in facts)
    titles = "\n".join(memory.document_of(fact).title for fact in facts)
    if (
        invented := _telling(line)
        - _telling(f"{statements}\n{titles}")
        - _plain_words(f"{statements} {titles}")
    ):
        return f"It invents {', '.join(sorted(invented)[:3])}."
    if lost := _telling(statements) - _telling(line) - _plain_words(line):
        return f"It loses {', '.join(sorted(lost)[:3])}."
    said = _spaced(f"{statements}\n{titles}")
    for quotation in _QUOTED.findall(line):
        if _spaced(quotation) not in said:
            return f"It quotes what no fact says: {one_line(quotation, 80)}"
    return ""


def _telling(text: str) -> set[str]:
    """The numbers, dates, ids and names in a text."""
    codes = {one.rstrip(".,:/-").casefold() for one in _CODE.findall(text) if any(map(str.isdigit, one))}
    return codes | {name.casefold() for name in _NAME.findall(text)}


def _plain_words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[^\W\d_][\w'’-]+", text)}


def _spaced(text: str) -> str:
    return " ".join(text.split()).casefold()


def _summarized(memory: Memory) -> Iterable[str]:
    return (id for summary in memory.summaries for id in ids_in(summary.facts))


def _ids(text: str) -> list[str]:
    ids: dict[str, None] = {}
    for first, last in _PART.findall(text):
        numbers = range(int(first), min(int(last or first), int(first) + _RUN_MAX) + 1)
        ids.update(dict.fromkeys(f"F{number}" for number in numbers))
    return list(ids)
