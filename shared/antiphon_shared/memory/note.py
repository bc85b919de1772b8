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

import json
import re
from bisect import bisect
from collections.abc import Iterator
from typing import Any

from pydantic import Field

from antiphon_shared.formats import since
from antiphon_shared.text.citations import CITATION
from antiphon_shared.values import Value

ENTRY_CHARACTERS_MAX = 500
ENTRIES_MAX = 20
NOTE_CHARACTERS_MAX = 20_000

NOTE_FORM = """\
<note>
concluded: what the facts show [F3, F7]
open: a sub-question still open; name all that are
answered: a sub-question, and its answer [F3]
doubt: what may be wrong
plan: what you look for next
</note>"""
"""The form for a prompt. A repetition of it does not count as an entry."""

_KEYS_OF = {
    "concluded": "concluded, conclusion, concluded so far, conclusions so far, known, known so far, known fact",
    "open": "open, still open, open question, open sub question, sub question, question, unanswered, missing",
    "answered": "answered, answered question, answered sub question, resolved",
    "doubts": "doubt, doubted, doubtful, uncertain, uncertainty, uncertainties",
    "plans": "plan, planned, next, next step",
    "constraints": "constraint",
    "goal": "goal, intent, objective",
}
"""The keys of each kind, the canonical first; also in the plural, and with `-`, `_` or no space."""

_DEPTH_MAX = 4

_Entry = tuple[str, str]
"""Kind and text."""


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
    note, kept, position = None, [], 0
    for start, end, content in _candidates(text):
        entries = _entries(content[:NOTE_CHARACTERS_MAX]) if start >= position else None
        if entries is not None:
            note = _note(entries) or note
            kept.append(text[position:start])
            position = end
    kept.append(text[position:])
    return note, "\n\n".join(part for part in map(str.strip, kept) if part)


def _note(entries: list[_Entry]) -> Note | None:
    """Return the entries by kind, within the bounds; None if all of them are empty."""
    said: dict[str, dict[str, None]] = {}
    for kind, text in entries:
        line = _one_line(text)
        if line and len(said.setdefault(kind, {})) < ENTRIES_MAX:
            said[kind][line] = None
    lines = {kind: tuple(each) for kind, each in said.items() if each}
    return Note(**lines) if lines else None


# The position of a note

_FENCE = re.compile(r"^[^\S\n]*+(?P<marks>`{3,}+|~{3,}+)(?P<info>[^\n`]*+)$", re.MULTILINE)
_TAG = re.compile(r"<\s{0,4}(?P<closes>/?)\s{0,4}note\s{0,4}>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n)++")


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the possible notes in the order of the text: start, end, content. They may overlap."""
    blocks = _code_blocks(text)
    starts = [block[0] for block in blocks]
    tags: list[re.Match[str]] = []
    for tag in _TAG.finditer(text):
        block = bisect(starts, tag.start()) - 1
        if block < 0 or tag.start() >= blocks[block][1]:
            tags.append(tag)
    found = [one for block in blocks if (one := _whole_block(*block))] + list(_between(text, tags))
    yield from sorted(found, key=lambda one: one[0])


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
    if not (begins.startswith(("{", "`")) or _key_at(begins.split("\n")[0])):
        return 0
    first = len(content) - len(content.lstrip())
    for gap in _BLANK_LINES.finditer(content, first):
        line = content[gap.end() : gap.end() + 100].split("\n")[0]
        if not (_key_at(line) or _BULLET.match(line)):
            return gap.start()
    return len(content)


def _code_blocks(text: str) -> list[tuple[int, int, str, str]]:
    """Return the closed blocks of fenced code: start, end, the word after the fence, the content."""
    blocks = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        info = fence["info"].strip()
        if opening is None or (info and len(fence["marks"]) >= len(opening["marks"])):
            opening = fence
        elif not info and fence["marks"].startswith(opening["marks"]):
            inside = text[opening.end() : fence.start()]
            blocks.append((opening.start(), fence.end(), opening["info"].strip(), inside))
            opening = None
    return blocks


def _whole_block(start: int, end: int, info: str, inside: str) -> tuple[int, int, str] | None:
    """Return a code block that contains only a note."""
    inside = inside.strip()
    tags = list(_TAG.finditer(inside))
    opens = bool(tags) and tags[0].start() == 0 and not tags[0]["closes"]
    is_framed = opens and (len(tags) == 1 or tags[1].end() == len(inside))
    return (start, end, _TAG.sub("\n", inside)) if is_framed or info.lower() == "note" else None


# The entries of a note

_WORDS = {kind: [key.strip() for key in keys.split(",")] for kind, keys in _KEYS_OF.items()}
_KIND_OF = {key.replace(" ", "").rstrip("s"): kind for kind, keys in _WORDS.items() for key in keys}
_ANY_KEY = "|".join(key.replace(" ", "[ _-]?") for keys in _WORDS.values() for key in keys)
_KEY = rf"(?P<key>(?:{_ANY_KEY})s?)"
_BULLET = re.compile(r"\s*+(?:[-*•+]|\d{1,2}[.)])\s++")
_KEYED = re.compile(
    rf"\s*+(?:(?:[-*•+]|#{{1,6}}|\d{{1,2}}[.)])\s++)?(?P<mark>[*_`\"]{{1,3}})?{_KEY}(?(mark)(?P=mark)?)"
    rf"(?:\s?\([^()]{{0,40}}\))?\s{{0,4}}[:：](?(mark)(?:(?P=mark))?)",
    re.IGNORECASE | re.ASCII,
)
_HEADING = re.compile(
    rf"\s*+(?:#{{1,6}}\s++|(?=\*\*))(?:\*\*)?{_KEY}(?:\*\*)?\s*+$", re.IGNORECASE | re.ASCII
)
_KEY_TAG = re.compile(rf"<(?P<closes>/?){_KEY}>", re.IGNORECASE | re.ASCII)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)(?:(")(\s{0,20}:)?|\\?\Z)', re.DOTALL)
_BULLETS = re.compile(r"\A(?:[-*•+]\s++)++")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_SAYS_NOTHING = re.compile(
    r"(?:none|nothing|n/?a|nil|null|no|tbd)?(?: (?:yet|so far|left|remaining|at present|for now|known|open))*"
    r"|no (?:(?:more|further|open|new|remaining) ){0,2}(?:(?:sub-?)?questions?|doubts?|plans?|constraints?)"
    r"|<[^<>]*>|[\[{(]?(?:\.{2,}|…)[\]})]?",
    re.IGNORECASE,
)
_FORM_SAYS = {CITATION.sub("", line.partition(": ")[2]).strip() for line in NOTE_FORM.splitlines()}


def _entries(content: str) -> list[_Entry] | None:
    """Return the entries of a note's text, unbounded, or None without any of the keys."""
    if not content.strip():
        return []
    opening = content.find("{")
    if opening >= 0 and not _FENCE.sub("", content[:opening]).strip():
        return _from_json(content[opening:])
    return _from_lines(content)


