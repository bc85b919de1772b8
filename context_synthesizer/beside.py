"""What stands beside the facts: what was asked before, what was tried, what the model said, summaries. Pure.

Each in a longer and a shorter form; the newest and the most telling keep their place longest.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from antiphon_shared.memory.briefing import Level
from antiphon_shared.memory.layers import Memory, ReasoningNote, ToolUse

from context_synthesizer.page import Pieces, Room, title_units
from context_synthesizer.render import (
    LONG,
    SHORT,
    Piece,
    conclusion_lines,
    earlier_line,
    note_lines,
    searched,
    short_note_line,
    summary_lines,
    tool_line,
    tool_lines,
)

TRIED, SAID, QUESTIONS = "Tools tried", "Reasoning so far", "Sub-questions"
EARLIER = "Earlier in this conversation"
_EARLIER_SHARE = 8
"""One part in so many of the room is for earlier questions at most."""
_WHOLE, _BY_CONCLUSIONS = 1, 2
"""So many of the newest rounds' words are shown whole, and of so many before them the conclusions."""
_SUMMARIES_SHARE = 6
"""One part in so many of the room is for summaries at most."""


@dataclass
class Section:
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

    def put_newest(self, forms: Sequence[tuple[Piece, Piece]]) -> None:
        """The last ones that there is room for, each in its longer or its shorter form, in their order."""
        before = len(self.texts)
        for longer, shorter in reversed(forms):
            _ = self.put(longer) or self.put(shorter)
        self.texts[before:] = self.texts[before:][::-1]


def beside(memory: Memory, level: Level) -> tuple[Sequence[ToolUse], Sequence[ReasoningNote]]:
    """What is shown beside facts at that level."""
    uses = () if level == "minimal" else memory.tool_usage
    return uses, memory.reasoning if level == "full" else ()


def words_wanted(notes: Sequence[ReasoningNote], answered: Sequence[Piece]) -> int:
    """What the model's own words need, each note on one line."""
    pieces = [*map(short_note_line, notes), *answered]
    return sum(piece.units for piece in pieces) + (title_units(SAID) if pieces else 0)


def summaries_section(memory: Memory, room: Room) -> Section:
    """The newest summaries, within their share of the room, the oldest first."""
    share = Room(room.left // _SUMMARIES_SHARE)
    chosen = [piece for piece in map(summary_lines, reversed(memory.summaries)) if share.take(piece.units)]
    section = Section("Summaries", room)
    section.put_all(reversed(chosen))
    return section


def earlier_section(memory: Memory, room: Room) -> Section:
    """What was asked before in the conversation: the newest questions within their share, the oldest first."""
    share = room.left // _EARLIER_SHARE
    section = Section(EARLIER, Room(share))
    section.put_newest([(earlier_line(one, LONG), earlier_line(one, SHORT)) for one in memory.earlier])
    room.take(share - section.room.left)
    return section


def tried_section(uses: Sequence[ToolUse], room: Room) -> Section:
    """A line for each use, longer ones for the newest; or searches joined to one line, where that is too much."""
    section = Section(TRIED, room)
    short = [tool_lines(use, SHORT) for use in uses]
    if sum(piece.units for piece in short) + title_units(TRIED) > room.left:
        searches = [use for use in uses if is_search(use)]
        _put_searched(section, [use for use in searches if not use.facts], is_found=False)
        section.put_newest(
            [(tool_lines(use, SHORT), tool_line(use, SHORT)) for use in uses if not is_search(use)]
        )
        _put_searched(section, [use for use in searches if use.facts], is_found=True)
        return section
    section.put_all(short)
    for index in reversed(range(len(uses))):
        long = tool_lines(uses[index], LONG)
        if room.take(long.units - short[index].units):
            section.texts[index] = long.text
    return section


def is_search(use: ToolUse) -> bool:
    """Return whether a use is a search in words that has not failed."""
    return bool(use.query) and use.outcome in ("ok", "not_found")


def _put_searched(section: Section, uses: Sequence[ToolUse], is_found: bool) -> None:
    """As many of the newest searches as there is room for."""
    while uses and not section.put(searched(uses, is_found)):
        uses = uses[-(len(uses) // 2) :] if len(uses) > 1 else ()


def said_by_age(notes: Sequence[ReasoningNote], pieces: Pieces) -> list[Piece]:
    """Return each note in the form of its age: the newest whole, then conclusions by line, the oldest one line."""
    newest = len(notes) - 1
    return [_by_age(newest - number, note, pieces) for number, note in enumerate(notes)]


def _by_age(age: int, note: ReasoningNote, pieces: Pieces) -> Piece:
    if age < _WHOLE:
        return pieces.said(note, note_lines)
    return pieces.said(note, conclusion_lines if age < _WHOLE + _BY_CONCLUSIONS else short_note_line)


def said_section(notes: Sequence[ReasoningNote], pieces: Pieces, room: Room) -> Section:
    """On one line each, then as their age allows, as far as there is room: conclusions first, then the newest."""
    by_age = said_by_age(notes, pieces)
    section = Section(SAID, room)
    lines: dict[int, Piece] = {}
    newest_first = reversed(range(len(notes)))
    for index in sorted(newest_first, key=lambda index: not _concludes(notes[index])):
        line = pieces.said(notes[index], short_note_line)
        if room.take(line.units + (0 if lines else title_units(SAID))):
            lines[index] = line
    for index in list(lines):
        longer = by_age[index]
        if room.take(longer.units - lines[index].units):
            lines[index] = longer
    section.texts = [lines[index].text for index in sorted(lines)]
    return section


def _concludes(note: ReasoningNote) -> bool:
    return note.note is not None and bool(note.note.concluded)
