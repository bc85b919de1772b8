"""What a briefing shows of the memory, and in which form, so that it stays within its tokens. Pure.

When everything fits, everything is shown whole. Otherwise the room is given out in this order:

    1. the question and the round, always
    2. the newest round's facts, whole; when they alone are too much, levelled to one length within three
       quarters of the room
    3. older facts on one line each, then tool uses, then reasoning notes on one line, newest first
    4. older facts as far as their key part, then whole, newest first
    5. reasoning notes whole, tool uses in their long form, newest first

What is older is thus shortened sooner, and a fact is the last thing to go; what is gone is listed by id. One
pass, linear in the memory: every piece is measured once in each form.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from context_synthesizer.render import (
    LINE_CHARACTERS,
    LONG,
    SHORT,
    fact_line,
    key_part,
    not_shown,
    note_item,
    render,
    tool_line,
    whole_fact,
)
from shared.briefing import CHARACTERS_PER_TOKEN, Briefing, Level
from shared.memory import Fact, Memory, ToolUse

_SHARE: dict[Level, int] = {"full": 1, "simplified": 2, "minimal": 4}
_HEADINGS_CHARACTERS = len("\n\n# Facts\n\n\n# Tools tried\n\n\n# Reasoning so far\n\n\n# Not shown\n")
_NOT_SHOWN_CHARACTERS = 120
_NOTE_LINE_CHARACTERS = 200


@dataclass
class _Pieces:
    """The items of each section as they are shown; an empty one is not."""

    facts: list[str]
    uses: list[str]
    notes: list[str]
    not_shown: list[str] = field(default_factory=list)


def build_briefing(memory: Memory, round: int, max_rounds: int, level: Level, tokens_max: int) -> Briefing:
    """The briefing for `round`, of `tokens_max` estimated tokens at most, fewer at a lower level.

    `simplified` has half of them and no reasoning notes, `minimal` a quarter, for question and facts alone.
    Only a question that is longer than that by itself goes beyond; nothing else is shown then.
    """
    question = ("Question", (memory.intent,))
    now = ("Now", (f"Round {round} of at most {max_rounds}.",))
    memory = _for_level(memory, level)
    characters_max = tokens_max // _SHARE[level] * CHARACTERS_PER_TOKEN
    whole = _everything(memory)
    text = _assemble(question, whole, now)
    if len(text) <= characters_max:
        return Briefing.of(text, shown=tuple(fact.id for fact in memory.facts))
    frame = render((question, now))
    if len(frame) > characters_max:
        frame = render((question,))
        return Briefing.of(frame, omitted=tuple(fact.id for fact in memory.facts))
    shown = _within(memory, whole, characters_max - len(frame) - _HEADINGS_CHARACTERS)
    text = _assemble(question, shown, now)
    return _described(text, memory.facts, shown.facts, whole.facts)


def _for_level(memory: Memory, level: Level) -> Memory:
    if level == "full":
        return memory
    if level == "simplified":
        return memory.model_copy(update={"reasoning": ()})
    return memory.model_copy(update={"reasoning": (), "tool_usage": ()})


def _everything(memory: Memory) -> _Pieces:
    return _Pieces(
        [whole_fact(fact) for fact in memory.facts],
        [tool_line(use, LONG) for use in memory.tool_usage],
        [note_item(note) for note in memory.reasoning],
    )


def _assemble(question: tuple[str, Sequence[str]], pieces: _Pieces, now: tuple[str, Sequence[str]]) -> str:
    sections = (
        question,
        ("Facts", list(filter(None, pieces.facts))),
        ("Tools tried", list(filter(None, pieces.uses))),
        ("Reasoning so far", list(filter(None, pieces.notes))),
        ("Not shown", pieces.not_shown),
        now,
    )
    return render(sections)


def _described(text: str, facts: Sequence[Fact], shown: Sequence[str], whole: Sequence[str]) -> Briefing:
    triples = list(zip(facts, shown, whole, strict=True))
    return Briefing.of(
        text,
        shown=tuple(fact.id for fact, piece, _ in triples if piece),
        shortened=tuple(fact.id for fact, piece, full in triples if piece and piece != full),
        omitted=tuple(fact.id for fact, piece, _ in triples if not piece),
    )


class _Room:
    """Characters that are left to give out."""

    def __init__(self, characters: int) -> None:
        self.left = characters

    def put(self, pieces: list[str], index: int, piece: str) -> None:
        """Show `piece` in place of what is shown at `index`, if there is room for it."""
        cost = _size(piece) - _size(pieces[index])
        if cost <= self.left:
            pieces[index] = piece
            self.left -= cost

    def put_all(self, pieces: list[str], indexes: Iterable[int], form: Callable[[int], str]) -> None:
        for index in indexes:
            self.put(pieces, index, form(index))


def _within(memory: Memory, whole: _Pieces, characters: int) -> _Pieces:
    """The pieces that go into so many characters, by the order at the top of this file."""
    facts, uses, notes = memory.facts, memory.tool_usage, memory.reasoning
    shown = _Pieces([""] * len(facts), [""] * len(uses), [""] * len(notes))
    listing = min(_NOT_SHOWN_CHARACTERS, max(0, characters) // 4)
    room = _Room(characters - listing)
    newest_round = max((fact.round for fact in facts), default=0)
    newest = [index for index, fact in enumerate(facts) if fact.round == newest_round]
    older = [index for index in reversed(range(len(facts))) if facts[index].round != newest_round]

    lines = {index: fact_line(facts[index]) for index in older}
    tried = [tool_line(use, SHORT) for use in uses]
    is_too_much = sum(_size(whole.facts[index]) for index in newest) > room.left
    wanted = sum(map(_size, [*lines.values(), *tried])) if is_too_much else 0
    set_aside = min(max(0, room.left) // 4, wanted)
    room.left -= set_aside
    _put_levelled(room, shown.facts, newest, facts, whole.facts)
    room.left += set_aside
    room.put_all(shown.facts, older, lambda index: lines[index])
    room.put_all(shown.uses, _telling_first(uses), lambda index: tried[index])
    room.put_all(
        shown.notes, reversed(range(len(notes))), lambda index: note_item(notes[index], _NOTE_LINE_CHARACTERS)
    )
    room.put_all(shown.facts, older, lambda index: key_part(facts[index]))
    room.put_all(shown.facts, older, lambda index: whole.facts[index])
    room.put_all(shown.notes, reversed(range(len(notes))), lambda index: whole.notes[index])
    room.put_all(shown.uses, _telling_first(uses), lambda index: whole.uses[index])

    omitted = [fact.id for fact, piece in zip(facts, shown.facts, strict=True) if not piece]
    shown.not_shown = list(filter(None, [not_shown(omitted, listing)] if omitted else []))
    return shown


def _put_levelled(
    room: _Room, pieces: list[str], newest: Sequence[int], facts: Sequence[Fact], whole: Sequence[str]
) -> None:
    """The newest facts whole, or the longest of them cut to one length so that all have a place."""
    cap = _level([_size(whole[index]) for index in newest], room.left)
    for index in newest:
        size = _size(whole[index])
        around = size - len(whole[index].partition("\n")[2]) + len('\n</fact> shortened="yes" …')
        if size <= cap:
            room.put(pieces, index, whole[index])
        elif cap - around > LINE_CHARACTERS:
            room.put(pieces, index, key_part(facts[index], cap - around))
        if not pieces[index]:
            room.put(pieces, index, fact_line(facts[index]))


def _telling_first(uses: Sequence[ToolUse]) -> list[int]:
    """Newest first, but before them what brought no facts: nothing else in a briefing tells of it."""
    return sorted(range(len(uses)), key=lambda index: (bool(uses[index].facts), -index))


def _level(sizes: Sequence[int], room: int) -> int:
    """The greatest length such that pieces cut to it fit into `room` together."""
    left = room
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _size(piece: str) -> int:
    """What a piece costs, with the line break after it."""
    return len(piece) + 1 if piece else 0
