"""The result of the pieces of a chat completion, with any content."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.chat.reply import ChatReply
from reasoning_engine.exchange_record import message_of
from reasoning_engine.model_errors import UnreadableReply
from reasoning_engine.reply import parse
from reasoning_engine.reply_size import REPLY_CHARACTERS_MAX, REPLY_PARTS_MAX
from tests.memories import hostile_text


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def taken(*chunks: dict[str, Any]) -> dict[str, Any]:
    reply = ChatReply()
    for one in chunks:
        reply.take(one)
    return reply.message()


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


def uses(message: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [(one["id"], one["name"], one["input"]) for one in message["content"] if one["type"] == "tool_use"]


def test_whole_calls_without_an_index_stay_apart() -> None:
    """Some servers send each call in its own chunk, others all calls in one."""
    apart = taken(
        chunk(tool_calls=[call("a", "{}", id="1")]),
        chunk("tool_calls", tool_calls=[call("b", {"x": 1}, id="2")]),
    )
    at_once = taken(chunk("tool_calls", tool_calls=[call("a", "{}", id="1"), call("b", '{"x": 1}', id="2")]))
    assert uses(apart) == uses(at_once) == [("1", "a", {}), ("2", "b", {"x": 1})]


def test_interleaved_pieces_of_calls_are_joined_by_index() -> None:
    message = taken(
        chunk(tool_calls=[call("a", '{"x', index=0, id="1"), call("b", "", index=1, id="2")]),
        chunk(tool_calls=[{"index": 1, "function": {"arguments": "{}"}}]),
        chunk("tool_calls", tool_calls=[{"index": 0, "function": {"arguments": '": 1}'}}]),
    )
    assert uses(message) == [("1", "a", {"x": 1}), ("2", "b", {})]


def test_a_refusal_is_reported_in_the_models_words() -> None:
    message = taken(chunk(refusal="I can"), chunk("stop", refusal="not."))
    assert (message["stop_reason"], message["content"]) == (
        "refusal",
        [{"type": "text", "text": "I cannot."}],
    )


def test_a_reply_without_an_end_has_no_stop_reason() -> None:
    assert taken(chunk(content="Half"))["stop_reason"] is None


@pytest.mark.parametrize(
    "pieces",
    [
        [chunk(content="x" * (REPLY_CHARACTERS_MAX // 2))] * 3,
        [chunk(tool_calls=[call("a", "x" * (REPLY_CHARACTERS_MAX // 2), index=0)])] * 3,
        [chunk(tool_calls=[call("a", "", index=n)]) for n in range(REPLY_PARTS_MAX + 1)],
    ],
)
def test_a_reply_that_does_not_end_is_not_taken_in(pieces: list[dict[str, Any]]) -> None:
    with pytest.raises(UnreadableReply):
        taken(*pieces)


STRANGE = st.recursive(
    st.none() | st.booleans() | st.integers() | hostile_text,
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("choices", "delta", "content", "tool_calls", "function", "name", "arguments", "index", "id",
                 "finish_reason", "usage", "prompt_tokens", "prompt_tokens_details", "cached_tokens", "refusal")
            ),
            part,
            max_size=4,
        )
    ),
    max_leaves=20,
)  # fmt: skip  # the names read better in two lines


@given(
    st.lists(st.fixed_dictionaries({"choices": st.lists(STRANGE, max_size=2), "usage": STRANGE}), max_size=4)
)
def test_no_piece_is_too_strange(chunks: list[dict[str, Any]]) -> None:
    parse(message_of(taken(*chunks)))


@given(STRANGE, STRANGE)
def test_no_delta_is_too_strange(delta: Any, more: Any) -> None:
    chunks = [{"choices": [{"delta": one, "finish_reason": "stop"}]} for one in (delta, more)]
    calls = [{"choices": [{"delta": {"tool_calls": one, "content": more}}]} for one in (delta, [delta, more])]
    parse(message_of(taken(*chunks, *calls)))
