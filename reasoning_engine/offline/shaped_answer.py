"""The next move for an answer with a required shape, or for a step with instructions. Pure.

The calls of the instructions or the question come first. Then the shape is filled, validated by the required
tools, corrected where they say how, and given exactly as validated. A part that cannot be filled or corrected
is given as it is, to be refused: no value is invented.
"""

from dataclasses import dataclass, replace
from typing import Any

from reasoning_engine.offline.briefing_text import Notes
from reasoning_engine.offline.demand import Demand
from reasoning_engine.offline.filling import NOTHING, fill, fill_property
from reasoning_engine.offline.mend import mended
from reasoning_engine.offline.plan import Call, Situation, next_calls
from reasoning_engine.offline.schema import Tool
from reasoning_engine.offline.shapes import fits
from reasoning_engine.offline.step_calls import calls_for_more, calls_of_step
from reasoning_engine.offline.values import Values, values_of
from reasoning_engine.offline.verdicts import Run, digest_of, refusal_in, runs_of

_RUNS_MAX = 3
"""The limit of runs of a validating tool on one value, where it fails."""


@dataclass(frozen=True, slots=True)
class Move:
    """The calls to be made, or the answer; NOTHING is an answer in prose."""

    calls: tuple[Call, ...] = ()
    answer: Any = NOTHING


def next_move(situation: Situation, notes: Notes, demand: Demand | None) -> Move:
    """Return the next move."""
    step = notes.step
    values = values_of(situation.question, notes)
    validating = demand.validation_tools if demand else ()
    tools = tuple(tool for tool in situation.tools if tool.name not in validating)
    free = replace(situation, tools=tools)
    calls = calls_of_step(tools, values, notes) if step else next_calls(free)
    if step and not calls and not notes.tried:
        calls = next_calls(free)
    if calls or demand is None:
        return Move(calls)
    runs = runs_of(validating, notes.tried, notes.facts, notes.replies)
    draft = _draft(demand, values, notes, runs)
    if draft is not NOTHING:
        validations = tuple(
            call for name in validating for call in _validation(name, situation.tools, draft, values, runs)
        )
        if validations:
            return Move(validations)
    if not _has_passed(demand, situation.tools, draft, values, runs):
        more = calls_for_more(tools, values, notes.tried)
        if more:
            return Move(more)
    return Move(answer=draft)


def _draft(demand: Demand, values: Values, notes: Notes, runs: tuple[Run, ...]) -> Any:
    """Return the known part of the answer: filled, and corrected by all complaints so far."""
    filled = fill(demand.schema, values).draft
    if filled is NOTHING:
        return NOTHING
    complaints = [complaint for run in runs for complaint in run.complaints]
    return mended(filled, (*complaints, *refusal_in(notes.now)), demand.schema, values)


def _validation(
    name: str, tools: tuple[Tool, ...], draft: Any, values: Values, runs: tuple[Run, ...]
) -> list[Call]:
    """Return the call that validates the draft by one tool; an empty list where it was made, or is impossible."""
    arguments = _arguments(name, tools, draft, values)
    made = [run for run in runs if run.tool == name and run.was_on(draft, arguments or {})]
    if arguments is None or len(made) >= _RUNS_MAX or not all(run.has_failed for run in made):
        return []
    return [Call(name, arguments, f"validate {digest_of(draft)}")]


def _has_passed(
    demand: Demand, tools: tuple[Tool, ...], draft: Any, values: Values, runs: tuple[Run, ...]
) -> bool:
    if draft is NOTHING or not fits(demand.schema, draft):
        return False
    for name in demand.validation_tools:
        arguments = _arguments(name, tools, draft, values)
        own = [run for run in runs if run.tool == name and run.was_on(draft, arguments or {})]
        if not own or not own[-1].has_passed:
            return False
    return True


def _arguments(name: str, tools: tuple[Tool, ...], draft: Any, values: Values) -> dict[str, Any] | None:
    """Return the arguments with which a tool validates a value; None where it cannot.

    The value goes to the required parameter that it fits, or whose type it has.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    required = [one for one in tool.parameters if one.required] if tool else []
    kind = "object" if isinstance(draft, dict) else "array" if isinstance(draft, list) else ""
    alike = [one for one in required if not kind or kind in one.types]
    takes = next((one for one in alike if tool and fits(one.schema, draft, tool.schema)), None)
    takes = takes or next(iter(alike), None)
    if takes is None:
        return None
    others = {
        one.name: fill_property(one.name, one.schema, values) for one in required if one.name != takes.name
    }
    return None if NOTHING in others.values() else {**others, takes.name: draft}
