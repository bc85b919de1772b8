"""Briefings read back by their form, and facts traced to the tool results."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from antiphon_shared.memory.briefing import Briefing
from antiphon_shared.memory.layers import Fact
from pydantic_core import from_json

ORDER = (
    "Question", "Facts", "Further facts", "Summaries", "Tools tried", "Reasoning so far", "Sub-questions",
    "Not shown", "Now",
)  # fmt: skip  # one list, in order


@dataclass(frozen=True)
class Line:
    """A fact as a briefing shows it."""

    section: str
    fence: str
    """The line that opens its fence."""
    title: str
    known: str
    text: str


@dataclass(frozen=True)
class Reading:
    """The parts of a briefing that a model can recognize by form alone."""

    sections: dict[str, list[str]]
    facts: dict[str, Line]
    order: dict[str, list[list[str]]]
    """The ids in each fence of each section, in their order."""

    def text_of(self, section: str) -> str:
        return "\n".join(self.sections.get(section, ()))


_OPENING = re.compile(
    r'<result (?:call="[^"<>\n]*" tool="[^"<>\n]*" round="\d+" )?trust="(?:tool|untrusted)">'
)
_FACT = re.compile(
    r"(F\d+) (\((?:shortened|superseded by|supersedes|contradicts)[^()\n]*\) )?(.*)", re.DOTALL
)


def read(briefing: Briefing, query: str) -> Reading:
    """Read the briefing by its form; fail on an unexpected line."""
    beginning = f"# Question\n{query}"
    assert briefing.text.startswith(beginning)
    rest = briefing.text[len(beginning) :]
    assert not rest or rest.startswith("\n\n# ")
    sections: dict[str, list[str]] = {}
    for part in rest.split("\n\n# ")[1:]:
        title, *lines = part.split("\n")
        assert title not in sections
        sections[title] = _joined(lines)
    facts: dict[str, Line] = {}
    order: dict[str, list[list[str]]] = {}
    for title in ("Facts", "Further facts"):
        order[title] = _read_page(title, sections.get(title, ()), facts)
    return Reading(sections, facts, order)


def _joined(lines: Iterable[str]) -> list[str]:
    """Join continuation lines with the line above."""
    joined: list[str] = []
    for line in lines:
        if line.startswith("  ") and joined:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined


def _read_page(section: str, lines: Iterable[str], facts: dict[str, Line]) -> list[list[str]]:
    fences: list[list[str]] = []
    opened, title = "", ""
    for line in lines:
        if _OPENING.fullmatch(line):
            assert not opened, "a fence within a fence"
            opened, title = line, ""
            fences.append([])
        elif line == "</result>":
            assert opened
            opened = ""
        elif line.startswith("## "):
            title = line[3:]
        else:
            found = _FACT.fullmatch(line)
            assert found is not None, f"a line of no form: {line!r}"
            assert opened
            assert found[1] not in facts, f"{found[1]} is shown twice"
            facts[found[1]] = Line(section, opened, title, (found[2] or "").strip(" ()"), found[3])
            fences[-1].append(found[1])
    assert not opened, "a fence that is not closed"
    return fences


def value_at(data: Any, position: str) -> Any:
    """Return the value at a JSON path such as `$.results[2].text[120:180]`. Raises where there is none."""
    assert position.startswith("$")
    value, at = data, 1
    while at < len(position):
        if position[at] == ".":
            name = re.compile(r"\w+").match(position, at + 1)
            assert name is not None
            value, at = value[name[0]], name.end()
        elif piece := re.compile(r"\[(\d+)(?::(\d+))?\]").match(position, at):
            first, last = int(piece[1]), piece[2]
            value, at = value[first] if last is None else value[first : int(last)], piece.end()
        else:
            key = re.compile(r'\[("(?:[^"\\]|\\.)*")\]', re.DOTALL).match(position, at)
            assert key is not None, position
            value, at = value[from_json(key[1])], key.end()
    return value


def is_in(fact: Fact, source: Any) -> bool:
    """Return whether the source says exactly the statement, or nearly so where texts were taken out of a record."""
    if not fact.is_json:
        return bool(source == fact.statement)
    return _is_part(from_json(fact.statement), source)


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _is_part(value, whole[key]) for key, value in part.items()
        )
    if isinstance(part, list):
        rest = iter(whole) if isinstance(whole, list) else iter(())
        return all(any(_is_part(value, one) for one in rest) for value in part)
    return type(part) is type(whole) and bool(part == whole)
