"""The meaning of a reply in the form, and the errors of refused ones."""

import json
from typing import Any

import pytest
from antiphon_shared.events.reasoning_engine import StopReason
from antiphon_shared.tools.calls import ToolCall
from antiphon_shared.values import Usage
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.prompted.replies import CALLS_MAX, read_prompted_reply
from reasoning_engine.reply import Reply
from tests.memories import hostile_text
from tests.rows import each_row

TOOLS = ("search", "outline")


def read(
    text: Any,
    tools: tuple[str, ...] = TOOLS,
    is_shaped: bool = False,
    stop_reason: StopReason = "end_turn",
) -> Reply:
    written = text if isinstance(text, str) else json.dumps(text)
    reply = Reply(written, (), stop_reason, "m", Usage())
    return read_prompted_reply(reply, tools, 3, is_shaped)


def test_text_next_to_calls_becomes_the_note() -> None:
    calls = [{"name": "search", "arguments": {"q": "x"}}, {"name": "outline", "arguments": {}}]
    reply = read(f"Two things.\n{json.dumps({'tool_calls': calls, 'reasoning': 'plan: compare'})}")
    assert reply.tool_calls == (
        ToolCall(id="call_3_1", name="search", arguments={"q": "x"}),
        ToolCall(id="call_3_2", name="outline", arguments={}),
    )
    assert (reply.text, reply.stop_reason, reply.refused) == (
        "Two things.\n\nplan: compare",
        "tool_use",
        (),
    )


@each_row(
    ("value", "text"),
    [
        ({"success": True, "result": "Blue [F1]."}, "Blue [F1]."),
        ({"tool_calls": [], "success": True, "result": "Blue."}, "Blue."),
        ({"tool_calls": None, "success": True, "result": "Blue.", "reasoning": None}, "Blue."),
        ({"success": False, "result": "", "reasoning": "No tool knows it."}, "No tool knows it."),
        ({"success": False, "result": "Perhaps blue.", "reasoning": "Weak."}, "Perhaps blue."),
        ({"success": True, "result": False}, "```json\nfalse\n```"),
        ({"success": True, "result": {"a": 1}}, '```json\n{\n  "a": 1\n}\n```'),
        ("It is blue [F1].", "It is blue [F1]."),
    ],
)
def test_an_answer_of_no_shape_is_text(value: Any, text: str) -> None:
    reply = read(value)
    assert (reply.text, reply.tool_calls, reply.stop_reason, reply.refused) == (text, (), "end_turn", ())


@pytest.mark.parametrize("result", [{"a": 1}, 0, False, "blue", [1]])
def test_an_answer_of_a_shape_is_the_result_as_json(result: Any) -> None:
    reply = read({"success": True, "result": result}, is_shaped=True)
    assert json.loads(reply.text) == result
    assert reply.refused == ()


CALL = {"name": "search", "arguments": {}}


