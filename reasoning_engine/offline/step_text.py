"""The step of a briefing, parsed: its instructions, and the output of the step before. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.fence import CLOSING, unescaped

from reasoning_engine.offline.forms import json_or_text

_INPUT = re.compile(
    rf"^The output of step [^\n]*:\n<result [^\n]*>\n(.*?)\n{re.escape(CLOSING)}[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class StepNote:
    """The step in a briefing."""

    instructions: str
    input: Any = None
    """The output of the step before: JSON where it can be parsed, else text."""


def read_step(section: str) -> StepNote:
    """Return the step of the section."""
    match = next(reversed(list(_INPUT.finditer(section))), None)
    if match is None:
        return StepNote(section.strip())
    text = "\n".join(line.removeprefix("  ") for line in match.group(1).split("\n")).strip()
    return StepNote(section[: match.start()].strip(), json_or_text(unescaped(text)))
