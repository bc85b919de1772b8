"""The results of validating tools, and the reasons for refused answers, from a briefing. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.output.validation import content_digest

from reasoning_engine.offline.briefing_text import FactNote
from reasoning_engine.offline.tried import TriedCall
from reasoning_engine.offline.values import is_verdict

_DIGEST_CHARACTERS = 12
_PASSING = ("timeout", "api_failure", "rate_limit", "circuit_open", "cancelled", "internal_error")
"""Outcomes that say nothing of the value."""
_AT = ("property", "field", "path", "loc", "at")
_WHAT = ("message", "msg", "error", "reason")
_REFUSAL = re.compile(r"^Your last answer does not count\. Validation Errors Found: (.*)$", re.MULTILINE)
_FAULT = re.compile(
    r"Property: (\S{1,300}|\(the whole\)), Message: (.*?)(?= \d{1,2}\. Property: | Read each error|$)"
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error that a validation finds in a value."""

    at: str
    """The path in any notation: `parts.0.settings.limit`, `/parts/0`, `limit`."""
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a validating tool."""

    tool: str
    call: TriedCall
    complaints: tuple[Complaint, ...] = ()
    has_passed: bool = False
    noted: str = ""
    """The text written with the call, which names the validated value."""

    @property
    def has_failed(self) -> bool:
        """Return whether it gave no verdict, and may give one when repeated."""
        return self.call.outcome in _PASSING

    def was_on(self, value: Any, arguments: Mapping[str, Any]) -> bool:
        """Return whether it was a run on this value."""
        if self.call.arguments is not None:
            return self.call.arguments == arguments
        return digest_of(value) in self.noted


def digest_of(value: Any) -> str:
    """Return a short name for a value, by which it is recognised."""
    try:
        return content_digest(value)[:_DIGEST_CHARACTERS]
    except (ValueError, TypeError, RecursionError):
        return ""


def runs_of(
    names: tuple[str, ...],
    tried: tuple[TriedCall, ...],
    facts: tuple[FactNote, ...],
    noted: Mapping[int, str],
) -> tuple[Run, ...]:
    """Return the runs of the named tools, in order; without names, of all tools that return verdicts.

    The last round names none: no tool can be called in it.
    """
    by_id = {id: fact.content for fact in facts for id in fact.ids}
    judging = {call.tool for call in tried for id in call.facts if is_verdict(by_id.get(id))}
    return tuple(_run(call, by_id, noted) for call in tried if call.tool in (names or judging))


def refusal_in(text: str) -> tuple[Complaint, ...]:
    """Return the errors of the last answer, where a briefing says that it does not count."""
    last = next(reversed(list(_REFUSAL.finditer(text))), None)
    return tuple(Complaint(*found) for found in _FAULT.findall(last.group(1))) if last else ()


def _run(call: TriedCall, by_id: Mapping[str, Any], noted: Mapping[int, str]) -> Run:
    note = noted.get(call.round, "")
    if call.outcome in _PASSING:
        return Run(call.tool, call, noted=note)
    if call.outcome != "ok":
        return Run(call.tool, call, (Complaint("", call.happened or call.outcome),), noted=note)
    contents = [by_id[id] for id in sorted(call.facts) if id in by_id]
    verdict = next((content for content in contents if is_verdict(content)), None)
    if verdict is None or verdict["valid"]:
        return Run(call.tool, call, has_passed=bool(contents) or not call.facts, noted=note)
    return Run(call.tool, call, tuple(_complaints(verdict.get("errors"))), noted=note)


def _complaints(errors: Any) -> Iterator[Complaint]:
    for error in errors[:50] if isinstance(errors, list) else ():
        if isinstance(error, str):
            yield Complaint("", error)
        elif isinstance(error, dict):
            at, what = (next((error[k] for k in names if k in error), "") for names in (_AT, _WHAT))
            path = ".".join(map(str, at)) if isinstance(at, list) else str(at)
            yield Complaint(path, str(what))
