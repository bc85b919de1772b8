"""The request for an answer of a shape, and its reading, by the real SDK over a real socket."""

from typing import Any

import pytest
from antiphon_shared.events import ReasoningCompleted

from reasoning_engine.prompt import Prompt, build_prompt, tool_params
from reasoning_engine.shaped import FINAL_ANSWER, OutputStyle, with_demand
from tests.messages_server import Scripted, Use
from tests.reasoning_engine.builders import BRIEFING, SEARCH, a_request, ask

SCHEMA = {
    "type": "object",
    "properties": {"level": {"type": "integer", "minimum": 1}},
    "required": ["level"],
}
RECURSIVE = {"type": "object", "properties": {"more": {"type": "array", "items": {"$ref": "#"}}}}


def demanded(
    schema: dict[str, Any] = SCHEMA,
    style: OutputStyle = "auto",
    model: str = "claude-sonnet-5-5",
    tools: bool = True,
) -> Prompt:
    offered = tool_params([SEARCH]) if tools else []
    return with_demand(build_prompt(a_request(), BRIEFING, offered, model, 4096), schema, style)


def text_of(prompt: Prompt) -> str:
    return str(prompt["messages"][0]["content"])


def test_a_claude_model_is_asked_by_the_apis_own_means() -> None:
    prompt = demanded()
    assert prompt["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {"level": {"type": "integer", "description": "{minimum: 1}"}},
                "additionalProperties": False,
                "required": ["level"],
            },
        }
    }
    assert [tool["name"] for tool in prompt["tools"]] == ["search"]
    assert "one JSON value" in text_of(prompt)
    assert text_of(prompt).startswith(BRIEFING)


@pytest.mark.parametrize("model", ["claude-3-7-sonnet-latest", "claude-sonnet-4-20250514", "mistral", ""])
def test_other_models_give_the_answer_by_a_tool(model: str) -> None:
    prompt = demanded(model=model)
    assert "output_config" not in prompt
    assert [tool["name"] for tool in prompt["tools"]] == [FINAL_ANSWER, "search"]
    assert prompt["tools"][0]["input_schema"] == SCHEMA
    assert "tool_choice" not in prompt
    alone = demanded(model=model, tools=False)
    assert alone["tool_choice"] == {"type": "tool", "name": FINAL_ANSWER}


def test_a_schema_that_the_api_does_not_take_goes_by_the_tool() -> None:
    assert FINAL_ANSWER in str(demanded(RECURSIVE)["tools"])
    assert "output_config" not in demanded(RECURSIVE)


@pytest.mark.parametrize(
    "part",
    [
        {"type": ["integer", "null"]},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "additionalProperties": True},
        True,
    ],
)
def test_a_schema_that_the_api_would_narrow_or_not_take_goes_by_the_tool(part: Any) -> None:
    """The API closes every object: one whose properties have no names could only be given empty."""
    schema = {"type": "object", "properties": {"a": part}}
    assert "output_config" not in demanded(schema)
    assert FINAL_ANSWER in str(demanded(schema)["tools"])


def test_a_schema_of_another_type_than_object_is_sent_in_words_if_the_api_cannot_enforce_it() -> None:
    prompt = demanded({"type": "array", "items": {"type": "integer"}}, model="mistral")
    assert [tool["name"] for tool in prompt["tools"]] == ["search"]
    assert text_of(prompt).endswith('{"type":"array","items":{"type":"integer"}}')


def test_the_operator_may_choose_the_output_style() -> None:
    assert "output_config" in demanded(style="native", model="mistral")
    assert "output_config" not in demanded(style="tool")


@pytest.mark.parametrize(
    ("style", "tools", "is_native"),
    [
        ("auto", True, False),
        ("auto", False, True),
        ("native", True, True),
        ("tool", False, False),
    ],
)
def test_a_model_of_chat_completions_is_held_to_a_shape_where_it_means_to_answer(
    style: OutputStyle, tools: bool, is_native: bool
) -> None:
    prompt = demanded(style=style, model="openai:gpt-x", tools=tools)
    assert ("output_config" in prompt) == is_native
    assert (FINAL_ANSWER in str(prompt.get("tools"))) == (not is_native)
    if is_native:
        assert prompt["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}


def test_chat_completions_give_a_list_in_words() -> None:
    prompt = demanded({"type": "array", "items": {"type": "integer"}}, model="openai:gpt-x", tools=False)
    assert prompt.keys() == {"model", "max_tokens", "system", "messages"}


async def answered(*uses: Use, tools: tuple[str, ...] = ("search",)) -> ReasoningCompleted:
    request = a_request(output="1-0", tools=tools)
    script = Scripted(text="Here it is.", uses=uses)
    return (await ask(script, request=request, schema=SCHEMA, output_style="tool")).completed


async def test_the_input_of_the_final_answer_tool_is_the_answer() -> None:
    outcome = await answered(Use(name=FINAL_ANSWER, input={"level": 3}))
    assert (outcome.text, outcome.tool_calls, outcome.stop_reason) == ('{"level":3}', (), "end_turn")


async def test_an_answer_next_to_other_calls_is_ignored() -> None:
    outcome = await answered(Use(name=FINAL_ANSWER, input={"level": 3}), Use(name="search", input={"q": "x"}))
    assert [call.name for call in outcome.tool_calls] == ["search"]
    assert outcome.stop_reason == "tool_use"


async def test_an_answer_next_to_calls_of_unknown_tools_counts() -> None:
    uses = (Use(name=FINAL_ANSWER, input={"level": 3}), Use(name="search", input={"q": "x"}))
    outcome = await answered(*uses, tools=())
    assert (outcome.text, outcome.tool_calls) == ('{"level":3}', ())


async def test_a_tool_of_the_operators_of_that_name_is_not_an_answer() -> None:
    outcome = await answered(Use(name=FINAL_ANSWER, input={"level": 3}), tools=(FINAL_ANSWER,))
    assert [call.name for call in outcome.tool_calls] == [FINAL_ANSWER]


async def test_unreadable_arguments_are_reported_and_are_no_answer() -> None:
    broken = Use(name=FINAL_ANSWER, input="3")
    for uses in ((broken,), (broken, Use(name=FINAL_ANSWER, input={"level": 3}))):
        outcome = await answered(*uses)
        assert outcome.text == "The arguments came as text; they must be one whole JSON object."
        assert outcome.tool_calls == ()


async def test_two_answers_are_two() -> None:
    outcome = await answered(*(Use(name=FINAL_ANSWER, input={"level": n}) for n in (3, 4)))
    assert outcome.text == '{"level":3}\n{"level":4}'
