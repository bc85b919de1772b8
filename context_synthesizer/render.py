"""The pieces of a briefing, each a text with its cost in tokens. Pure.

`antiphon_shared.memory.briefing` defines the form; page.py and select.py choose the pieces and their lengths.
"""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from antiphon_shared.events.session import Status
from antiphon_shared.memory.briefing import id_ranges_without
from antiphon_shared.memory.layers import (
    Document,
    EarlierQuestion,
    Fact,
    ReasoningNote,
    Summary,
    ToolUse,
)
from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line, shorten
from antiphon_shared.text.fence import CLOSING, fence, opening
from antiphon_shared.text.tokens import token_units
from antiphon_shared.tools.relevance import READ_RESULT, RECALL

SHORT_CHARACTERS = 160
"""The length of a shortened statement."""
LONG, SHORT = 400, 120
"""The lengths, in characters, of a tool use's arguments, and of its message."""
_NAME_CHARACTERS = 200
_IDS_LISTED_MAX = 4
_SEARCHED_CHARACTERS = 2_000
_TITLE_CHARACTERS = 120
_STATUS_TEXTS: dict[Status, str] = {
    "partial": " (answered in part)",
    "cancelled": " (cancelled)",
    "failed": " (not answered)",
}
_json = json.JSONEncoder(ensure_ascii=False).encode
_LINE_BREAK_UNITS = token_units("\n")


class Piece:
    """Lines of a briefing, and their cost in hundredths of a token, with the line break after them."""

    __slots__ = ("text", "units")

    def __init__(self, text: str) -> None:
        self.text = text
        self.units = token_units(text) + _LINE_BREAK_UNITS


