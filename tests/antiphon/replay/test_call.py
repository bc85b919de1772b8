"""One recorded call, made again by several models."""

import pytest
from antiphon_shared.process.errors import ConfigurationError

from antiphon.recording.lines import Line
from antiphon.replay.call import RECORDED, call
from antiphon.replay.forking.event_at import NoSuchPoint
from tests.messages_server import Scripted, serving

SECOND = "reasoning.requested@2"


async def test_the_same_model_replies_the_same_to_the_same_request(courses_lines: list[Line]) -> None:
    then, now = await call(courses_lines, SECOND, ["offline"])
    assert (then.model, now.model) == (RECORDED, "offline")
    assert then.reply is not None
    assert now.reply is not None
    assert now.reply.text == then.reply.text
    assert [(one.name, one.arguments) for one in now.reply.tool_calls] == [
        (one.name, one.arguments) for one in then.reply.tool_calls
    ]


async def test_an_error_of_one_model_does_not_stop_the_others(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(
        Scripted(when='"broken"', status=529, error="overloaded_error"),
        Scripted(when='"whole"', text="Payments.", repeat=True),
    ) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        prices = '{"whole": {"input_usd": 1, "output_usd": 2}}'
        monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_PRICES", prices)
        replies = await call(courses_lines, SECOND, ["broken", "whole", "offline"])
    by_model = {one.model: one for one in replies}
    assert by_model["broken"].error is not None
    assert by_model["broken"].error.code == "overloaded"
    whole = by_model["whole"]
    assert whole.reply is not None
    assert whole.reply.text == "Payments."
    assert whole.cost_usd == pytest.approx(140e-6)
    assert by_model["offline"].reply is not None
    assert by_model["offline"].cost_usd is None


async def test_the_request_is_sent_as_recorded_but_for_model_and_prompt(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Scripted(text="Yes.", repeat=True)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        await call(courses_lines, SECOND, ["a"])
        replies = await call(courses_lines, SECOND, ["b"], system="Be brief.", times=2)
    first, *others = (request.body for request in server.requests)
    assert (first.pop("model"), [one.pop("model") for one in others]) == ("a", ["b", "b"])
    assert [one.pop("system")[0]["text"] for one in others] == ["Be brief."] * 2
    assert len(first.pop("system")[0]["text"]) > 1_000
    assert others == [first, first]
    assert len(replies) == 3


async def test_a_model_of_chat_completions_is_asked_the_same(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Scripted(text="Yes."), Scripted(status=401, body="")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        _, now, failed = await call(courses_lines, SECOND, ["openai:a", "openai:b"])
    assert {request.body["model"] for request in server.requests} == {"a", "b"}
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}
    assert sorted(one.reply.text for one in (now, failed) if one.reply) == ["Yes."]
    (error,) = (one.error for one in (now, failed) if one.error)
    assert "OPENAI_API_KEY" in error.message
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(ConfigurationError, match="no API key or base URL") as refused:
        await call(courses_lines, SECOND, ["openai:a"])
    assert "OPENAI_BASE_URL" in refused.value.hint


async def test_an_event_without_a_model_call_names_those_with_one(courses_lines: list[Line]) -> None:
    with pytest.raises(NoSuchPoint, match="led to no model call") as refused:
        await call(courses_lines, "tools.requested@1", ["offline"])
    assert "11 (reasoning.requested)" in refused.value.hint
