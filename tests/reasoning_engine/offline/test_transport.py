"""The offline model speaks the Messages API: streamed or whole, and refuses nonsense in its shape."""

import re
from typing import Any

import anthropic
import httpx2
import pytest
from antiphon_shared.text.fence import CLOSING, opening

from reasoning_engine.offline.reasoner import SIGNATURE
from reasoning_engine.offline.transport import OfflineTransport
from tests.reasoning_engine.offline.course_tools import COURSE_TOOLS
from tests.reasoning_engine.offline.rounds import offline_client

QUESTION = "Which course discusses vector clocks?"


async def test_a_streamed_and_a_whole_reply_say_the_same() -> None:
    asked: dict[str, Any] = {
        "model": "any-model",
        "max_tokens": 500,
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [tool.as_parameter() for tool in COURSE_TOOLS],
    }
    async with offline_client() as client:
        whole = await client.messages.create(**asked)
        async with client.messages.stream(**asked) as stream:
            deltas = [text async for text in stream.text_stream]
            streamed = await stream.get_final_message()
    assert whole.model == "offline"
    assert whole.stop_reason == "tool_use"
    assert [block.type for block in whole.content] == ["text", "tool_use"]
    assert [block.model_dump(exclude_none=True) for block in streamed.content] == [
        block.model_dump(exclude_none=True) for block in whole.content
    ]
    assert streamed.stop_reason == whole.stop_reason
    assert streamed.usage.input_tokens == whole.usage.input_tokens > 100
    assert streamed.usage.output_tokens == whole.usage.output_tokens > 0
    assert len(deltas) > 1


async def test_tools_that_may_not_be_used_are_not() -> None:
    async with offline_client() as client:
        message = await client.messages.create(
            model="m",
            max_tokens=500,
            messages=[{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
            tools=[tool.as_parameter() for tool in COURSE_TOOLS],
            tool_choice={"type": "none"},
        )
    assert message.stop_reason == "end_turn"
    (block,) = message.content
    assert block.type == "text"
    assert block.text.endswith(SIGNATURE)


async def test_an_answer_longer_than_allowed_is_cut_and_says_so() -> None:
    fact = opening("c", "t", 1, False) + "\nF1 " + "Vector clocks count. " * 100 + "\n" + CLOSING
    async with offline_client() as client:
        message = await client.messages.create(
            model="m",
            max_tokens=60,
            messages=[{"role": "user", "content": f"# Question\n{QUESTION}\n\n# Facts\n{fact}\n"}],
        )
    assert message.stop_reason == "max_tokens"
    assert message.content[0].type == "text"
    assert message.content[0].text.endswith(SIGNATURE)
    assert len(message.content[0].text) <= 240


async def test_the_client_meets_an_ordinary_api_error() -> None:
    async with offline_client() as client:
        with pytest.raises(anthropic.BadRequestError, match="messages"):
            await client.messages.create(model="m", max_tokens=1, messages=[])


USER = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"not json", "body"),
        (b"[1]", "body"),
        (b"{}", "model"),
        ({"model": 3}, "model"),
        ({"model": "m"}, "max_tokens"),
        ({"model": "m", "max_tokens": 0, "messages": [USER]}, "max_tokens"),
        ({"model": "m", "max_tokens": True, "messages": [USER]}, "max_tokens"),
        ({"model": "m", "max_tokens": 9}, "messages"),
        ({"model": "m", "max_tokens": 9, "messages": "hello"}, "messages"),
        ({"model": "m", "max_tokens": 9, "messages": ["hello"]}, "messages.0.role"),
        (
            {"model": "m", "max_tokens": 9, "messages": [USER, {"role": "assistant", "content": "x"}]},
            "messages.1.role",
        ),
        ({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
        (
            {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": " "}]},
            "messages.0.content",
        ),
        ({"model": "m", "max_tokens": 9, "messages": [USER], "tools": {}}, "tools"),
        ({"model": "m", "max_tokens": 9, "messages": [USER], "tools": [{"name": 4}]}, "tools.0.name"),
    ],
)
async def test_nonsense_is_refused_by_the_name_of_the_field(body: Any, field: str) -> None:
    async with httpx2.AsyncClient(transport=OfflineTransport(), base_url="http://offline") as client:
        given = {"content": body} if isinstance(body, bytes) else {"json": body}
        response = await client.post("/v1/messages", **given)
    assert response.status_code == 400
    error = response.json()
    assert error["type"] == "error"
    assert error["error"]["type"] == "invalid_request_error"
    assert re.match(rf"{re.escape(field)}: .+\. .+", error["error"]["message"]) or field == "body"


async def test_other_doors_are_closed() -> None:
    async with httpx2.AsyncClient(transport=OfflineTransport(), base_url="http://offline") as client:
        for response in (await client.get("/v1/messages"), await client.post("/v1/models", json={})):
            assert response.status_code == 404
            assert response.json()["error"]["type"] == "not_found_error"


async def test_a_history_is_read_whole_and_paid_for_whole() -> None:
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "search_course_content",
        "input": {"query": "vector clocks"},
    }
    found = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": '{"course": "Clocks", "text": "Vector clocks."}',
    }

    def asked(said: str) -> dict[str, Any]:
        messages = [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": [{"type": "text", "text": said}, use]},
            {"role": "user", "content": [found]},
        ]
        return {"model": "any-model", "max_tokens": 500, "messages": messages}

    async with offline_client() as client:
        short = await client.messages.create(**asked("I look."))
        long = await client.messages.create(**asked("I look. " * 100))
    assert "Vector clocks." in short.content[0].text
    assert long.usage.input_tokens > short.usage.input_tokens + 100
