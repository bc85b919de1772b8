"""The note at the end of a model's reply: its conclusions, doubts and plans, and the open questions.

    <note>
    concluded: Course B covers the same topic as lesson 4 [F3, F7]
    open: Who teaches course B?
    answered: What is lesson 4 about? Authentication [F3]
    doubt: the outline may be out of date
    plan: look up the teachers of course B
    </note>

The parser is lenient: it accepts JSON, a code fence, other cases, bullets, headings, plurals and synonyms, and the end
of the text in place of `</note>`. An entry is a line; bullets below a key are its entries, and a line without a key
continues the entry above. `none`, `...`, `<what is open>` and the words of `NOTE_FORM` are empty entries. A text
without any of the keys is not a note, nor is a part of a code block. Pure.
"""

import re
from bisect import bisect
from collections.abc import Iterator

from pydantic import Field

from antiphon_shared.formats import since
from antiphon_shared.memory.note_entries import (
    BULLET,
    CODE_FENCE,
    ENTRIES_MAX,
    NOTE_CHARACTERS_MAX,
    NOTE_TAG,
    Entry,
    entries_of,
    key_at,
    one_line,
)
from antiphon_shared.values import Value


class Note(Value):
    """A reply's note on the state of the work, each entry one line."""

    concluded: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    """Sub-questions that are not answered yet."""
    answered: tuple[str, ...] = ()
    """Sub-questions with their answers, and the facts cited."""
    doubts: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    goal: tuple[str, ...] = Field(default=(), json_schema_extra=since(2))
    """The goal, if it has become clearer than the question; the last line counts."""


def read_note(text: str) -> tuple[Note | None, str]:
    """Return the note in a reply's text, or None, and the text without it, stripped.

    If there are several notes, the last one with entries counts, and all are removed from the text. Entries beyond
    `ENTRIES_MAX` of a kind are dropped, and so is text beyond `ENTRY_CHARACTERS_MAX` and
    `NOTE_CHARACTERS_MAX`. Raises nothing, and takes time linear in the text.
    """
    note, remaining, position = None, [], 0
    for start, end, content in _candidates(text):
        entries = entries_of(content[:NOTE_CHARACTERS_MAX]) if start >= position else None
        if entries is not None:
            note = _note(entries) or note
            remaining.append(text[position:start])
            position = end
    remaining.append(text[position:])
    return note, "\n\n".join(part for part in map(str.strip, remaining) if part)


def _note(entries: list[Entry]) -> Note | None:
    """Return the entries by kind, within the bounds; None if all of them are empty."""
    lines_by_kind: dict[str, dict[str, None]] = {}
    for kind, text in entries:
        line = one_line(text)
        if line and len(lines_by_kind.setdefault(kind, {})) < ENTRIES_MAX:
            lines_by_kind[kind][line] = None
    lines = {kind: tuple(each) for kind, each in lines_by_kind.items() if each}
    return Note(**lines) if lines else None


_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n)++")


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the possible notes in the order of the text: start, end, content. They may overlap."""
    blocks = _code_blocks(text)
    starts = [block[0] for block in blocks]
    tags: list[re.Match[str]] = []
    for tag in NOTE_TAG.finditer(text):
        block = bisect(starts, tag.start()) - 1
        if block < 0 or tag.start() >= blocks[block][1]:
            tags.append(tag)
    candidates = [one for block in blocks if (one := _complete_block(*block))] + list(_between(text, tags))
    yield from sorted(candidates, key=lambda one: one[0])


def _between(text: str, tags: list[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the text from each `<note>` to the next tag, or as far as it has the form of a note."""
    for index, tag in enumerate(tags):
        if tag["closes"] or text[tag.start() - 1 : tag.start()] == "`":
            continue
        after = tags[index + 1] if index + 1 < len(tags) else None
        content = text[tag.end() : after.start() if after else len(text)]
        if after and after["closes"]:
            yield tag.start(), after.end(), content
        elif length := _unclosed_length(content):
            yield tag.start(), tag.end() + length, content[:length]


def _unclosed_length(content: str) -> int:
    """Return the length of a note that is not closed: up to a paragraph without its form."""
    begins = content.lstrip()[:100]
    if not (begins.startswith(("{", "`")) or key_at(begins.split("\n")[0])):
        return 0
    first = len(content) - len(content.lstrip())
    for gap in _BLANK_LINES.finditer(content, first):
        line = content[gap.end() : gap.end() + 100].split("\n")[0]
        if not (key_at(line) or BULLET.match(line)):
            return gap.start()
    return len(content)


def _code_blocks(text: str) -> list[tuple[int, int, str, str]]:
    """Return the closed blocks of fenced code: start, end, the word after the fence, the content."""
    blocks = []
    opening: re.Match[str] | None = None
    for fence in CODE_FENCE.finditer(text):
        info = fence["info"].strip()
        if opening is None or (info and len(fence["marks"]) >= len(opening["marks"])):
            opening = fence
        elif not info and fence["marks"].startswith(opening["marks"]):
            inside = text[opening.end() : fence.start()]
            blocks.append((opening.start(), fence.end(), opening["info"].strip(), inside))
            opening = None
    return blocks


def _complete_block(start: int, end: int, info: str, inside: str) -> tuple[int, int, str] | None:
    """Return a code block that contains only a note."""
    inside = inside.strip()
    tags = list(NOTE_TAG.finditer(inside))
    opens = bool(tags) and tags[0].start() == 0 and not tags[0]["closes"]
    is_framed = opens and (len(tags) == 1 or tags[1].end() == len(inside))
    return (start, end, NOTE_TAG.sub("\n", inside)) if is_framed or info.lower() == "note" else None
