"""Models without tool calling: tools in the prompt, calls and answers in one form of JSON."""

import json
from typing import Any

from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, says
from tests.recordings.scenarios.outputs import MORE, PLAN, SCHEMA

_COUNTS = {"name": "count_berths", "arguments": {"harbour": "Skagen"}}
_VALIDATES = [{"name": name, "arguments": {"plan": PLAN}} for name in ("validate_minimal", "validate_full")]
_NOTE = "<note>\nconcluded: Skagen is the place\nplan: count its berths\n</note>"


def _prompted(name: str, *model: Scripted, ends: Any = "natural_completion", **options: Any) -> Scenario:
    options = {"max_rounds": 4, **options}
    return Scenario(name, f"Which harbour is it? ({name})", model, ends, options, deployment="prompted")


def writes(**form: Any) -> Scripted:
    """Return a reply in the form, without other text."""
    return says(json.dumps(form))


SCENARIOS = (
    _prompted(
        "a_prompted_model_that_calls_and_answers",
        says(f"D'abord.\n```json\n{json.dumps({'tool_calls': [_COUNTS], 'reasoning': _NOTE})}\n```"),
        writes(success=True, result="It has 14 berths [F1].", reasoning="They were counted."),
    ),
    _prompted(
        "a_prompted_model_that_breaks_the_form",
        writes(
            tool_calls=[_COUNTS | {"id": 1}, {"name": "count", "arguments": {}}, {"arguments": []}, 7], more=1
        ),
        writes(tool_calls=[{"name": "count_berths", "arguments": "Skagen"}, {"name": "count_berths"}]),
        says('{"tool_calls": [{"name": "count_berths", "arguments": {"harbour": "Ska'),
        says('{"tool_calls": [{"name": count_berths}]}'),
        says('{"berths": 14}'),
        writes(tool_calls=[], reasoning=7),
        writes(tool_calls=7),
        writes(tool_calls=[_COUNTS] * 101),
        writes(success=True, result=" "),
        writes(success="yes", result="14"),
        writes(success=False),
        says("<think>It may be 14.</think>"),
        writes(tool_calls=[_COUNTS]),
        says("<think>They were counted.</think>It has 14 berths [F1]."),
        max_rounds=16,
    ),
    _prompted(
        "a_prompted_model_that_does_not_know",
        writes(success=False, result="", reasoning="No tool knows the harbour."),
    ),
    _prompted("a_prompted_model_that_answers_in_json", writes(success=True, result=PLAN)),
    _prompted("a_prompted_model_that_refuses", says("No.", stop_reason="refusal"), ends="model_refused"),
    _prompted(
        "a_prompted_model_that_calls_in_the_last_round",
        writes(tool_calls=[_COUNTS]),
        writes(tool_calls=[_COUNTS]),
        ends="max_rounds_reached",
        max_rounds=2,
    ),
    _prompted(
        "a_prompted_answer_of_a_shape_after_every_mistake",
        says("It is Skagen."),
        says(json.dumps(PLAN)),
        writes(success=False, reasoning="I cannot know."),
        writes(success=True, result=json.dumps(PLAN)),
        writes(success=True, result=PLAN),
        writes(tool_calls=_VALIDATES),
        writes(success=True, result=MORE),
        says(f'{{"a": [1, 2],}} {json.dumps({"success": True, "result": PLAN})}'),
        output_schema=SCHEMA,
        validation_tools=["validate_minimal", "validate_full"],
        max_rounds=10,
    ),
    _prompted(
        "a_prompted_answer_of_a_shape_that_never_comes",
        *(says("It is Skagen.") for _ in range(4)),
        ends="output_invalid",
        output_schema=SCHEMA,
    ),
)