def _from_lines(content: str) -> list[_Entry] | None:
    entries: list[_Entry] = []
    kind, goes_on, is_list = "", False, False
    for line in _KEY_TAG.sub(_as_line, content).splitlines():
        if not line.strip():
            goes_on = False
        elif _FENCE.match(line):
            continue
        elif key := _key_at(line):
            kind, said = _kind(key["key"]), line[key.end() :]
            goes_on, is_list = bool(said.strip()), not said.strip()
            entries.append((kind, said))
        elif kind and (bullet := _BULLET.match(line)):
            entries.append((kind, line[bullet.end() :]))
            goes_on = True
        elif goes_on:
            entries[-1] = kind, f"{entries[-1][1]} {line.strip()}"
        elif is_list:
            entries.append((kind, line))
    return entries if kind else None


def _key_at(line: str) -> re.Match[str] | None:
    """Return the key at the beginning of a line: `open:`, `**Open**:`, `- open:`, `## Open questions`."""
    return _KEYED.match(line) or _HEADING.match(line)


def _as_line(tag: re.Match[str]) -> str:
    """Return `<open>` as the key of a line."""
    return "\n" if tag["closes"] else f"\n{tag['key']}: "


def _from_json(content: str) -> list[_Entry] | None:
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(content)
    except (ValueError, RecursionError):
        return _from_broken_json(content)
    inner = value.get("note", value)
    fields = [(_kind(key), said) for key, said in (inner if isinstance(inner, dict) else value).items()]
    entries = [(kind, text) for kind, said in fields if kind for text in _texts(said)]
    return entries if any(kind for kind, _ in fields) else None


def _from_broken_json(content: str) -> list[_Entry] | None:
    """Return the complete strings of truncated or faulty JSON, each under the key before it."""
    entries: list[_Entry] = []
    kind, has_key = "", False
    for text, is_whole, is_key in _STRING.findall(content):
        if is_key:
            kind = _kind(text)
            has_key = has_key or bool(kind)
        elif is_whole and kind:
            entries.append((kind, _unescaped(text)))
    return entries if has_key else None


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def _texts(said: Any) -> list[str]:
    """Return the entries in a JSON value: one for each line of a text, item of a list or field of an object."""
    if isinstance(said, str):
        return said.splitlines()
    if isinstance(said, list):
        return [_in_a_row(one) for one in said]
    if isinstance(said, dict):
        return [f"{key} {_in_a_row(value)}" for key, value in said.items()]
    return [_in_a_row(said)]


def _in_a_row(value: Any, depth: int = 0) -> str:
    """Return all values in a JSON value as one text, without keys."""
    parts = list(value.values()) if isinstance(value, dict) else value
    if isinstance(parts, list):
        return " ".join(_in_a_row(one, depth + 1) for one in parts) if depth < _DEPTH_MAX else ""
    return "" if parts is None else str(parts)


def _kind(key: str) -> str:
    """Return the kind of a key; empty for an unknown key."""
    return _KIND_OF.get(re.sub(r"[\s_-]", "", key[:100]).lower().rstrip("s"), "")


def _one_line(said: str) -> str:
    """Return an entry within its bounds; empty if it has no content."""
    plain = _KEY_TAG.sub(" ", _TAG.sub(" ", _SURROGATES.sub("\ufffd", said[:NOTE_CHARACTERS_MAX])))
    line = _BULLETS.sub("", " ".join(plain.split()))[:ENTRY_CHARACTERS_MAX].rstrip()
    words = CITATION.sub("", line).strip(" .,;:!-–—_*()\"'`")
    return "" if _SAYS_NOTHING.fullmatch(words) or words in _FORM_SAYS else line
