"""A page of facts within a token budget: facts by id, in the fence of their call, under their title. Pure.

The first fact that needs a title or a fence pays for it, so that the cost of a page is always exact.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from antiphon_shared.memory.briefing import number_of
from antiphon_shared.memory.layers import Fact, ReasoningNote, ToolUse
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import token_units
from antiphon_shared.text.words import words

from context_synthesizer.render import (
    SHORT_CHARACTERS,
    FenceKey,
    Piece,
    fact_line,
    fence_around,
    heading,
    relations_note,
    short_fact_line,
    tool_lines,
)

TITLE_CHARACTERS_MIN = 4
"""The minimum length of a title to look for, as shorter ones occur in many statements by chance."""
_TITLES_CACHED_MAX = 32
"""Bound on cached titles of sections; there are about twelve."""

_EXPLANATION = re.compile(r" \([^()]*\)$")
"""The part that an encyclopedia adds to an ambiguous name: `Bridge (film)`."""
_FIGURE = re.compile(r"\d")
_NAME = re.compile(r"\b[A-Z]\w\w+")

NoteForm = Callable[[ReasoningNote], Piece]


class TokenBudget:
    """A budget in hundredths of a token."""

    def __init__(self, units: int) -> None:
        self.left = units

    def take(self, units: int) -> bool:
        """Take `units` if they are left; return whether they were."""
        if units > self.left:
            return False
        self.left -= units
        return True


class Pieces:
    """The facts, notes and tool uses of one memory as pieces, each made once in each form."""

    def __init__(self) -> None:
        self.units_least = 0
        """A lower bound on the cost of all facts, whole."""
        self._lines: dict[tuple[str, str, bool], Piece] = {}
        self._uses: dict[tuple[int, int], Piece] = {}
        self._notes: dict[tuple[int, NoteForm], Piece] = {}
        self._headings: dict[str, Piece] = {}
        self._fences: dict[FenceKey, tuple[Piece, Piece]] = {}
        self._names_subject: dict[str, bool] = {}
        self._words: dict[str, frozenset[str]] = {}

    def add(self, facts: Iterable[Fact]) -> None:
        """Count facts that are new in the memory."""
        self.units_least += sum(token_units(fact.statement) for fact in facts)

    def line(self, memory: Memory, fact: Fact, is_short: bool) -> Piece:
        relations = relations_note(fact, memory)
        key = (fact.id, relations, is_short)
        piece = self._lines.get(key)
        if piece is None:
            piece = self._lines[key] = (short_fact_line if is_short else fact_line)(fact, relations)
        return piece

    # Keys are identities, as the memory keeps each use and each note as one object.

    def use_piece(self, use: ToolUse, characters: int) -> Piece:
        """Return a use of a tool, in one of its lengths."""
        key = id(use), characters
        piece = self._uses.get(key)
        if piece is None:
            piece = self._uses[key] = tool_lines(use, characters)
        return piece

    def note_piece(self, note: ReasoningNote, form: NoteForm) -> Piece:
        """Return a note in one of its forms."""
        key = id(note), form
        piece = self._notes.get(key)
        if piece is None:
            piece = self._notes[key] = form(note)
        return piece

    def heading(self, title: str) -> Piece:
        """Return the heading of a document's title."""
        piece = self._headings.get(title)
        if piece is None:
            piece = self._headings[title] = heading(title)
        return piece

    def fence(self, key: FenceKey) -> tuple[Piece, Piece]:
        """Return the opening and the end of a fence."""
        pieces = self._fences.get(key)
        if pieces is None:
            pieces = self._fences[key] = fence_around(key)
        return pieces

    def names_subject(self, fact: Fact, title: str) -> bool:
        """Return whether the fact's statement names the subject in the title of its document."""
        if fact.id not in self._names_subject:
            self._names_subject[fact.id] = names_title(fact.statement, title, is_record=fact.is_json)
        return self._names_subject[fact.id]

    def words(self, fact: Fact) -> frozenset[str]:
        """Return the words of a fact's statement, without numbers."""
        if fact.id not in self._words:
            self._words[fact.id] = frozenset(word for word in words(fact.statement) if not word.isdigit())
        return self._words[fact.id]


