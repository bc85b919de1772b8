"""From a model's text to the one JSON object in it that has the form of a reply. Pure.

Code fences, prose and other objects around it are ignored, and so are trailing commas and line breaks within
texts. The first object that has one of the two forms counts. An object that was meant to have one, and is
broken or cut off, is reported as the problem; a later or nested object does not replace it. The time is
linear in the length of the text.
"""

import re
from dataclasses import dataclass
from typing import Any

from antiphon_shared.output.reading import value_of

CALLS, SUCCESS, RESULT, REASONING = "tool_calls", "success", "result", "reasoning"
OBJECTS_MAX = 200
"""The number of objects that are examined; later ones are ignored."""
_THOUGHT, _THOUGHT_ENDS = "<think>", "</think>"
"""Enclose the thoughts that some models write before their reply."""
_BEGINS = re.compile(r"\{(?=\s*[\"'}])")
_TEXT = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
"""A text in JSON; an unterminated one extends to the end, so that no part of it is scanned twice."""
_BRACES = re.compile(rf"{_TEXT}|[{{}}]", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_TEXT})|,(?=\s*[}}\]])", re.DOTALL)
_MEANT = re.compile(rf'"(?:{CALLS}|{SUCCESS})"')
_FENCE = re.compile(r"^[^\S\n]*```\w*[^\S\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a reply: an object in one of the forms, or the reason why it is missing, or only prose."""

    value: dict[str, Any] | None = None
    problem: str = ""
    """A sentence for the model."""
    prose: str = ""
    """The text around the object, or the whole text without an object."""


def read_form(text: str) -> Form:
    """Return the form of a reply. A reply without any object has neither a value nor a problem."""
    text = _without_thoughts(text)
    at, problem = 0, ""
    for _ in range(OBJECTS_MAX):
        begins = _BEGINS.search(text, at)
        if begins is None:
            break
        start, end = begins.start(), _end_of(text, begins.start())
        if end is None:
            return Form(
                problem=f"The JSON object at character {start + 1} is cut off; write less, and end it."
            )
        written, at = text[start:end], end
        parsed = value_of(_TRAILING_COMMA.sub(r"\1", written))
        if parsed.problem:
            problem = problem or f"The JSON object at character {start + 1}: {parsed.problem}"
            if _MEANT.search(written):
                return Form(problem=problem)
        elif CALLS in parsed.value or SUCCESS in parsed.value:
            return Form(parsed.value, prose=_words(text[:start], text[end:]))
        else:
            problem = problem or f"It holds JSON, but no object with `{CALLS}` or `{SUCCESS}`."
    return Form(problem=problem, prose=text.strip())


def _end_of(text: str, start: int) -> int | None:
    """Return the end of the object that begins at `start`; None if the text ends first."""
    depth = 0
    for match in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0 and match[0] == "}":
            return match.end()
    return None


def _without_thoughts(text: str) -> str:
    text = text.strip()
    if not text.startswith(_THOUGHT):
        return text
    return text.partition(_THOUGHT_ENDS)[2].strip()


def _words(before: str, behind: str) -> str:
    words = (_FENCE.sub("", part).strip() for part in (before, behind))
    return "\n\n".join(filter(None, words))
