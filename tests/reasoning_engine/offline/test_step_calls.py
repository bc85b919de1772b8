"""The calls that the instructions of a step ask for."""

from dataclasses import replace
from typing import Any

import pytest

from reasoning_engine.offline.briefing_text import Notes
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.schema import Tool
from reasoning_engine.offline.step_calls import arguments_for, calls_of_step, mentioned_at
from reasoning_engine.offline.step_text import StepNote
from reasoning_engine.offline.values import Values, values_of
from tests.reasoning_engine.offline.briefings import notes_of

TEXT = {"type": "string"}


def a_tool(name: str, description: str = "", **properties: Any) -> Tool:
    return Tool(name, description, {"type": "object", "properties": properties, "required": [*properties]})


SEARCH = a_tool("search_parts", query=TEXT)
DETAILS = a_tool("get_details", part=TEXT)
CHECK = a_tool("check_plan", plan={"type": "object", "required": ["parts"]})
DEPLOY = a_tool("deploy", "Deploys.\nIt changes something.", plan={"type": "object", "required": ["parts"]})
STATUS = a_tool("get_status", deployment={"type": "string", "pattern": "^D-[0-9]+$"})
TOOLS = (SEARCH, DETAILS, CHECK, DEPLOY, STATUS)
PLAN = {"parts": ["gauge", "siren"]}
ALL = "Look up the details of each part. Check the plan, deploy it once, and look at its status."


def given(instructions: str, *results: Any, input: Any = PLAN) -> tuple[Values, Notes]:
    notes = replace(notes_of("Build it.", *results), step=StepNote(instructions, input))
    return values_of(read_question(notes.question, frozenset()), notes), notes


def calls(instructions: str, *results: Any, input: Any = PLAN) -> list[tuple[str, dict[str, Any]]]:
    values, notes = given(instructions, *results, input=input)
    return [(call.tool, call.arguments) for call in calls_of_step(TOOLS, values, notes)]


@pytest.mark.parametrize(
    ("instructions", "mentioned"),
    [
        (ALL, ["get_details", "check_plan", "deploy", "get_status"]),
        ("Use search_parts.", ["search_parts"]),
        ("Say what the deployment is for.", []),
        ("It was deployed; describe it.", []),
    ],
)
def test_tools_are_requested_by_name_by_verb_or_by_object(instructions: str, mentioned: list[str]) -> None:
    placed = sorted((mentioned_at(tool, instructions), tool.name) for tool in TOOLS)
    assert [name for at, name in placed if at < 1_000] == mentioned


DETAILED = [("get_details", {"part": part}, {"part": part, "euro": 1}) for part in PLAN["parts"]]
CHECKED = ("check_plan", {"plan": PLAN}, {"valid": True, "errors": []})
DEPLOYED = ("deploy", {"plan": PLAN}, {"deployment": "D-7"})


def test_every_item_of_a_list_is_read_before_the_write() -> None:
    assert calls(ALL) == [
        ("get_details", {"part": "gauge"}),
        ("get_details", {"part": "siren"}),
        ("check_plan", {"plan": PLAN}),
    ]
    assert calls(ALL, *DETAILED, CHECKED) == [("deploy", {"plan": PLAN})]
    assert calls(ALL, *DETAILED, CHECKED, DEPLOYED) == [("get_status", {"deployment": "D-7"})]


def test_no_write_follows_a_failed_check() -> None:
    faulty = ("check_plan", {"plan": PLAN}, {"valid": False, "errors": ["No trigger"]})
    assert calls(ALL, *DETAILED, faulty) == []


def test_a_write_is_made_once_and_only_on_request() -> None:
    assert calls("Deploy it.", DEPLOYED) == []
    values, notes = given("Deploy it.", DEPLOYED)
    assert calls_of_step(TOOLS, values, replace(notes, tried=())) == ()
    assert calls("Deploy it.") == [("deploy", {"plan": PLAN})]
    assert calls("Describe the plan.") == []


def test_a_tool_whose_arguments_nothing_holds_is_not_called() -> None:
    values, _ = given(ALL, input={"other": 1})
    assert [arguments_for(tool, values) for tool in (DETAILS, DEPLOY, STATUS)] == [[], [], []]


def test_a_choice_is_made_by_the_question_and_not_by_results() -> None:
    kinds = a_tool("list_kinds", kind={"type": "string", "enum": ["source", "sink"]})
    values, _ = given(
        "List the kinds.", ("get_details", {"part": "gauge"}, {"part": "gauge", "kind": "source"})
    )
    assert arguments_for(kinds, values) == []
