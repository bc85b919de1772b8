"""Recorded messages, streamed: the SDK assembles the same message as when they were recorded."""

from typing import Any

import pytest
from anthropic.types import Message
from antiphon_shared.events.step_records import ModelCall, ModelError
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.replay.serving.exchanges import Exchanges
from antiphon.replay.serving.messages import message_events
from antiphon.replay.serving.model import RecordedModel
from antiphon.replay.serving.recording_index import RecordedRequest
from reasoning_engine.exchange_record import message_json
from reasoning_engine.model_errors import MODEL_ERRORS, classify, error_json
from reasoning_engine.prompt import Prompt

PROMPT: Prompt = {
    "model": "m",
    "max_tokens": 10,
    "system": [],
    "messages": [{"role": "user", "content": "?"}],
}
REPLY = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Yes — 30 cm.\n"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 7},
}


class Always(Exchanges):
    """Recordings that hold one answer, to everything."""

    def __init__(self, call: ModelCall) -> None:
        super().__init__("s", [], [])
        self._call = call

    def take(self, request: Any) -> RecordedRequest | None:
        return RecordedRequest(request, self._call)


async def asked(call: ModelCall) -> Message | BaseException:
    model = RecordedModel(Always(call), is_offline=False)
    try:
        return await model.reply(PROMPT, lambda _: None, lambda _: None)
    except MODEL_ERRORS as error:
        return error
    finally:
        await model.close()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
blocks = st.one_of(
    texts.map(lambda text: {"type": "text", "text": text}),
    st.dictionaries(texts, st.integers(0, 9) | texts, max_size=3).map(
        lambda given: {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": given}
    ),
    st.just({"type": "tool_use", "id": "toolu_2", "name": "look_up", "input": '{"what": "hei'}),
    texts.map(lambda text: {"type": "thinking", "thinking": text, "signature": "s"}),
)


@settings(max_examples=12, deadline=None)
@given(
    content=st.lists(blocks, max_size=4),
    stop_reason=st.sampled_from(["end_turn", "pause_turn", "max_tokens"]),
)
async def test_a_message_is_the_same_through_the_sdk(content: list[Any], stop_reason: str) -> None:
    reply = {**REPLY, "content": content, "stop_reason": stop_reason}
    message = await asked(ModelCall(request={}, reply=reply))
    assert isinstance(message, Message), message
    sent = message_json(message)
    blocks = zip(sent.pop("content"), content, strict=True)
    assert all(block[name] == value for block, then in blocks for name, value in then.items())
    assert all(sent[name] == reply[name] for name in reply if name != "content")


PARTIAL = {**REPLY, "stop_reason": None}


@pytest.mark.parametrize(
    ("status", "body", "code", "partial"),
    [
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            "overloaded",
            None,
        ),
        (500, "no JSON at all", "server_error", None),
        (
            200,
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            "overloaded",
            PARTIAL,
        ),
        (200, {"type": "error", "error": {"type": "api_error", "message": "oh"}}, "server_error", None),
        (None, None, "timeout", None),
        (None, None, "timeout", PARTIAL),
        (None, None, "connection_failed", PARTIAL),
        (None, None, "connection_failed", None),
        (None, None, "unreadable_reply", None),
    ],
)
async def test_an_error_is_the_same_through_the_sdk(
    status: int | None, body: Any, code: str, partial: dict[str, Any] | None
) -> None:
    failure = {"code": code, "message": "as then"}
    then = ModelError.model_validate({"failure": failure, "status": status, "body": body, "partial": partial})
    error = await asked(ModelCall(request={}, error=then))
    assert isinstance(error, BaseException)
    sent = error_json(error, classify(error))
    assert sent.failure.code == code
    assert sent.status == status
    assert sent.body == body
    assert (sent.partial or {}).get("content") == (partial or {}).get("content")
    assert (sent.partial or {}).get("usage", {}).get("input_tokens") == (partial and 10)


def test_a_message_of_another_shape_is_streamed_too() -> None:
    assert message_events({"content": "none"}).count(b"event: ") == 3
