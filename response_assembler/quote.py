"""A fact in words for a person, quoted on one line, and escaped for Markdown. Pure."""

import re
from collections.abc import Sized
from typing import Any

from antiphon_shared.memory.layers import Document, Fact
from antiphon_shared.text.citations import CITATION
from antiphon_shared.text.excerpt import one_line
from pydantic_core import from_json

QUOTE_CHARACTERS = 280
_TITLE_CHARACTERS = 120
_ITEMS_MAX = 8
_NAMES = ("title", "name", "headline", "heading", "subject", "label", "id")
_DEPTH_MAX = 3
_SHORT_CHARACTERS = 80
_NOT_IN_CODE = re.compile(r"[`<>\[\]\\]")
_CONTROLS = [*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Characters that control a terminal, or the direction of text."""
_MARKDOWN = str.maketrans(
    {"\\": r"\\", "[": r"\[", "]": r"\]", "<": "&lt;", "*": r"\*", "~": r"\~", "`": "'"}
    | {chr(sign): " " for sign in _CONTROLS}
)
_LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")


def quoted_fact(fact: Fact, document: Document, characters: int = QUOTE_CHARACTERS) -> str:
    """Return `“the beginning of a text”`, or `number: 3; teacher: Ada`; without the title of its document."""
    if not fact.is_json:
        return f"“{plain(one_line(fact.statement, characters))}”"
    value = json_value(fact)
    if isinstance(value, dict):
        rest = {key: item for key, item in value.items() if not _repeats_title(item, document.title)}
        return plain(one_line(_in_words(rest or value, 0), characters))
    text = one_line(_in_words(value, 0), characters)
    return plain(text) if document.title else f"{code(document.tool)} returned {plain(text)}"


def title(document: Document) -> str:
    """Return the title in bold, or an empty text."""
    text = plain(one_line(document.title, _TITLE_CHARACTERS))
    return f"**{text}**" if text.strip() else ""


def json_value(fact: Fact) -> Any:
    """Return the value of a structured fact; the statement itself if it cannot be parsed."""
    try:
        return from_json(fact.statement)
    except ValueError:
        return fact.statement


def plain(text: str) -> str:
    """Return text that Markdown shows literally, as a tool's result must not create links, markup or citations."""
    return _LOOSE_UNDERSCORE.sub(r"\\_", text.translate(_MARKDOWN))


def plain_but_cited(text: str) -> str:
    """Return a line of the model's notes literally, except for its citations, which are numbered later."""
    parts, position = [], 0
    for match in CITATION.finditer(text):
        parts += [plain(text[position : match.start()]), match[0]]
        position = match.end()
    return "".join([*parts, plain(text[position:])])


def code(name: str) -> str:
    """Return a name as Markdown code, without characters that would end the code."""
    return f"`{one_line(_NOT_IN_CODE.sub('', name), 80) or 'a tool'}`"


def _in_words(value: object, depth: int) -> str:
    """Return a JSON value in words: names before values, short ones first, a nested record by its name alone."""
    if isinstance(value, dict):
        if depth > 0 and (name := _name_of(value)):
            return name
        if depth > _DEPTH_MAX:
            return _counted(value)
        members = {key: item for key, item in value.items() if item not in (None, "", [], {})} or value
        entries = [
            f"{str(key).replace('_', ' ')}: {_in_words(item, depth + 1)}" for key, item in members.items()
        ]
        entries.sort(key=lambda entry: len(entry) > _SHORT_CHARACTERS)
        return f"({', '.join(entries)})" if depth > 0 else "; ".join(entries)
    if isinstance(value, list):
        if depth > _DEPTH_MAX:
            return _counted(value)
        items = [_in_words(item, depth + 1) for item in value[:_ITEMS_MAX]]
        more = [f"and {len(value) - _ITEMS_MAX} more"] if len(value) > _ITEMS_MAX else []
        return ", ".join([*items, *more]) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _counted(value: Sized) -> str:
    return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"


def _repeats_title(item: object, title: str) -> bool:
    return isinstance(item, str) and (item == title or (len(item) > 3 and item in title))


def _name_of(record: dict[str, Any]) -> str:
    for key in _NAMES:
        if isinstance(record.get(key), str) and record[key].strip():
            return str(record[key])
    return ""