def render(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the text of the sections that have items, in their order."""
    return "\n\n".join(f"# {title}\n" + "\n".join(items) for title, items in sections if items)


def fact_line(fact: Fact, relations: str = "") -> Piece:
    """Return the whole fact with its id and relations, as in `F9 (superseded by F12) It takes 6 hours.`."""
    return Piece(f"{fact.id} {relations}{fence(fact.statement)}")


def short_fact_line(fact: Fact, relations: str = "") -> Piece:
    """Return the beginning of the fact, or the whole fact if it is short."""
    if len(fact.statement) <= SHORT_CHARACTERS:
        return fact_line(fact, relations)
    relations = f"{relations[:-2]}; shortened) " if relations else "(shortened) "
    # Fenced after the cut, which may end a word early.
    return Piece(f"{fact.id} {relations}{fence(one_line(fact.statement, SHORT_CHARACTERS))}")


def relations_note(fact: Fact, memory: Memory) -> str:
    """Return `(superseded by F12) `, `(contradicts F4; supersedes F2) `; empty for a fact without relations."""
    relations = []
    if fact.id in memory.superseded:
        relations.append(f"superseded by {memory.superseded[fact.id]}")
    if others := memory.contradicted.get(fact.id):
        relations.append(f"contradicts {_ids_text(others)}")
    if fact.supersedes:
        relations.append(f"supersedes {_ids_text(fact.supersedes)}")
    return f"({'; '.join(relations)}) " if relations else ""


def _ids_text(ids: Sequence[str]) -> str:
    more = len(ids) - _IDS_LISTED_MAX
    return ", ".join(ids) if more <= 1 else f"{', '.join(ids[:_IDS_LISTED_MAX])} and {more} more"


def heading(title: str) -> Piece:
    """Return the title of the documents below, on one line."""
    return Piece(f"## {fence(one_line(title, _TITLE_CHARACTERS))}")


class FenceKey(NamedTuple):
    """The properties that the facts of one fence share: their call, or only their level of trust."""

    is_untrusted: bool
    call_id: str = ""
    tool: str = ""
    round: int = 0

    @classmethod
    def of(cls, document: Document, by_call: bool) -> "FenceKey":
        """Return the key of the fence around a document's facts."""
        if not by_call:
            return cls(document.is_untrusted)
        return cls(document.is_untrusted, document.call_id, document.tool, document.round)


def fence_around(key: FenceKey) -> tuple[Piece, Piece]:
    """Return the lines before and after the facts of one fence."""
    if key.round:
        opened = opening(key.call_id, key.tool, key.round, key.is_untrusted)
    else:
        opened = f'<result trust="{"untrusted" if key.is_untrusted else "tool"}">'
    return Piece(opened), Piece(CLOSING)


def tool_lines(use: ToolUse, characters: int) -> Piece:
    """Return `tool_line` with advice on a failure, and the tool's own text in a fence below."""
    line = tool_line(use, characters)
    text_lines = text_of_use(use, 2 * characters)
    if not text_lines:
        return line
    advice = f"; {use.advice}" if use.advice else ""
    return Piece("\n".join([line.text + advice, *text_lines]))


def text_of_use(use: ToolUse, characters: int) -> list[str]:
    """Return the text of a call in its fence: what happened, then what to do; empty for most calls.

    A failed call has a name on each line, except in sessions before format 4.
    """
    happened, next_step = use.happened_and_next if use.facts or use.outcome != "ok" else ("", "")
    words = list(filter(None, [" ".join(filter(None, [use.substitute_because, happened])), next_step]))
    lines = [("", part) for part in words]
    if use.advice:
        labelled = zip(("result: ", "next: "), words, strict=False)
        lines = [("name: ", use.tool), ("status: ", use.outcome), *labelled]
    if not lines:
        return []
    opened = opening(use.call_id, use.substitute or use.tool, use.round, use.is_untrusted)
    texts = (f"  {name}{fence(one_line(part, characters))}" for name, part in lines)
    return [opened, *texts, CLOSING]


def tool_line(use: ToolUse, characters: int) -> Piece:
    """Return `- round 1: search {"q": "..."} -> ok: F1-F9`.

    The call that reads the complete result is at the end, and is never cut.
    """
    arguments = " ".join(_json(use.arguments).splitlines())
    arguments = shorten(arguments, characters) if len(arguments) > characters else arguments
    outcome = ": ".join(filter(None, [use.outcome, ", ".join(use.facts)]))
    if not use.facts and use.outcome == "ok":
        outcome += f": {one_line(use.message, characters)}"
    if use.handle:
        outcome += f"; shown in part: {READ_RESULT}(handle={json.dumps(use.handle, ensure_ascii=False)})"
    if use.repeated_because:
        outcome += f"; {use.repeated_because}"
    tool = one_line(use.tool, _NAME_CHARACTERS)
    return Piece(f"- round {use.round}: " + fence(f"{tool} {arguments} -> {outcome}"))


def searches_line(uses: Sequence[ToolUse], has_facts: bool) -> Piece:
    """Return the newest searches on one line, for a small budget."""
    newest_first = dict.fromkeys(json.dumps(use.query, ensure_ascii=False) for use in reversed(uses))
    queries: list[str] = []
    characters = 0
    for query in newest_first:
        characters += len(query) + 2
        if characters > _SEARCHED_CHARACTERS:
            break
        queries.insert(0, query)
    text = fence(one_line("; ".join(queries), _SEARCHED_CHARACTERS))
    return Piece(f"- already searched{'' if has_facts else ', found nothing'}: {text}")


def note_lines(note: ReasoningNote) -> Piece:
    """Return the whole text of a reply, and below it the conclusions, doubts and plans of its note."""
    lines = [fence(note.text.strip())] if note.text.strip() else []
    lines += [f"{kind}: {fence(line)}" for kind, line in _note_parts(note.note)]
    return Piece(f"- round {note.round}: " + "\n  ".join(lines))


def conclusion_lines(note: ReasoningNote) -> Piece:
    """Return the conclusions of a reply, a line for each; without conclusions, the beginning of its text."""
    if note.note is None or not note.note.concluded:
        return short_note_line(note)
    lines = [f"concluded: {fence(line)}" for line in note.note.concluded]
    return Piece(f"- round {note.round}: " + "\n  ".join(lines))


def short_note_line(note: ReasoningNote) -> Piece:
    """Return the conclusions of a reply, or the beginning of its text, on one line."""
    concluded = " ".join(note.note.concluded) if note.note else ""
    return Piece(f"- round {note.round}: {fence(one_line(concluded or note.text, 200))}")


def question_lines(memory: Memory) -> tuple[list[Piece], list[Piece]]:
    """Return the model's goal, constraints and open sub-questions; and its answered ones, with the newest changes."""
    has_noted_questions = any(one.note and (one.note.open or one.note.answered) for one in memory.reasoning)
    opened = [("goal", memory.goal)] if memory.goal else []
    opened += [("constraint", one) for one in memory.constraints]
    opened += [("open", one) for one in memory.open_questions] if has_noted_questions else []
    newest = memory.intents[-1] if memory.intents else None
    closed = [("answered", one) for one in memory.answered]
    if newest is not None and newest.changed:
        kinds = Counter(line.partition(":")[0] for line in newest.changed)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        closed.append((f"changed in round {newest.round}", counts))
    lines = [[Piece(f"- {kind}: {fence(one)}") for kind, one in part] for part in (opened, closed)]
    return lines[0], lines[1]


def earlier_line(earlier: EarlierQuestion, characters: int) -> Piece:
    """Return `- turn_1: How long is it?`, with the turn's status before the colon unless it was complete."""
    status = _STATUS_TEXTS.get(earlier.status, "")
    return Piece(f"- {earlier.call_id}{status}: {fence(one_line(earlier.question, characters))}")


def summary_lines(summary: Summary) -> Piece:
    """Return a summary in a fence, as its text comes from results of tools."""
    opened = opening("summary", "summary", summary.round, is_untrusted=True)
    return Piece(f"{opened}\n  {fence(summary.text)}\n{CLOSING}")


@dataclass(frozen=True, slots=True)
class NotShown:
    """The facts that a briefing leaves out."""

    count: int
    ranges: tuple[str, ...]

    @classmethod
    def of(cls, facts: int, shown: Collection[str]) -> "NotShown":
        """Return the facts that are left out of `facts` facts, whose ids are consecutive."""
        return cls(facts - len(shown), id_ranges_without(shown, facts))

    @property
    def lines(self) -> tuple[Piece, Piece]:
        """Return `- 12 facts not shown: F20-F31. Read one with recall(id="F20").`, and a shorter form."""
        ranges = ", ".join(self.ranges)
        some = ranges if len(ranges) <= LONG else f"among them {shorten(ranges, LONG)}"
        how = f'{RECALL}(id="{self._first}")'
        return Piece(f"- {self._text}: {some}. Read one with {how}."), Piece(
            f"- {self._text}. Read one with {how}."
        )

    @property
    def remark(self) -> Piece:
        """Return `12 facts not shown; recall(id="F20") reads one.`."""
        return Piece(f'{self._text}; {RECALL}(id="{self._first}") reads one.')

    @property
    def _first(self) -> str:
        return self.ranges[0].partition("-")[0]

    @property
    def _text(self) -> str:
        return f"{self.count} fact{'s' if self.count > 1 else ''} not shown"


def _note_parts(note: Note | None) -> list[tuple[str, str]]:
    if note is None:
        return []
    kinds = (
        ("concluded", note.concluded),
        ("doubt", note.doubts),
        ("plan", note.plans),
    )
    return [(kind, line) for kind, lines in kinds for line in lines]
