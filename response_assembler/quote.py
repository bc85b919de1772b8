"""A fact as a sentence a person can read: quoted, on one line, safe inside Markdown. Pure."""

import re
from typing import Any

from shared.excerpt import one_line
from shared.memory import Fact

QUOTE_CHARACTERS = 280
_ITEMS_MAX = 8
_NAMES = ("title", "name", "headline", "heading", "subject", "label", "id")
_DEPTH_MAX = 3
_NOT_IN_CODE = re.compile(r"[`<>\[\]]")
_MARKDOWN = str.maketrans({"[": r"\[", "]": r"\]", "<": "&lt;", "*": r"\*", "`": "'"})


def quote(fact: Fact) -> str:
    """`**Title.** "the beginning of a text"`, or `**Title.** number: 3; teacher: Ada`."""
    content = fact.content
    if isinstance(content, dict):
        rest = {key: value for key, value in content.items() if str(value) != fact.title}
        said = one_line(_spoken(rest or content, 0), QUOTE_CHARACTERS)
    elif isinstance(content, str):
        said = f"“{one_line(_without_heading(content, fact.title), QUOTE_CHARACTERS)}”"
    else:
        said = one_line(f"{fact.tool} returned {_spoken(content, 0)}", QUOTE_CHARACTERS)
    title = f"**{plain(fact.title)}.** " if fact.title else ""
    return title + plain(said)


def plain(text: str) -> str:
    """Text that is shown as it stands: what tools returned draws no links, markup or citations."""
    return text.translate(_MARKDOWN)


def code(name: str) -> str:
    """A name as Markdown code; a name that would be more than that loses what makes it so."""
    return f"`{one_line(_NOT_IN_CODE.sub('', name), 80)}`"


def _without_heading(text: str, title: str) -> str:
    line, _, rest = text.strip().partition("\n")
    return rest if rest.strip() and title and title in line else text


def _spoken(value: Any, depth: int) -> str:
    """A JSON value in words: names before values, a nested record by its name alone."""
    if isinstance(value, dict):
        if depth > 0 and (name := _name_of(value)):
            return name
        if depth > _DEPTH_MAX:
            return f"{len(value)} entries"
        return "; ".join(
            f"{str(key).replace('_', ' ')}: {_spoken(item, depth + 1)}" for key, item in value.items()
        )
    if isinstance(value, list):
        items = [_spoken(item, depth + 1) for item in value[:_ITEMS_MAX]]
        more = [f"and {len(value) - _ITEMS_MAX} more"] if len(value) > _ITEMS_MAX else []
        return ", ".join([*items, *more]) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _name_of(record: dict[str, Any]) -> str:
    for key in _NAMES:
        if isinstance(record.get(key), str) and record[key].strip():
            return str(record[key])
    return ""