@dataclass
class Page:
    """The facts of one section."""

    title: str
    memory: Memory
    pieces: Pieces
    budget: TokenBudget
    by_call: bool = False
    """Whether each call has its own fence, so that the page only grows at its end; else each level of trust has one."""
    lines: dict[str, Piece] = field(default_factory=dict)
    shortened: set[str] = field(default_factory=set)
    _headings: set[tuple[FenceKey, str]] = field(default_factory=set)
    _fences: set[FenceKey] = field(default_factory=set)

    def show(self, fact: Fact, *, is_short: bool = False) -> bool:
        """Show the fact if it fits with its title and its fence; return whether it did."""
        line, fence, title, units = self._with_cost(fact, is_short)
        if not self.budget.take(units):
            return False
        self.lines[fact.id] = line
        self._headings.add((fence, title))
        self._fences.add(fence)
        if is_short and len(fact.statement) > SHORT_CHARACTERS:
            self.shortened.add(fact.id)
        return True

    def price(self, fact: Fact, *, is_short: bool = False) -> int:
        """Return the current cost of the fact, with its title and fence if they are new; it never grows later."""
        return self._with_cost(fact, is_short)[-1]

    def _with_cost(self, fact: Fact, is_short: bool) -> tuple[Piece, FenceKey, str, int]:
        """Return the fact's line, the key of its fence, the title above it, and its current cost."""
        fence = FenceKey.of(self.memory.document_of(fact), self.by_call)
        title = self._title_above(fact)
        line = self.pieces.line(self.memory, fact, is_short)
        units = line.units if self.lines else line.units + title_units(self.title)
        if fence not in self._fences:
            units += sum([piece.units for piece in self.pieces.fence(fence)])
        if title and (fence, title) not in self._headings:
            units += self.pieces.heading(title).units
        return line, fence, title, units

    def _title_above(self, fact: Fact) -> str:
        """Return the title above the fact; empty on a compact page if the statement names it."""
        title = self.memory.document_of(fact).title
        return "" if not self.by_call and self.pieces.names_subject(fact, title) else title

    @property
    def texts(self) -> list[str]:
        """Return the lines of the page, in the order of the facts' ids.

        The facts of one fence are together at its first fact, and within it the facts of one title. Facts without a
        title come first, so that they do not seem to belong to one.
        """
        fenced: dict[FenceKey, dict[str, list[str]]] = {}
        for id in sorted(self.lines, key=number_of):
            fact = self.memory.facts[id]
            fence, title = FenceKey.of(self.memory.document_of(fact), self.by_call), self._title_above(fact)
            fenced.setdefault(fence, {"": []}).setdefault(title, []).append(self.lines[id].text)
        texts: list[str] = []
        for fence, titled in fenced.items():
            opened, closed = self.pieces.fence(fence)
            texts.append(opened.text)
            for title, lines in titled.items():
                texts += [self.pieces.heading(title).text, *lines] if title else lines
            texts.append(closed.text)
        return texts


@lru_cache(_TITLES_CACHED_MAX)
def title_units(title: str) -> int:
    """Return the cost of a section's title, with the empty line before it."""
    return token_units(f"# {title}\n\n")


def name_of(title: str) -> str:
    """Return the name in a title, without the explanation after it."""
    return _EXPLANATION.sub("", title)


def names_title(statement: str, title: str, *, is_record: bool = False) -> bool:
    """Return whether a statement names its title's subject by the title's last name, as in `Ziegler died.`.

    A title with a figure, which may be a date, must occur whole. So must a title without a name, or of a record,
    whose fields may hold a part of it.
    """
    title = name_of(title)
    names = [] if is_record or _FIGURE.search(title) else _NAME.findall(title)
    if not names:
        return len(title) >= TITLE_CHARACTERS_MIN and title.casefold() in statement.casefold()
    return names[-1] in statement and names[-1] in _NAME.findall(statement)
