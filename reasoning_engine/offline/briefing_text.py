"""The briefing read back from its text, whose form is `shared.briefing`'s: question, facts, calls. Pure."""

import html
import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

_FENCE = re.compile(r"^(?:<fact\b([^\n]*)>|</fact>)[ \t]*$", re.MULTILINE)
_ATTRIBUTE = re.compile(r'(\w+)="([^"\n]*)"')
_SECTION = re.compile(r"^# (Question|Facts|Tools tried|Reasoning so far|Not shown|Now)[ \t]*$", re.MULTILINE)
_TRIED = re.compile(r"^- round (\d{1,6}): (\S{1,200}) (.*)$")
_OUTCOME = re.compile(r"^\s*->\s*(\w+)\s*:?\s*(.*)$", re.DOTALL)
_TITLED_JSON = re.compile(r"^[^{\[\n]{0,100}: (?=[{\[])")
"""What stands before the JSON of a fact that was cut to one line."""
_FACT_IDS = re.compile(r"\bF(\d{1,6})(?:-F(\d{1,6}))?\b")
_FACTS_PER_CALL_MAX = 5_000


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
    """One call made before. `arguments` is None where the line holds only their beginning, `begins`."""

    round: int
    tool: str
    arguments: dict[str, Any] | None
    outcome: str
    message: str
    facts: tuple[str, ...]
    begins: str = ""

    def had(self, arguments: dict[str, Any]) -> bool:
        """Whether it was made with these arguments, as far as the line tells."""
        if self.arguments is not None:
            return self.arguments == arguments
        written = " ".join(json.dumps(arguments, ensure_ascii=False).split())
        return len(self.begins) > 1 and written.startswith(self.begins)


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
    facts, rest = _take_facts(text)
    sections = _sections(rest)
    return Notes(
        question=sections.get("Question", "").strip(),
        facts=facts,
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


def _take_facts(text: str) -> tuple[tuple[FactNote, ...], str]:
    """The fenced facts, and the text without them."""
    facts: list[FactNote] = []
    kept: list[str] = []
    end = 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if fence.group(1) is not None:
            opened = fence
        elif opened is not None:
            facts.append(_fact(opened.group(1), text[opened.end() : fence.start()]))
            kept.append(text[end : opened.start()])
            end, opened = fence.end(), None
    return tuple(facts), "".join([*kept, text[end:]])


def _fact(head: str, body: str) -> FactNote:
    attributes = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(head)}
    round_text = attributes.get("round", "")
    return FactNote(
        id=attributes.get("id", "F0"),
        tool=attributes.get("tool", ""),
        call=attributes.get("call", ""),
        round=int(round_text) if round_text.isdecimal() and len(round_text) < 7 else 0,
        at=attributes.get("at", "$"),
        content=_content(body),
    )


def _content(text: str) -> Any:
    """JSON where the text is JSON, or the beginning of it that a shortened fact holds."""
    stripped = text.strip()
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass
    stripped = _TITLED_JSON.sub("", stripped)
    if stripped[:1] in ("{", "["):
        try:
            return from_json(stripped.rstrip("…. "), allow_partial="trailing-strings") or text
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
    rest = html.unescape(match.group(3).lstrip())
    arguments: dict[str, Any] | None = None
    begins = ""
    try:
        value, end = json.JSONDecoder().raw_decode(rest)
        arguments, rest = (value if isinstance(value, dict) else None), rest[end:]
    except (ValueError, RecursionError):
        begins, _, rest = rest.partition("->")
        begins, rest = begins.rstrip(" …"), "->" + rest
    outcome = _OUTCOME.match(rest)
    word, message = (outcome.group(1), outcome.group(2).strip()) if outcome else ("unknown", rest.strip())
    facts = _fact_ids(message) if word == "ok" else ()
    return TriedCall(int(match.group(1)), match.group(2), arguments, word, message, facts, begins)


def _fact_ids(text: str) -> tuple[str, ...]:
    """`F1, F4-F6` one by one."""
    numbers: list[int] = []
    for first, last in _FACT_IDS.findall(text):
        numbers += range(int(first), min(int(last or first), int(first) + _FACTS_PER_CALL_MAX) + 1)
    return tuple(f"F{number}" for number in numbers[:_FACTS_PER_CALL_MAX])
