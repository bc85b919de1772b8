"""What a briefing shows of the memory, and in which form, so that it stays within its tokens. Pure.

When everything fits, everything is shown whole. Otherwise the room is given out in this order:

    1. the question, the round and the open sub-questions, always
    2. facts that the model's conclusions cite; of each newest result its closest fact
    3. a share for tool uses, reasoning and what is not shown, so that no fact takes the last of it
    4. facts by how close they are to what is asked (score.py), whole, the next one that fits
    5. what is left: tool uses and reasoning in their longer forms, answered sub-questions

Age decides nothing but ties. A fact that is superseded is shown on one line at most. What has no place is listed
by id, for `recall`.

Above LAZY_TOKENS the facts stand in two sections: "Facts", which changes only by growing at its end as long as
there is room (plan.py), and "Further facts", chosen anew each round.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from context_synthesizer.page import Page, Pieces, Room, title_units
from context_synthesizer.render import (
    LONG,
    SHORT,
    Piece,
    not_shown,
    note_lines,
    question_lines,
    render,
    searched,
    short_note_line,
    summary_lines,
    tool_lines,
)
from shared.briefing import Briefing, Level, ids_in
from shared.memory import Fact, Memory, ReasoningNote, ToolUse
from shared.tokens import UNITS_PER_TOKEN, token_units

LAZY_TOKENS = 4_000
MISSED_MAX = 10
_LEVEL_SHARE: dict[Level, int] = {"full": 1, "simplified": 2, "minimal": 4}
_USES_SHARE, _WORDS_SHARE = 12, 8
"""One part in so many of the room is kept for what was tried, and for what the model said."""
_SUMMARIES_SHARE = 6
_MISFITS_MAX = 40
"""Facts in a row for which there is no room; then the page counts as full."""
_MISSED_SHARE = 0.6
"""Of the closest fact's score: what is as close as that should have been shown."""
_TRIED, _SAID = "Tools tried", "Reasoning so far"


@dataclass(frozen=True)
class Ask:
    """What a briefing is for."""

    round: int
    max_rounds: int
    level: Level = "full"


