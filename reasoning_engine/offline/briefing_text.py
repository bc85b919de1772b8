"""The parsing of a briefing in the form of `antiphon_shared.memory.briefing`: question, facts, calls. Pure.

A briefing shows single facts; the rules need their source. So the facts under one title are reassembled: a
record with the sentences of its text, or consecutive sentences.
"""

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.text.fence import CLOSING

from reasoning_engine.offline.forms import json_or_text
from reasoning_engine.offline.step_text import StepNote, read_step
from reasoning_engine.offline.tried import TriedCall, tried_calls

_SECTION = re.compile(
    r"^# (Question|Step \d{1,3} of \d{1,3}: [^\n]{1,200}|Earlier in this conversation|Facts|Further facts|Summaries"
    r"|Tools tried|Reasoning so far|Sub-questions|Not shown|Now)[ \t]*$",
    re.MULTILINE,
)
_REPLY = re.compile(r"^- round (\d{1,6}): ([^\n]*)", re.MULTILINE)
_OPENING = re.compile(r"<result\b([^\n]*)>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"\n]*)"')
_FACT = re.compile(r"(F\d{1,9}) (?:\(([^()\n]{0,2000})\) )?")
_SUPERSEDED = re.compile(r"superseded by (F\d{1,9})")
_OMITTED_IDS = re.compile(r" \([F\d, -]{1,200} not shown\)$")
_PARENTHESIS = "&#40;"
"""The fence's escape for a parenthesis at the beginning of a statement."""


@dataclass(frozen=True)
class FactNote:
    """The joint content of the facts of one record or passage.

    `content` is JSON where it can be parsed, else the text. `title` is the briefing's title of its place,
    without parts that the content repeats. `sentences` are the facts that its text consists of.
    """

    id: str = ""
    tool: str = ""
    call: str = ""
    round: int = 0
    content: Any = None
    title: str = ""
    ids: tuple[str, ...] = ()
    sentences: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Notes:
    """The content of a briefing."""

    question: str
    facts: tuple[FactNote, ...] = ()
    tried: tuple[TriedCall, ...] = ()
    step: StepNote | None = None
    replies: dict[int, str] = field(default_factory=dict)
    """The replies of earlier rounds, by round."""


def read_briefing(text: str) -> Notes:
    """Return the content of `text`; a text in any other form is a question without any knowledge yet."""
    opening = _SECTION.search(text)
    if opening is None or opening.group(1) != "Question":
        return Notes(question=text.strip())
    sections = _sections(text)
    return Notes(
        question=sections.get("Question", "").strip(),
        facts=_facts(sections.get("Facts", "") + sections.get("Further facts", "")),
        tried=tried_calls(sections.get("Tools tried", "")),
        step=next((read_step(text) for title, text in sections.items() if title.startswith("Step ")), None),
        replies={int(round): text for round, text in _REPLY.findall(sections.get("Reasoning so far", ""))},
    )


def _sections(text: str) -> dict[str, str]:
    """Return the text under each heading; if a heading is repeated, the first counts."""
    sections: dict[str, str] = {}
    headings = list(_SECTION.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        sections.setdefault(heading.group(1), text[heading.end() : end])
    return sections


@dataclass
class _Line:
    """A fact as it is shown, with its continuation lines."""

    id: str
    remarks: str
    parts: list[str]

    @property
    def statement(self) -> str:
        text = "\n".join(self.parts).strip()
        return "(" + text.removeprefix(_PARENTHESIS) if text.startswith(_PARENTHESIS) else text


@dataclass
class _Group:
    """The facts under one title of one call."""

    attributes: dict[str, str]
    title: str = ""
    lines: list[_Line] = field(default_factory=list)


def _facts(section: str) -> tuple[FactNote, ...]:
    groups = list(_groups(section))
    shown_ids = {line.id for group in groups for line in group.lines}
    return tuple(fact for group in groups for fact in _put_together(group, shown_ids))


def _groups(section: str) -> Iterator[_Group]:
    group = _Group({})
    for line in section.split("\n"):
        if opened := _OPENING.match(line):
            yield group
            group = _Group({key: html.unescape(value) for key, value in _ATTRIBUTE.findall(opened.group(1))})
        elif line.startswith(CLOSING):
            yield group
            group = _Group({})
        elif line.startswith("## "):
            yield group
            group = _Group(group.attributes, _OMITTED_IDS.sub("", line[3:].strip()))
        elif fact := _FACT.match(line):
            group.lines.append(_Line(fact.group(1), fact.group(2) or "", [line[fact.end() :]]))
        elif group.lines:
            group.lines[-1].parts.append(line.removeprefix("  "))
    yield group


def _put_together(group: _Group, shown_ids: set[str]) -> Iterator[FactNote]:
    """Yield records with the sentences after them, or sentences alone; without facts that a shown fact supersedes."""
    record: tuple[str, Any] | None = None
    sentences: list[tuple[str, str]] = []
    for line in group.lines:
        later = _SUPERSEDED.search(line.remarks)
        if later and later.group(1) in shown_ids:
            continue
        content = json_or_text(line.statement)
        if not isinstance(content, dict | list):
            sentences.append((line.id, content if isinstance(content, str) else line.statement))
            continue
        yield from _note(group, record, sentences)
        record, sentences = (line.id, content), []
    yield from _note(group, record, sentences)


def _note(
    group: _Group, record: tuple[str, Any] | None, sentences: list[tuple[str, str]]
) -> Iterator[FactNote]:
    ids = (*([record[0]] if record else []), *(id for id, _ in sentences))
    if not ids:
        return
    text = "\n".join(sentence for _, sentence in sentences)
    content: Any = text
    title = group.title
    if record is not None:
        content = record[1]
        if sentences and isinstance(content, dict):
            content = {**content, "passage" if "text" in content else "text": text}
        title = _unrepeated_part(group.title, content)
    elif title:
        content, title = {"title": title, "text": text}, ""
    round_text = group.attributes.get("round", "")
    yield FactNote(
        id=ids[0],
        tool=group.attributes.get("tool", ""),
        call=group.attributes.get("call", ""),
        round=int(round_text) if round_text.isdecimal() and len(round_text) < 7 else 0,
        content=content,
        title=title,
        ids=ids,
        sentences=tuple(sentences),
    )


def _unrepeated_part(title: str, content: object) -> str:
    """Return the part of a title that the record does not repeat: `Course` of `Course: Lesson`."""
    values: Iterable[Any] = content.values() if isinstance(content, dict) else ()
    for value in values:
        own = " ".join(str(value).split()) if isinstance(value, str | int) else ""
        if own and (title == own or title.endswith(f": {own}")):
            title = title.removesuffix(own).removesuffix(": ")
    return title
