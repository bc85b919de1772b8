"""Answers that must fit a schema, and pass validations: given, refused, and never given."""

import json
from typing import Any

from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, says, use

SCHEMA = {
    "type": "object",
    "properties": {"harbour": {"type": "string"}, "berths": {"type": "integer", "minimum": 1}},
    "required": ["harbour", "berths"],
    "additionalProperties": False,
}
PLAN = {"harbour": "Skagen", "berths": 14}
FITS = json.dumps(PLAN)
MORE = {"harbour": "Skagen", "berths": 15}
_TOOLS = ["validate_minimal", "validate_full"]
_COUNTS = use("count_berths", harbour="Skagen")


def _shaped(name: str, *model: Scripted, ends: Any = "natural_completion", **options: Any) -> Scenario:
    options = {"output_schema": SCHEMA, "max_rounds": 4, **options}
    return Scenario(name, f"Which harbour is it? ({name})", model, ends, options, deployment="validating")


def _validated(plan: dict[str, Any], *tools: str) -> Scripted:
    return calls(*(use(tool, plan=plan) for tool in tools or _TOOLS))


SCENARIOS = (
    _shaped("a_shaped_answer", calls(_COUNTS), says(f"Here it is: {FITS}")),
    _shaped(
        "a_shaped_answer_at_the_third_attempt",
        says("It is Skagen."),
        says('{"harbour": "Skagen", "berths": "14"}'),
        says(FITS),
    ),
    _shaped(
        "a_shaped_answer_that_never_comes",
        *(says(text) for text in (f"{FITS} {json.dumps(MORE)}", FITS[:-4], '{"berths": NaN}', "{}")),
        ends="output_invalid",
    ),
    _shaped(
        "a_shaped_answer_by_the_tool_for_it",
        calls(_COUNTS, use("final_answer", **PLAN)),
        calls(use("final_answer", **PLAN), use("final_answer", **MORE)),
        calls(use("final_answer", **PLAN)),
    ),
    _shaped(
        "a_shaped_answer_that_is_a_list",
        says("Three of them: [14, 3, 9]"),
        output_schema={"type": "array", "items": {"type": "integer"}, "minItems": 3},
    ),
    _shaped(
        "a_shaped_answer_in_the_last_round_with_tools",
        calls(_COUNTS),
        says(FITS),
        max_tool_rounds=1,
    ),
    _shaped(
        "a_validated_answer_after_every_mistake",
        says(FITS),
        _validated(MORE),
        says(json.dumps(MORE)),
        _validated(PLAN),
        says(json.dumps(MORE)),
        says(FITS),
        validation_tools=_TOOLS,
        max_rounds=8,
    ),
    _shaped(
        "a_validated_answer_that_is_never_validated",
        *(says(FITS) for _ in range(4)),
        ends="validation_incomplete",
        validation_tools=_TOOLS,
    ),
    _shaped(
        "a_validation_by_a_tool_that_is_not_there",
        ends="validation_incomplete",
        validation_tools=["validate_all"],
    ),
)