def build_briefing(
    memory: Memory,
    scores: Mapping[str, float],
    pieces: Pieces,
    ask: Ask,
    tokens_max: int,
    planned: Sequence[str] | None = None,
) -> Briefing:
    """The briefing for a round, of `tokens_max` estimated tokens at most, fewer at a lower level.

    `scores`: how close each fact is to what is asked. `planned`: the facts of the section that only grows, in
    the order of their ids; None for one section chosen anew. `simplified` has half of the tokens and no
    reasoning, `minimal` a quarter, for question and facts alone. Only a question that is longer than that by
    itself goes beyond; nothing else is shown then.
    """
    question = ("Question", (memory.query,))
    now = ("Now", (f"Round {ask.round} of at most {ask.max_rounds}.",))
    room = Room(tokens_max // _LEVEL_SHARE[ask.level] * UNITS_PER_TOKEN)
    if not room.take(token_units(render((question, now)) + "\n\n")):
        return Briefing.of(render((question,)), omitted=len(memory.facts))
    shown = _whole(memory, pieces, ask.level, Room(room.left), planned is not None)
    shown = shown or _selected(memory, scores, pieces, ask.level, room, planned)
    text = render((question, *shown.sections, now))
    omitted = len(memory.facts) - len(shown.facts)
    missed = _missed(memory, scores, shown.facts) if omitted else ()
    return Briefing.of(text, shown.facts, shown.shortened, omitted, missed)


def must_have(memory: Memory, scores: Mapping[str, float]) -> list[Fact]:
    """What the model's conclusions rest on, by id, then the closest fact of each of the newest results."""
    cited = [fact for fact in memory.facts.values() if fact.id in memory.cited]
    closest = [max(facts, key=lambda fact: scores[fact.id]) for facts in _newest(memory)]
    return list({fact.id: fact for fact in (*cited, *closest)}.values())


def by_closeness(memory: Memory, scores: Mapping[str, float]) -> list[Fact]:
    """The closest first; of equals the newest."""
    newest_first = list(memory.facts.values())[::-1]
    return sorted(newest_first, key=lambda fact: -scores[fact.id])


def fill(page: Page, facts: Iterable[Fact]) -> list[Fact]:
    """Put one fact after the other where it fits, superseded ones in their short form; what was put."""
    superseded = page.memory.superseded
    put: list[Fact] = []
    misfits = 0
    for fact in facts:
        if fact.id in page.lines:
            continue
        if page.put(fact, is_short=fact.id in superseded):
            put.append(fact)
            misfits = 0
        elif (misfits := misfits + 1) == _MISFITS_MAX:
            break
    return put


@dataclass
class _Section:
    """Lines under a title, which is paid for with the first."""

    title: str
    room: Room
    texts: list[str] = field(default_factory=list)

    def put(self, piece: Piece) -> bool:
        if not self.room.take(piece.units + (0 if self.texts else title_units(self.title))):
            return False
        self.texts.append(piece.text)
        return True

    def put_all(self, pieces: Iterable[Piece]) -> bool:
        """Each that there is room for; whether that was all."""
        misfits = [piece for piece in pieces if not self.put(piece)]
        return not misfits

    def put_newest(self, pieces: Sequence[Piece]) -> None:
        """The last ones that there is room for, in their order."""
        before = len(self.texts)
        self.put_all(reversed(pieces))
        self.texts[before:] = self.texts[before:][::-1]


@dataclass(frozen=True)
class _Shown:
    """What stands between question and round."""

    sections: tuple[tuple[str, Sequence[str]], ...]
    facts: frozenset[str]
    shortened: frozenset[str] = frozenset()


def _whole(memory: Memory, pieces: Pieces, level: Level, room: Room, by_call: bool) -> _Shown | None:
    """All there is, whole, in one section of facts; None when there is no room for that."""
    page = Page("Facts", memory, pieces, room, by_call)
    tried, said, questions = (_Section(title, room) for title in (_TRIED, _SAID, "Sub-questions"))
    uses, notes = _beside(memory, level)
    still, answered = question_lines(memory)
    fits = (
        tried.put_all(tool_lines(use, LONG) for use in uses)
        and said.put_all(note_lines(note) for note in notes)
        and questions.put_all((*still, *answered))
        and all(page.put(fact) for fact in memory.facts.values())
    )
    if not fits:
        return None
    sections: list[Page | _Section] = [page, tried, said, questions]
    return _Shown(tuple((one.title, one.texts) for one in sections), frozenset(page.lines))


def _selected(
    memory: Memory,
    scores: Mapping[str, float],
    pieces: Pieces,
    level: Level,
    room: Room,
    planned: Sequence[str] | None,
) -> _Shown:
    """What has a place, by the order at the top of this file."""
    questions = _Section("Sub-questions", room)
    still, answered = question_lines(memory)
    questions.put_all(still)
    facts = Page("Facts", memory, pieces, room, by_call=planned is not None)
    page = facts if planned is None else Page("Further facts", memory, pieces, room)
    uses, notes = _beside(memory, level)
    for_uses = room.left // _USES_SHARE
    for_words = min(room.left // _WORDS_SHARE, _wanted(notes, answered))
    room.left -= for_uses + for_words
    ordered = by_closeness(memory, scores)
    must = must_have(memory, scores)
    _put_must(page, must if planned is None else [fact for fact in must if fact.id not in set(planned)])
    fill(facts, [memory.facts[id] for id in planned or ()])
    summaries = _summaries(memory, room)
    fill(page, [fact for fact in ordered if fact.id not in facts.lines])
    room.left += for_uses

    shown = frozenset((*facts.lines, *page.lines))
    left_out = _Section("Not shown", room)
    if omitted := [id for id in memory.facts if id not in shown]:
        told, briefly = not_shown(omitted)
        _ = (20 * told.units <= room.total and left_out.put(told)) or left_out.put(briefly)
    tried = _tried(uses, room)
    room.left += for_words
    said = _said(notes, room)
    questions.put_all(answered)
    pages = [facts] if page is facts else [facts, page]
    sections: list[Page | _Section] = [*pages, summaries, tried, said, questions, left_out]
    return _Shown(
        tuple((one.title, one.texts) for one in sections), shown, frozenset(facts.shortened | page.shortened)
    )


def _beside(memory: Memory, level: Level) -> tuple[Sequence[ToolUse], Sequence[ReasoningNote]]:
    """What is shown beside facts at that level."""
    uses = () if level == "minimal" else memory.tool_usage
    return uses, memory.reasoning if level == "full" else ()


def _wanted(notes: Sequence[ReasoningNote], answered: Sequence[Piece]) -> int:
    """What the model's own words need, each note on one line."""
    pieces = [*map(short_note_line, notes), *answered]
    return sum(piece.units for piece in pieces) + (title_units(_SAID) if pieces else 0)


def _put_must(page: Page, facts: Sequence[Fact]) -> None:
    """Each whole, where the short forms of those behind it still fit, else short."""
    prices = [page.price(fact, is_short=True) for fact in facts]
    owed = sum(prices)
    for fact, price in zip(facts, prices, strict=True):
        owed -= price
        is_affordable = page.price(fact) + owed <= page.room.left
        _ = page.put(fact, is_short=not is_affordable)


def _summaries(memory: Memory, room: Room) -> _Section:
    """The newest summaries, within their share of the room, the oldest first."""
    share = Room(room.left // _SUMMARIES_SHARE)
    chosen = [piece for piece in map(summary_lines, reversed(memory.summaries)) if share.take(piece.units)]
    section = _Section("Summaries", room)
    section.put_all(reversed(chosen))
    return section


def _tried(uses: Sequence[ToolUse], room: Room) -> _Section:
    """A line for each use, longer ones for the newest; or searches joined to one line, where that is too much."""
    section = _Section(_TRIED, room)
    short = [tool_lines(use, SHORT) for use in uses]
    if sum(piece.units for piece in short) + title_units(_TRIED) > room.left:
        searches = [use for use in uses if _is_search(use)]
        _put_searched(section, [use for use in searches if not use.facts], is_found=False)
        others = [piece for use, piece in zip(uses, short, strict=True) if not _is_search(use)]
        section.put_newest(others)
        _put_searched(section, [use for use in searches if use.facts], is_found=True)
        return section
    section.put_all(short)
    for index in reversed(range(len(uses))):
        long = tool_lines(uses[index], LONG)
        if room.take(long.units - short[index].units):
            section.texts[index] = long.text
    return section


def _is_search(use: ToolUse) -> bool:
    return bool(use.query) and use.outcome in ("ok", "not_found")


def _put_searched(section: _Section, uses: Sequence[ToolUse], is_found: bool) -> None:
    """As many of the newest searches as there is room for."""
    while uses and not section.put(searched(uses, is_found)):
        uses = uses[-(len(uses) // 2) :] if len(uses) > 1 else ()


def _said(notes: Sequence[ReasoningNote], room: Room) -> _Section:
    """On one line each, then whole, as far as there is room: conclusions first, then the newest; in their order."""
    section = _Section(_SAID, room)
    lines: dict[int, Piece] = {}
    newest_first = reversed(range(len(notes)))
    for index in sorted(newest_first, key=lambda index: not _concludes(notes[index])):
        line = short_note_line(notes[index])
        if room.take(line.units + (0 if lines else title_units(_SAID))):
            lines[index] = line
    for index in list(lines):
        whole = note_lines(notes[index])
        if room.take(whole.units - lines[index].units):
            lines[index] = whole
    section.texts = [lines[index].text for index in sorted(lines)]
    return section


def _concludes(note: ReasoningNote) -> bool:
    return note.note is not None and bool(note.note.concluded)


def _newest(memory: Memory) -> list[list[Fact]]:
    """Of each result of the newest round, its facts."""
    newest = memory.tool_usage[-1].round if memory.tool_usage else 0
    told = [ids_in(use.facts) for use in memory.tool_usage if use.round == newest and use.facts]
    return [facts for ids in told if (facts := [memory.facts[id] for id in ids if id in memory.facts])]


def _missed(memory: Memory, scores: Mapping[str, float], shown: frozenset[str]) -> tuple[str, ...]:
    """The facts left out that are nearly as close as the closest; what a later date puts aside is no loss."""
    close = _MISSED_SHARE * max(scores.values())
    summarized = {id for summary in memory.summaries for id in ids_in(summary.facts)}
    missed = [
        fact.id
        for fact in by_closeness(memory, scores)
        if fact.id not in shown and scores[fact.id] > 0 and scores[fact.id] >= close
    ]
    return tuple(id for id in missed if id not in memory.superseded and id not in summarized)[:MISSED_MAX]
