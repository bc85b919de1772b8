"""The side sections of a briefing: earlier questions, tool uses, the model's reasoning, summaries. Pure.

Each item has a longer and a shorter form; the newest and the most informative items are dropped last.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from antiphon_shared.memory.briefing import Level
from antiphon_shared.memory.layers import ReasoningNote, ToolUse
from antiphon_shared.memory.session_memory import Memory

from context_synthesizer.page import Pieces, TokenBudget, title_units
from context_synthesizer.render import (
    LONG,
    SHORT,
    Piece,
    conclusion_lines,
    earlier_line,
    note_lines,
    searches_line,
    short_note_line,
    summary_lines,
    tool_line,
)

TOOL_USES, REASONING, QUESTIONS = "Tools tried", "Reasoning so far", "Sub-questions"
EARLIER = "Earlier in this conversation"
_EARLIER_SHARE = 8
"""The divisor of the budget for the share of earlier questions."""
_COMPLETE, _BY_CONCLUSIONS = 1, 2
"""The number of newest notes shown whole, and of notes before them shown by their conclusions."""
_SUMMARIES_SHARE = 6
"""The divisor of the budget for the share of summaries."""


@dataclass
class Section:
    """Lines under a title; the cost of the first line includes the title."""

    title: str
    budget: TokenBudget
    texts: list[str] = field(default_factory=list)

    def add(self, piece: Piece) -> bool:
        if not self.budget.take(piece.units + (0 if self.texts else title_units(self.title))):
            return False
        self.texts.append(piece.text)
        return True

    def add_all(self, pieces: Iterable[Piece]) -> bool:
        """Add each piece that fits; return whether all did."""
        pieces = list(pieces)
        units = sum([piece.units for piece in pieces])
        if units and not self.texts:
            units += title_units(self.title)
        if self.budget.take(units):  # usually all fit
            self.texts += [piece.text for piece in pieces]
            return True
        fits = [self.add(piece) for piece in pieces]
        return all(fits)

    def add_newest(self, forms: Sequence[tuple[Piece, Piece]]) -> None:
        """Add the newest items that fit, each in its longer or its shorter form, in their order."""
        before = len(self.texts)
        for longer, shorter in reversed(forms):
            _ = self.add(longer) or self.add(shorter)
        self.texts[before:] = self.texts[before:][::-1]


def pieces_of_level(memory: Memory, level: Level) -> tuple[Sequence[ToolUse], Sequence[ReasoningNote]]:
    """Return the tool uses and notes that a briefing of the level shows in addition to facts."""
    uses = () if level == "minimal" else memory.tool_usage
    return uses, memory.reasoning if level == "full" else ()


def reasoning_units(notes: Sequence[ReasoningNote], answered: Sequence[Piece]) -> int:
    """Return the cost of the model's reasoning with each note on one line."""
    pieces = [*map(short_note_line, notes), *answered]
    return sum(piece.units for piece in pieces) + (title_units(REASONING) if pieces else 0)


def summaries_section(memory: Memory, budget: TokenBudget) -> Section:
    """Return the newest summaries, within their share of the budget, the oldest first."""
    share = TokenBudget(budget.left // _SUMMARIES_SHARE)
    chosen = [piece for piece in map(summary_lines, reversed(memory.summaries)) if share.take(piece.units)]
    section = Section("Summaries", budget)
    section.add_all(reversed(chosen))
    return section


def earlier_section(memory: Memory, budget: TokenBudget) -> Section:
    """Return the newest earlier questions of the conversation, within their share, the oldest first."""
    share = budget.left // _EARLIER_SHARE
    section = Section(EARLIER, TokenBudget(share))
    section.add_newest([(earlier_line(one, LONG), earlier_line(one, SHORT)) for one in memory.earlier])
    budget.take(share - section.budget.left)
    return section


def uses_section(uses: Sequence[ToolUse], pieces: Pieces, budget: TokenBudget) -> Section:
    """Return a line for each use, longer for the newest; if that is too much, searches share one line."""
    section = Section(TOOL_USES, budget)
    short = [pieces.use_piece(use, SHORT) for use in uses]
    if sum([piece.units for piece in short]) + title_units(TOOL_USES) > budget.left:
        searches = [use for use in uses if is_search(use)]
        others = [use for use in uses if not is_search(use)]
        _add_searches(section, [use for use in searches if not use.facts], has_results=False)
        section.add_newest([(pieces.use_piece(use, SHORT), tool_line(use, SHORT)) for use in others])
        _add_searches(section, [use for use in searches if use.facts], has_results=True)
        return section
    section.add_all(short)
    for index in reversed(range(len(uses))):
        long = pieces.use_piece(uses[index], LONG)
        if budget.take(long.units - short[index].units):
            section.texts[index] = long.text
    return section


def is_search(use: ToolUse) -> bool:
    """Return whether a use is a search in words that has not failed."""
    return bool(use.query) and use.outcome in ("ok", "not_found")


def _add_searches(section: Section, uses: Sequence[ToolUse], has_results: bool) -> None:
    """Add as many of the newest searches as fit."""
    while uses and not section.add(searches_line(uses, has_results)):
        uses = uses[-(len(uses) // 2) :] if len(uses) > 1 else ()


def notes_by_age(notes: Sequence[ReasoningNote], pieces: Pieces) -> list[Piece]:
    """Return each note in a form by its age: the newest whole, then by its conclusions, the oldest on one line."""
    newest = len(notes) - 1
    return [_by_age(newest - number, note, pieces) for number, note in enumerate(notes)]


def _by_age(age: int, note: ReasoningNote, pieces: Pieces) -> Piece:
    if age < _COMPLETE:
        return pieces.note_piece(note, note_lines)
    return pieces.note_piece(note, conclusion_lines if age < _COMPLETE + _BY_CONCLUSIONS else short_note_line)


def notes_section(notes: Sequence[ReasoningNote], pieces: Pieces, budget: TokenBudget) -> Section:
    """Return the notes that fit on one line each, those with conclusions first; then the newest in longer forms."""
    by_age = notes_by_age(notes, pieces)
    section = Section(REASONING, budget)
    lines: dict[int, Piece] = {}
    newest_first = reversed(range(len(notes)))
    for index in sorted(newest_first, key=lambda index: not _concludes(notes[index])):
        line = pieces.note_piece(notes[index], short_note_line)
        if budget.take(line.units + (0 if lines else title_units(REASONING))):
            lines[index] = line
    for index in list(lines):
        longer = by_age[index]
        if budget.take(longer.units - lines[index].units):
            lines[index] = longer
    section.texts = [lines[index].text for index in sorted(lines)]
    return section


def _concludes(note: ReasoningNote) -> bool:
    return note.note is not None and bool(note.note.concluded)
