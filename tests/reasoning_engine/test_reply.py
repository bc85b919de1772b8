"""No message is too strange to be read."""

from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.types import Message
from antiphon_shared.events import ReasoningCompleted, decode, encode
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.reply import Reply, parse
from tests.envelopes import an_event
from tests.rows import each_row

LONE = "\ud800"
json_like = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just(LONE)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
kinds = st.sampled_from(["text", "tool_use", "thinking", "server_tool_use"]) | json_like
blocks = st.builds(
    lambda fields: SimpleNamespace(**fields),
    st.fixed_dictionaries(
        {},
        optional={"type": kinds, "text": json_like, "id": json_like, "name": json_like, "input": json_like},
    ),
)
stop_reasons = st.sampled_from(
    [
        "end_turn",
        "tool_use",
        "max_tokens",
        "refusal",
        "pause_turn",
        "model_context_window_exceeded",
        "new",
        None,
    ]
)
usages = st.none() | st.builds(
    lambda fields: SimpleNamespace(**fields),
    st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "cache_read_input_tokens"]), json_like),
)


def a_message(*content: Any, stop_reason: Any = "end_turn", **fields: Any) -> Message:
    """Return a message as the SDK builds it from a server's reply: unchecked."""
    known = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": None}
    return Message.construct(content=list(content), stop_reason=stop_reason, **known | fields)


def text(value: Any) -> SimpleNamespace:
    return SimpleNamespace(type="text", text=value)


def use(call_id: Any = "toolu_1", name: Any = "search", arguments: Any = None) -> SimpleNamespace:
    return SimpleNamespace(
        type="tool_use", id=call_id, name=name, input={} if arguments is None else arguments
    )


def travels(reply: Reply) -> None:
    """Check that the reply survives encoding and decoding as an event."""
    data = ReasoningCompleted(
        round=1,
        text=reply.text,
        tool_calls=reply.tool_calls,
        stop_reason=reply.stop_reason,
        model=reply.model,
        usage=reply.usage,
    )
    assert decode(encode(an_event(data))).data == data


@given(st.lists(blocks, max_size=5) | json_like, stop_reasons | json_like, json_like, usages | json_like)
def test_any_content_of_a_message_becomes_a_serializable_reply(
    content: Any, stop_reason: Any, model: Any, usage: Any
) -> None:
    message = a_message(stop_reason=stop_reason, model=model, usage=usage)
    message.content = content
    reply = parse(message)
    travels(reply)
    ids = [call.id for call in reply.tool_calls]
    assert len(ids) == len(set(ids))


@given(json_like)
def test_arguments_arrive_unchanged_or_with_a_problem(arguments: Any) -> None:
    (call,) = parse(a_message(use(arguments=arguments if arguments is not None else 0))).tool_calls
    if call.problem is None:
        assert call.arguments == arguments
    else:
        assert call.arguments == {}


def test_text_around_other_blocks_becomes_paragraphs() -> None:
    message = a_message(text("a"), text("b"), use(), text("c"))
    assert parse(message).text == "ab\n\nc"


def test_calls_with_the_same_id_are_distinguished() -> None:
    message = a_message(use("x"), use("x"), use("x_2"), use("x"), use(""), use(None))
    assert [call.id for call in parse(message).tool_calls] == ["x", "x_2", "x_2_2", "x_3", "call", "call_2"]


def test_ids_and_names_beyond_measure_are_cut() -> None:
    (first, second) = parse(a_message(use("i" * 999, "n" * 999), use("i" * 999))).tool_calls
    assert (len(first.id), len(first.name)) == (180, 200)
    assert first.id != second.id


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_only_a_call_at_the_very_end_of_a_cut_off_reply_is_dropped(stop_reason: str) -> None:
    assert len(parse(a_message(use("a"), use("b"), stop_reason=stop_reason)).tool_calls) == 1
    assert len(parse(a_message(use("a"), text("So"), stop_reason=stop_reason)).tool_calls) == 1


def test_a_pause_with_calls_is_not_a_pause() -> None:
    reply = parse(a_message(use(), stop_reason="pause_turn"))
    assert (reply.is_paused, reply.stop_reason) == (False, "tool_use")


def test_a_pause_without_text_is_an_empty_reply() -> None:
    reply = parse(a_message(stop_reason="pause_turn"))
    assert (reply.is_paused, reply.is_empty) == (False, True)


@pytest.mark.parametrize("stop_reason", ["refusal", "max_tokens", "model_context_window_exceeded"])
def test_an_empty_text_with_a_stop_reason_is_not_empty(stop_reason: str) -> None:
    assert not parse(a_message(stop_reason=stop_reason)).is_empty


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"deep": value}


@each_row(
    ("arguments", "message"),
    [
        ([], "a list"),
        ("{", "text"),
        (7, "a number"),
        (True, "a truth value"),
        ({"a": float("nan")}, "number that JSON lacks"),
        ({"a": [float("inf")]}, "number that JSON lacks"),
        ({LONE: 1}, "surrogate"),
        ({"a": {"b": LONE}}, "surrogate"),
        ({"a": 10**400}, "too large"),
        (nested(70), "levels"),
        ({"a": object()}, "not JSON"),
    ],
)
def test_unusable_arguments_carry_the_problem(arguments: Any, message: str) -> None:
    (call,) = parse(a_message(use(arguments=arguments))).tool_calls
    assert message in (call.problem or "")
    assert call.arguments == {}


def test_arguments_as_deep_as_allowed_travel() -> None:
    reply = parse(a_message(use(arguments=nested(60))))
    assert reply.tool_calls[0].problem is None
    travels(reply)
