"""From memory to the text of a briefing, piece by piece. Pure; the form is fixed in shared/briefing.py.

A piece is one item of a section: a fact in its fence, a line on a tool use, a reasoning note. Each exists
in a longer and a shorter form; which one is used is decided in select.py.
"""

import json
import re
from collections.abc import Sequence
from itertools import groupby

from shared.briefing import as_text, fence
from shared.excerpt import one_line, shorten
from shared.memory import Fact, ReasoningNote, ToolUse
from shared.relevance import READ_RESULT

KEY_PART_CHARACTERS = 300
LINE_CHARACTERS = 80
LONG, SHORT = 400, 120
"""Characters of a tool use's arguments, and of its message."""
_NAME_CHARACTERS = 200
_ATTRIBUTE = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})
_RUN_MIN = 3
_PLAIN = re.compile(r"[A-Za-z0-9_.$\[\]:-]{0,200}")


def render(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The sections that have items, in their order."""
    return "\n\n".join(f"# {title}\n" + "\n".join(items) for title, items in sections if items)


def whole_fact(fact: Fact) -> str:
    return _fenced(fact, fence(fact.content))


def key_part(fact: Fact, characters: int = KEY_PART_CHARACTERS) -> str:
    """The fact with the first part of its content; whole when that is all there is.

    The text is fenced before it is cut, so that its length is known, and after, because a cut may end a word.
    """
    content = fence(fact.content)
    if len(content) <= characters:
        return _fenced(fact, content)
    return _fenced(fact, fence(shorten(content, characters)), is_shortened=True)


def fact_line(fact: Fact) -> str:
    """The fact on one line: its title, and how its content begins; whole when that is no longer."""
    content = as_text(fact.content)
    if len(content) <= LINE_CHARACTERS:
        return whole_fact(fact)
    begins, title = one_line(content, LINE_CHARACTERS), one_line(fact.title, LINE_CHARACTERS)
    line = f"{title}: {begins}" if title and title not in begins else begins
    return _fenced(fact, fence(line), is_shortened=True)


def tool_line(use: ToolUse, characters: int) -> str:
    """`- round 1: search {"q": "..."} -> not_found: what happened and what to do next`.

    How the whole of a result is read stands at the end, and is never cut.
    """
    arguments = " ".join(json.dumps(use.arguments, ensure_ascii=False).splitlines())
    arguments = shorten(arguments, characters) if len(arguments) > characters else arguments
    said = one_line(" ".join(filter(None, [use.substitute_because, use.message])), characters)
    came = ": ".join(filter(None, [use.outcome, " ".join(filter(None, [id_ranges(use.facts), said]))]))
    tool = one_line(use.tool, _NAME_CHARACTERS)
    if use.handle:
        came += f"; shown in part: {READ_RESULT}(handle={json.dumps(use.handle, ensure_ascii=False)})"
    return f"- round {use.round}: " + fence(f"{tool} {arguments} -> {came}")


def note_item(note: ReasoningNote, characters: int | None = None) -> str:
    """What the model said, whole with its lines indented, or on one line of so many characters."""
    if characters is not None:
        return f"- round {note.round}: " + fence(one_line(note.text, characters))
    return f"- round {note.round}: " + fence("\n  ".join(note.text.strip().splitlines()))


def not_shown(ids: Sequence[str], characters: int) -> str:
    """`- F2-F9, F11: left out for length.`; empty when even that does not fit."""
    for text in (f"- {id_ranges(ids)}: left out for length.", f"- {len(ids)} facts left out for length."):
        if len(text) <= characters:
            return text
    return ""


def id_ranges(ids: Sequence[str]) -> str:
    """`F1, F2, F4-F7`: three neighbours and more joined."""
    if len(ids) < _RUN_MIN:
        return ", ".join(ids)
    numbers = enumerate(int(id[1:]) for id in ids)
    runs = [[number for _, number in run] for _, run in groupby(numbers, lambda pair: pair[1] - pair[0])]
    parts = [
        f"F{run[0]}-F{run[-1]}" if len(run) >= _RUN_MIN else ", ".join(f"F{number}" for number in run)
        for run in runs
    ]
    return ", ".join(parts)


def _fenced(fact: Fact, content: str, *, is_shortened: bool = False) -> str:
    shortened = ' shortened="yes"' if is_shortened else ""
    return (
        f'<fact id="{fact.id}" tool="{_attribute(fact.tool)}" call="{_attribute(fact.call_id)}"'
        f' round="{fact.round}" at="{_attribute(fact.position)}"{shortened}>\n{content}\n</fact>'
    )


def _attribute(value: str) -> str:
    """A value that cannot leave its quotes."""
    if _PLAIN.fullmatch(value):
        return value
    return fence(one_line(value, _NAME_CHARACTERS).translate(_ATTRIBUTE))
