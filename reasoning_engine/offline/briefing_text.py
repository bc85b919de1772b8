"""The briefing read back from its text: question, facts, calls made so far. Pure; the form is `shared.briefing`'s."""

import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

_FACT = re.compile(r"^<fact\b([^\n]*)>\n(.*?)\n?</fact>[ \t]*$", re.DOTALL | re.MULTILINE)
_ATTRIBUTE = re.compile(r'(\w+)="([^"\n]*)"')
_SECTION = re.compile(r"^# (Question|Facts|Tools tried|Reasoning so far|Not shown|Now)[ \t]*$", re.MULTILINE)
_TRIED = re.compile(r"^- round (\d{1,6}): (\S{1,200}) (.*)$")
_OUTCOME = re.compile(r"^\s*->\s*(\w+)\s*:?\s*(.*)$", re.DOTALL)
_FACT_ID = re.compile(r"\bF\d{1,9}\b")


@dataclass(frozen=True)
class FactNote:
    """One fact as the briefing shows it. `content` is JSON where it can be read as such, else the text."""

    id: str
    tool: str
    call: str
    round: int
    at: str
    content: Any


@dataclass(frozen=True)
class TriedCall:
    """One call made before. `arguments` is None where the line does not hold them whole."""

    round: int
    tool: str
    arguments: dict[str, Any] | None
    outcome: str
    message: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Notes:
    """What a briefing says."""

    question: str
    facts: tuple[FactNote, ...] = ()
    tried: tuple[TriedCall, ...] = ()


def read_briefing(text: str) -> Notes:
    """What `text` says; a text in any other form is a question with nothing known yet."""
    opening = _SECTION.search(text)
    if opening is None or opening.group(1) != "Question":
        return Notes(question=text.strip())
    facts: list[FactNote] = []

    def take(match: re.Match[str]) -> str:
        facts.append(_fact(match))
        return ""

    sections = _sections(_FACT.sub(take, text))
    return Notes(
        question=sections.get("Question", "").strip(),
        facts=tuple(facts),
        tried=_tried_calls(sections.get("Tools tried", "")),
    )


def _sections(text: str) -> dict[str, str]:
    """The text under each heading; of a heading that comes twice, the first counts."""
    found: dict[str, str] = {}
    headings = list(_SECTION.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        found.setdefault(heading.group(1), text[heading.end() : end])
    return found


def _fact(match: re.Match[str]) -> FactNote:
    attributes = dict(_ATTRIBUTE.findall(match.group(1)))
    round_text = attributes.get("round", "")
    return FactNote(
        id=attributes.get("id", "F0"),
        tool=attributes.get("tool", ""),
        call=attributes.get("call", ""),
        round=int(round_text) if round_text.isdecimal() and len(round_text) < 7 else 0,
        at=attributes.get("at", "$"),
        content=_content(match.group(2)),
    )


def _content(text: str) -> Any:
    """JSON where the text is JSON, or the beginning of it that a shortened fact holds."""
    stripped = text.strip()
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass
    if stripped[:1] in ("{", "["):
        try:
            return from_json(stripped.rstrip("…. "), allow_partial=True) or text
        except ValueError:
            pass
    return text


def _tried_calls(section: str) -> tuple[TriedCall, ...]:
    calls: list[TriedCall] = []
    entry = ""
    for line in [*section.splitlines(), "- "]:
        if line.startswith("- "):
            match = _TRIED.match(entry.replace("\n", " "))
            if match is not None:
                calls.append(_tried_call(match))
            entry = line
        else:
            entry += "\n" + line
    return tuple(calls)


def _tried_call(match: re.Match[str]) -> TriedCall:
    rest = match.group(3).lstrip()
    arguments: dict[str, Any] | None = None
    try:
        value, end = json.JSONDecoder().raw_decode(rest)
        arguments, rest = (value if isinstance(value, dict) else None), rest[end:]
    except (ValueError, RecursionError):
        rest = "->" + rest.rpartition("->")[2]
    outcome = _OUTCOME.match(rest)
    word, message = (outcome.group(1), outcome.group(2).strip()) if outcome else ("unknown", rest.strip())
    facts = tuple(_FACT_ID.findall(message)) if word == "ok" else ()
    return TriedCall(int(match.group(1)), match.group(2), arguments, word, message, facts)
