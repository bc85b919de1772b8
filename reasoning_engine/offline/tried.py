"""The earlier calls, parsed from a briefing's `Tools tried`. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.fence import CLOSING, unescaped

_TRIED = re.compile(r"- round (\d{1,6}): (\S{1,200}) (.*)")
_OUTCOME = re.compile(r"\s*->\s*(\w+)\s*:?\s*(.*)", re.DOTALL)
_FACT_IDS = re.compile(r"\bF(\d{1,6})(?:-F(\d{1,6}))?\b")
_PARTIAL = "; shown in part:"
_FORM = re.compile(r"name: [^\n]*\nstatus: [^\n]*(?:\n|\Z)")
"""The beginning of a failed call's text."""
_LABEL = re.compile(r"^(?:result|next): ", re.MULTILINE)
_FACTS_PER_CALL_MAX = 5_000


@dataclass(frozen=True)
class TriedCall:
    """An earlier call.

    `arguments` is None where the line holds only their beginning.
    """

    round: int
    tool: str
    arguments: dict[str, Any] | None
    outcome: str
    message: str
    facts: frozenset[str]

    def was(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Return whether it was a call of the tool with these arguments."""
        return self.tool == tool and self.arguments == arguments

    @property
    def is_empty(self) -> bool:
        """Return whether it succeeded and returned nothing."""
        return self.outcome == "ok" and not self.facts

    @property
    def outcome_text(self) -> str:
        """Return its outcome for a reader, without the next line, which advises the model."""
        return self.message.partition("\n")[0]

    def has_returned_any(self, ids: tuple[str, ...]) -> bool:
        """Return whether it returned one of these facts."""
        return not self.facts.isdisjoint(ids)


def tried_calls(section: str) -> tuple[TriedCall, ...]:
    """Return the calls of the section, in order."""
    return tuple(call for line, text in _entries(section) if (call := _tried_call(line, text)) is not None)


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """Yield each item's line, and the tool's own text in the fence below it."""
    line = ""
    lines: list[str] = []
    for text in section.split("\n"):
        if text.startswith("- "):
            yield line, "\n".join(lines)
            line, lines = text, []
        elif line and not text.startswith(("<result ", CLOSING)):
            lines.append(text.removeprefix("  "))
    yield line, "\n".join(lines)


def _tried_call(line: str, tool_text: str) -> TriedCall | None:
    match = _TRIED.match(line)
    if match is None:
        return None
    rest = unescaped(match.group(3).lstrip())
    arguments: dict[str, Any] | None = None
    try:
        value, end = json.JSONDecoder().raw_decode(rest)
        arguments, rest = (value if isinstance(value, dict) else None), rest[end:]
    except (ValueError, RecursionError):
        rest = "->" + rest.partition("->")[2]
    outcome = _OUTCOME.match(rest)
    word, status = outcome.groups() if outcome else ("unknown", rest)
    status = status.partition(_PARTIAL)[0]
    facts = frozenset(_fact_ids(status)) if word == "ok" else frozenset()
    if form := _FORM.match(tool_text):  # the line above gives advice, which is for models that understand it
        status, tool_text = "", _LABEL.sub("", tool_text[form.end() :])
    message = "\n".join(filter(None, [status.strip(), tool_text.strip()]))
    return TriedCall(int(match.group(1)), match.group(2), arguments, word, message, facts)


def _fact_ids(text: str) -> Iterator[str]:
    """Yield the ids of a text such as `F1, F4-F6` one by one."""
    left = _FACTS_PER_CALL_MAX
    for first, last in _FACT_IDS.findall(text):
        ids = range(int(first), min(int(last or first) + 1, int(first) + left))
        left -= len(ids)
        yield from (f"F{number}" for number in ids)
