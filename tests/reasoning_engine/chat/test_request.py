"""A prompt as chat completions take it."""

from typing import Any, cast

from reasoning_engine.chat.request import chat_request
from reasoning_engine.prompt import Prompt

SYSTEM = [
    {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
    {"type": "text", "text": "So."},
]
TOOL = {"name": "search", "description": "Searches.", "input_schema": {"type": "object"}, "cache_control": {}}


def request(**prompt: Any) -> dict[str, Any]:
    known = {"model": "openai:gpt-x", "max_tokens": 9, "system": SYSTEM, "messages": []}
    return chat_request(cast(Prompt, known | prompt), "max_tokens")


def test_a_history_of_calls_becomes_separate_messages() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "1", "name": "search", "input": {"q": "é"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "ok: F1", "is_error": False},
                {"type": "text", "text": "The last round."},
            ],
        },
    ]
    function = {"name": "search", "arguments": '{"q": "é"}'}
    assert request(messages=messages)["messages"] == [
        {"role": "system", "content": "Be brief.\n\nSo."},
        {"role": "user", "content": "Why?"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "ok: F1"},
        {"role": "user", "content": "The last round."},
    ]


def test_a_choice_of_tools_is_kept() -> None:
    assert "tool_choice" not in request(tools=[TOOL])
    assert request(tools=[TOOL], tool_choice={"type": "none"})["tool_choice"] == "none"
    assert request(tools=[TOOL], tool_choice={"type": "tool", "name": "search"})["tool_choice"] == {
        "type": "function",
        "function": {"name": "search"},
    }
    assert "tool_choice" not in request(tool_choice={"type": "none"})


def test_the_bound_of_a_reply_has_the_name_that_the_server_knows() -> None:
    assert request()["max_tokens"] == 9
    given = cast(Prompt, {"model": "openai:o", "max_tokens": 9, "system": SYSTEM, "messages": []})
    assert chat_request(given, "max_completion_tokens")["max_completion_tokens"] == 9
