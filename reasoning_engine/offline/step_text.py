"""The step of a briefing, parsed: its instructions, and the output of the step before. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.fence import CLOSING
from pydantic_core import from_json

_INPUT = re.compile(
    rf"^The output of step ([^\n]*):\n<result [^\n]*>\n(.*?)\n{re.escape(CLOSING)}[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_ATTEMPT = re.compile(r"Round (\d{1,6})\. Step [^\n]*?, attempt (\d{1,4}) of \d{1,4}: round (\d{1,6}) of ")


@dataclass(frozen=True, slots=True)
class StepNote:
    """The step in a briefing."""

    instructions: str
    before: str = ""
    """The name of the step before."""
    input: Any = None
    """The output of the step before: JSON where it can be parsed, else text."""


def read_step(section: str) -> StepNote:
    """Return the step of the section."""
    found = next(reversed(list(_INPUT.finditer(section))), None)
    if found is None:
        return StepNote(section.strip())
    text = "\n".join(line.removeprefix("  ") for line in found.group(2).split("\n")).strip()
    try:
        value = from_json(text.replace("&lt;", "<"))
    except ValueError:
        value = text
    return StepNote(section[: found.start()].strip(), found.group(1).strip(), value)


def step_begun(now: str) -> int:
    """Return the first round of the step; 1 where it is unknown, as in a later attempt."""
    found = _ATTEMPT.search(now)
    if found is None or int(found.group(2)) > 1:
        return 1
    return max(1, int(found.group(1)) - int(found.group(3)) + 1)
