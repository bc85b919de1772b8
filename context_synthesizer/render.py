"""The pieces of a briefing: each is a text with its cost in tokens. Pure.

The form is fixed in `antiphon_shared.memory.briefing`; page.py and select.py choose the pieces and their
lengths.
"""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

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
"""The length of a statement that is not shown whole."""
LONG, SHORT = 400, 120
"""Characters of a tool use's arguments, and of its message."""
_NAME_CHARACTERS = 200
_IDS_NAMED_MAX = 4
_SEARCHED_CHARACTERS = 2_000
_TITLE_CHARACTERS = 120
_CAME_OF: dict[Status, str] = {
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
    """Return the beginning of the fact, or the whole fact if it is not longer."""
    if len(fact.statement) <= SHORT_CHARACTERS:
        return fact_line(fact, relations)
    relations = f"{relations[:-2]}; shortened) " if relations else "(shortened) "
    # Fenced again after the cut, which may end a word early.
    return Piece(f"{fact.id} {relations}{fence(one_line(fact.statement, SHORT_CHARACTERS))}")


def relations_note(fact: Fact, memory: Memory) -> str:
    """Return `(superseded by F12) `, `(contradicts F4; supersedes F2) `; empty for a fact without relations."""
    said = []
    if fact.id in memory.superseded:
        said.append(f"superseded by {memory.superseded[fact.id]}")
    if others := memory.contradicted.get(fact.id):
        said.append(f"contradicts {_some(others)}")
    if fact.supersedes:
        said.append(f"supersedes {_some(fact.supersedes)}")
    return f"({'; '.join(said)}) " if said else ""


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - _IDS_NAMED_MAX
    return ", ".join(ids) if more <= 1 else f"{', '.join(ids[:_IDS_NAMED_MAX])} and {more} more"


def heading(title: str) -> Piece:
    """Return the title of the documents below, on one line."""
    return Piece(f"## {fence(one_line(title, _TITLE_CHARACTERS))}")


def fence_around(document: Document, by_call: bool) -> tuple[Piece, Piece]:
    """Return the lines before and after facts: those of one call, or all of one level of trust."""
    if by_call:
        opened = opening(document.call_id, document.tool, document.round, document.is_untrusted)
    else:
        opened = f'<result trust="{"untrusted" if document.is_untrusted else "tool"}">'
    return Piece(opened), Piece(CLOSING)


def tool_lines(use: ToolUse, characters: int) -> Piece:
    """Return `tool_line` with advice on a failure, and the tool's own text in its fence below."""
    line = tool_line(use, characters)
    said = words_of(use, 2 * characters)
    if not said:
        return line
    advised = f"; {use.advice}" if use.advice else ""
    return Piece("\n".join([line.text + advised, *said]))


def words_of(use: ToolUse, characters: int) -> list[str]:
    """Return the text of a call about itself, in its fence: what happened, then what to do. Most calls have no text.

    A failed call has the same form everywhere, with a name on each line. Sessions before format 4 have no
    names.
    """
    happened, next_step = use.happened_and_next if use.facts or use.outcome != "ok" else ("", "")
    words = list(filter(None, [" ".join(filter(None, [use.substitute_because, happened])), next_step]))
    lines = [("", part) for part in words]
    if use.advice:
        named = zip(("result: ", "next: "), words, strict=False)
        lines = [("name: ", use.tool), ("status: ", use.outcome), *named]
    if not lines:
        return []
    opened = opening(use.call_id, use.substitute or use.tool, use.round, use.is_untrusted)
    said = (f"  {name}{fence(one_line(part, characters))}" for name, part in lines)
    return [opened, *said, CLOSING]


def tool_line(use: ToolUse, characters: int) -> Piece:
    """Return `- round 1: search {"q": "..."} -> ok: F1-F9`.

    The call that reads the whole of a result is at the end, and is never cut.
    """
    arguments = " ".join(_json(use.arguments).splitlines())
    arguments = shorten(arguments, characters) if len(arguments) > characters else arguments
    came = ": ".join(filter(None, [use.outcome, ", ".join(use.facts)]))
    if not use.facts and use.outcome == "ok":
        came += f": {one_line(use.message, characters)}"
    if use.handle:
        came += f"; shown in part: {READ_RESULT}(handle={json.dumps(use.handle, ensure_ascii=False)})"
    if use.repeated_because:
        came += f"; {use.repeated_because}"
    tool = one_line(use.tool, _NAME_CHARACTERS)
    return Piece(f"- round {use.round}: " + fence(f"{tool} {arguments} -> {came}"))


def searches_line(uses: Sequence[ToolUse], found: bool) -> Piece:
    """Return searches on one line, for a small budget; of very many only the newest."""
    newest_first = dict.fromkeys(json.dumps(use.query, ensure_ascii=False) for use in reversed(uses))
    queries: list[str] = []
    characters = 0
    for query in newest_first:
        characters += len(query) + 2
        if characters > _SEARCHED_CHARACTERS:
            break
        queries.insert(0, query)
    said = fence(one_line("; ".join(queries), _SEARCHED_CHARACTERS))
    return Piece(f"- already searched{'' if found else ', found nothing'}: {said}")


def note_lines(note: ReasoningNote) -> Piece:
    """Return the whole text of a reply, with the conclusions, doubts and plans of its note below."""
    said = [fence(note.text.strip())] if note.text.strip() else []
    said += [f"{kind}: {fence(line)}" for kind, line in _noted(note.note)]
    return Piece(f"- round {note.round}: " + "\n  ".join(said))


def conclusion_lines(note: ReasoningNote) -> Piece:
    """Return the conclusions of a reply, a line each; without any, the beginning of its text."""
    if note.note is None or not note.note.concluded:
        return short_note_line(note)
    said = [f"concluded: {fence(line)}" for line in note.note.concluded]
    return Piece(f"- round {note.round}: " + "\n  ".join(said))


def short_note_line(note: ReasoningNote) -> Piece:
    """Return the conclusions of a reply, or the beginning of its text, on one line."""
    concluded = " ".join(note.note.concluded) if note.note else ""
    return Piece(f"- round {note.round}: {fence(one_line(concluded or note.text, 200))}")


def question_lines(memory: Memory) -> tuple[list[Piece], list[Piece]]:
    """Return goal, constraints and open sub-questions of the model; and its answered ones, with the newest changes."""
    is_named = any(one.note and (one.note.open or one.note.answered) for one in memory.reasoning)
    still = [("goal", memory.goal)] if memory.goal else []
    still += [("constraint", one) for one in memory.constraints]
    still += [("open", one) for one in memory.open_questions] if is_named else []
    newest = memory.intents[-1] if memory.intents else None
    beside = [("answered", one) for one in memory.answered]
    if newest is not None and newest.changed:
        kinds = Counter(line.partition(":")[0] for line in newest.changed)
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        beside.append((f"changed in round {newest.round}", told))
    lines = [[Piece(f"- {kind}: {fence(one)}") for kind, one in part] for part in (still, beside)]
    return lines[0], lines[1]


def earlier_line(earlier: EarlierQuestion, characters: int) -> Piece:
    """Return `- turn_1: How long is it?`, with the turn's status before the colon unless it was complete."""
    said = _CAME_OF.get(earlier.status, "")
    return Piece(f"- {earlier.call_id}{said}: {fence(one_line(earlier.question, characters))}")


def summary_lines(summary: Summary) -> Piece:
    """Return a summary in a fence, as it is made of results of tools."""
    opened = opening("summary", "summary", summary.round, is_untrusted=True)
    return Piece(f"{opened}\n  {fence(summary.text)}\n{CLOSING}")


@dataclass(frozen=True, slots=True)
class NotShown:
    """The facts that a briefing leaves out."""

    count: int
    ranges: tuple[str, ...]

    @classmethod
    def of(cls, facts: int, shown: Collection[str]) -> "NotShown":
        """Return what is left out of that many facts, without a look at each."""
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


def _noted(note: Note | None) -> list[tuple[str, str]]:
    if note is None:
        return []
    kinds = (
        ("concluded", note.concluded),
        ("doubt", note.doubts),
        ("plan", note.plans),
    )
    return [(kind, line) for kind, lines in kinds for line in lines]
