"""Questions in steps: steps in order, models that leave the order, and abandoned steps."""

import json
from typing import Any

from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, says, use
from tests.recordings.scenarios.outputs import FITS, MORE, PLAN, SCHEMA

_VALIDATORS = ["validate_minimal", "validate_full"]
STEPS: list[dict[str, Any]] = [
    {
        "name": "discovery",
        "instructions": "Find a harbour.",
        "tools": ["count_berths", "read_mail"],
        "max_rounds": 5,
    },
    {
        "name": "planning",
        "instructions": "Plan the berths.",
        "tools": _VALIDATORS,
        "output": SCHEMA,
        "validation_tools": _VALIDATORS,
        "max_rounds": 5,
        "attempts": 2,
    },
    {
        "name": "booking",
        "instructions": "Tell the harbour.",
        "tools": ["store_note"],
        "output": {"type": "object", "properties": {"booked": {"const": True}}, "required": ["booked"]},
        "max_rounds": 5,
        "attempts": 2,
    },
]
_COUNTS = calls(use("count_berths", harbour="Skagen"))
_MAIL = calls(use("count_berths", harbour="Skagen"), use("read_mail", folder="inbox"))
_FOUND, _PROSE, _BOOKED = (
    says("Skagen has 14 berths.\nIt is open."),
    says("It is done."),
    says('{"booked": true}'),
)
_BOOKS = calls(use("store_note", text="Skagen"))


def _validated(plan: dict[str, Any]) -> Scripted:
    return calls(*(use(tool, plan=plan) for tool in _VALIDATORS))


def _in_steps(name: str, *model: Scripted, ends: Any = "natural_completion", **options: Any) -> Scenario:
    options = {"steps": STEPS, **options}
    return Scenario(name, f"Book a harbour. ({name})", model, ends, options, deployment="stepwise")


SCENARIOS = (
    _in_steps(
        "steps_that_are_taken_in_order",
        calls(use("count_berths", harbour="Skagen"), use("store_note", text="too early")),
        says(" "),
        _FOUND,
        calls(use("count_berths", harbour="Skagen")),
        says(FITS),
        _validated(PLAN),
        says(FITS),
        _BOOKS,
        _BOOKED,
    ),
    _in_steps(
        "a_step_that_is_done_at_the_second_attempt",
        _MAIL,
        _FOUND,
        *(says(json.dumps(MORE)) for _ in range(5)),
        _validated(PLAN),
        says(FITS),
        _BOOKS,
        *(_PROSE for _ in range(4)),
        _BOOKS,
        _BOOKED,
    ),
    _in_steps(
        "a_step_that_fails_in_every_attempt",
        _COUNTS,
        _FOUND,
        *(_validated(MORE) for _ in range(4)),
        says(json.dumps(MORE)),
        *(says(FITS) for _ in range(5)),
        ends="step_failed",
    ),
    _in_steps(
        "a_step_whose_every_call_fails",
        *(calls(use("count_berths", harbor="Skagen")) for _ in range(2)),
        _PROSE,
        _COUNTS,
        _FOUND,
        says(FITS),
        ends="validation_incomplete",
        max_rounds=6,
    ),
    _in_steps(
        "steps_that_the_session_has_no_rounds_for",
        _COUNTS,
        _FOUND,
        says(FITS[:-4]),
        ends="output_invalid",
        max_rounds=3,
    ),
    _in_steps("a_step_that_ends_with_the_last_round", _FOUND, ends="max_rounds_reached", max_rounds=1),
    _in_steps(
        "a_step_whose_tool_is_not_there",
        ends="step_failed",
        steps=[{"name": "discovery", "instructions": "Find a harbour.", "tools": ["count_births"]}],
    ),
)