@each_row(
    ("value", "because"),
    [
        ({"tool_calls": [{"name": "find", "arguments": {}}]}, "no tool `find` here. There are: outline, search."),
        ({"tool_calls": [CALL, {"name": "search", "arguments": "x"}]}, "Call 2: `arguments` must be a JSON object."),
        ({"tool_calls": [{"name": "search", "arguments": None}]}, "`arguments` must be a JSON object."),
        ({"tool_calls": [{"name": "search", "arguments": []}]}, "`arguments` must be a JSON object."),
        ({"tool_calls": [{"name": "search"}]}, "has no `arguments`"),
        ({"tool_calls": [{"arguments": {}}]}, "Call 1 has no `name`."),
        ({"tool_calls": [{"name": ["search"], "arguments": {}}]}, "Call 1 has no `name`."),
        ({"tool_calls": [CALL | {"id": "1"}]}, "must not have: `id`. It may have name, arguments."),
        ({"tool_calls": [CALL], "thought": ""}, "The object has keys that it must not have: `thought`."),
        ({"tool_calls": CALL}, "`tool_calls` must be a list"),
        ({"tool_calls": ["search"]}, "Call 1 must be an object"),
        ({"tool_calls": [CALL] * (CALLS_MAX + 1)}, "more than the limit of 100"),
        ({"tool_calls": []}, "`tool_calls` is empty"),
        ({"tool_calls": [CALL], "reasoning": ["x"]}, "`reasoning` must be text."),
        ({"success": True}, "`result` is empty"),
        ({"success": True, "result": None}, "`result` is empty"),
        ({"success": True, "result": " \n"}, "`result` is empty"),
        ({"success": True, "result": {}}, "`result` is empty"),
        ({"success": True, "result": []}, "`result` is empty"),
        ({"success": "true", "result": "Blue."}, "`success` must be true or false."),
        ({"success": 1, "result": "Blue."}, "`success` must be true or false."),
        ({"success": False}, "neither `result` nor `reasoning` says why"),
        ({"success": True, "result": "Blue.", "confidence": 1}, "must not have: `confidence`"),
        ('{"success": true, "result": "Bl', "is cut off"),
        ('{"answer": 1}', "no object with"),
        ("", "It says nothing"),
        ("<think>It may be blue.</think>", "It says nothing"),
    ],
)  # fmt: skip  # one form for all rows
def test_a_reply_that_breaks_the_form_is_refused_with_the_reason(value: Any, because: str) -> None:
    for is_shaped in (False, True):
        reply = read(value, is_shaped=is_shaped)
        assert reply.tool_calls == ()
        if not (is_shaped and value == {"success": False}):
            assert because in "\n".join(reply.refused) or (
                is_shaped and "holds no JSON" in str(reply.refused)
            )


def test_every_fault_is_reported_up_to_a_limit() -> None:
    faults = read({"tool_calls": [{"name": "find", "arguments": 1}, 2], "more": 3}).refused
    assert len(faults) == 4
    assert len(read({"tool_calls": [{}] * CALLS_MAX}).refused) == 10


def test_an_answer_of_a_shape_must_be_given_in_the_form() -> None:
    assert read("It is blue.", is_shaped=True).refused == (
        "It holds no JSON; reply with one JSON object that has `tool_calls`, or `success` and `result`.",
    )
    (because,) = read({"success": False, "reasoning": "Unknown."}, is_shaped=True).refused
    assert "is still asked for" in because
    attempt = read('{"level": 3}', is_shaped=True)
    assert attempt.text == '{"level": 3}'
    assert attempt.refused


def test_a_call_without_offered_tools_is_refused_with_a_hint_to_end() -> None:
    (because,) = read({"tool_calls": [CALL]}, tools=()).refused
    assert because.startswith("No tool can be called in this reply")


def test_an_answer_that_breaks_the_form_is_kept_for_a_session_that_ends() -> None:
    assert read({"success": True, "result": "Blue.", "confidence": 1}).text == "Blue."
    assert read({"tool_calls": [CALL], "thought": ""}).text == ""


def test_a_more_specific_stop_reason_is_kept() -> None:
    assert read("I cannot help with that.", stop_reason="refusal").stop_reason == "refusal"
    assert read("It is blue, bec", stop_reason="max_tokens").stop_reason == "max_tokens"
    whole = f"{json.dumps({'tool_calls': [CALL]})} and then"
    assert read(whole, stop_reason="max_tokens").stop_reason == "tool_use"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(("", "search", "find")) | hostile_text,
    lambda part: (
        st.lists(part, max_size=4)
        | st.dictionaries(
            st.sampled_from(("tool_calls", "success", "result", "reasoning", "name", "arguments", "more")),
            part,
            max_size=4,
        )
    ),
)


@given(VALUES, st.booleans())
def test_a_reply_is_either_calls_or_an_answer_or_refused(value: Any, is_shaped: bool) -> None:
    reply = read(value if isinstance(value, str) else json.dumps(value), is_shaped=is_shaped)
    assert not (reply.refused and reply.tool_calls)
    assert len(reply.refused) <= 10
    assert all(len(one) < 2_000 for one in reply.refused)
    assert all(call.name in TOOLS for call in reply.tool_calls)
    if not reply.refused and not reply.tool_calls:
        assert reply.text.strip()
