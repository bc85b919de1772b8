"""The next move for an answer with a required shape, or for a step with instructions. Pure.

The calls of the instructions or the question come first. Then the shape is filled, validated by the required
tools, and given exactly as validated. A part that cannot be filled is left out, and an answer that a tool
rejects is given as it is, to be refused: no value is invented.
"""

from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.output.validation import content_digest

from reasoning_engine.offline.briefing_text import Notes
from reasoning_engine.offline.demand import Demand
from reasoning_engine.offline.filling import NOTHING, fill_property, fill_shape
from reasoning_engine.offline.plan import Call, Situation, next_calls
from reasoning_engine.offline.schema import Tool
from reasoning_engine.offline.step_calls import calls_of_step
from reasoning_engine.offline.tried import TriedCall
from reasoning_engine.offline.values import Values, values_of

_RUNS_MAX = 3
"""The limit of runs of a validating tool on one value, where it fails."""
_FAILURES = ("timeout", "api_failure", "rate_limit", "circuit_open", "cancelled", "internal_error")
"""Outcomes of a validating tool that say nothing of the value."""


@dataclass(frozen=True, slots=True)
class Move:
    """The calls to be made, or the answer; NOTHING is an answer in prose."""

    calls: tuple[Call, ...] = ()
    answer: Any = NOTHING


def next_move(situation: Situation, notes: Notes, demand: Demand | None) -> Move:
    """Return the next move."""
    values = values_of(situation.question, notes)
    validating = demand.validation_tools if demand else ()
    tools = tuple(tool for tool in situation.tools if tool.name not in validating)
    calls = calls_of_step(tools, values, notes) if notes.step else ()
    if not notes.step or not (calls or notes.tried):
        calls = next_calls(replace(situation, tools=tools))
    if calls or demand is None:
        return Move(calls)
    draft = fill_shape(demand.schema, values)
    if draft is NOTHING:
        return Move()
    validations = [_Validation(name, situation.tools, draft, values, notes) for name in validating]
    calls = tuple(call for validation in validations for call in validation.calls())
    return Move(calls) if calls else Move(answer=draft)


class _Validation:
    """The validation of a draft by one tool, and its runs so far."""

    def __init__(
        self, name: str, tools: tuple[Tool, ...], draft: object, values: Values, notes: Notes
    ) -> None:
        self.name = name
        self.digest = content_digest(draft)[:12]
        self.arguments = _arguments(name, tools, draft, values)
        self.runs = [call for call in notes.tried if call.tool == name and self._is_of_draft(call, notes)]

    def _is_of_draft(self, call: TriedCall, notes: Notes) -> bool:
        """Return whether a call has validated this draft; a long one is known by the digest in the reply."""
        if call.arguments is not None:
            return call.arguments == self.arguments
        return self.digest in notes.replies.get(call.round, "")

    def calls(self) -> tuple[Call, ...]:
        """Return the call to be made; none after a verdict, or where the tool cannot be called."""
        has_failed = all(call.outcome in _FAILURES for call in self.runs)
        if self.arguments is None or not has_failed or len(self.runs) >= _RUNS_MAX:
            return ()
        return (Call(self.name, self.arguments, f"validate {self.digest}"),)


def _arguments(name: str, tools: tuple[Tool, ...], draft: object, values: Values) -> dict[str, Any] | None:
    """Return the arguments with which a tool validates a value; None where it cannot.

    The value goes to the first required parameter of its type.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    required = [one for one in tool.parameters if one.required] if tool else []
    kind = "object" if isinstance(draft, dict) else "array" if isinstance(draft, list) else ""
    takes = next((one for one in required if not kind or kind in one.types), None)
    if takes is None:
        return None
    others = {
        one.name: fill_property(one.name, one.schema, values) for one in required if one.name != takes.name
    }
    return None if NOTHING in others.values() else {**others, takes.name: draft}
