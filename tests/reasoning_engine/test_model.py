"""A server of the Messages API: the access to it, and how much of a reply is taken in."""

import gzip

import pytest
from antiphon_shared.process.errors import ConfigurationError

from reasoning_engine import response_limit
from reasoning_engine.model import AnthropicModel, messages_model
from reasoning_engine.prompt import build_prompt, tool_params
from reasoning_engine.reply import parse
from reasoning_engine.reply_size import REPLY_CHARACTERS_MAX, REPLY_PARTS_MAX
from reasoning_engine.response_limit import ERROR_BYTES_MAX
from tests.messages_server import Scripted, serving
from tests.reasoning_engine.builders import BRIEFING, CONNECTION_S, OUTLINE, SEARCH, a_request, ask
from tests.rows import each_row


async def replying_model(model: AnthropicModel) -> str:
    prompt = build_prompt(a_request(), BRIEFING, tool_params([SEARCH, OUTLINE]), "m", 1024)
    try:
        return parse(await model.reply(prompt, lambda text: None, lambda headers: None)).model
    finally:
        await model.close()


@pytest.mark.parametrize("key", [None, "sk-1"])
async def test_a_server_of_ones_own_replies_with_a_key_or_without(key: str | None) -> None:
    async with serving(Scripted(text="Yes.", model="local")) as server:
        assert await replying_model(messages_model(key, server.url, CONNECTION_S)) == "local"
    assert server.requests[0].headers["authorization"] == f"Bearer {key or 'no-key'}"


@each_row(
    ("key", "url", "named"),
    [
        ("sk 1", None, "ANTHROPIC_API_KEY"),
        ("sk-1\n", None, "ANTHROPIC_API_KEY"),
        ("sk-é", None, "ANTHROPIC_API_KEY"),
        (None, "model.example", "ANTHROPIC_BASE_URL"),
        (None, "ftp://model.example", "ANTHROPIC_BASE_URL"),
        (None, "http://", "ANTHROPIC_BASE_URL"),
        (None, "http://model:port", "ANTHROPIC_BASE_URL"),
        (None, "http://model/v1/", "ends in /v1"),
    ],
)
def test_access_that_cannot_work_is_refused_by_name_before_the_start(
    key: str | None, url: str | None, named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named) as refused:
        messages_model(key, url, CONNECTION_S)
    assert key is None or key not in str(refused.value)
    assert refused.value.hint


async def test_a_reply_without_an_end_is_not_taken_in() -> None:
    long = Scripted(text="x" * (REPLY_CHARACTERS_MAX + 1), piece=50_000)
    asked = await ask(long, max_attempts=1)
    assert asked.failed.error.code == "unreadable_reply"
    assert str(REPLY_CHARACTERS_MAX) in asked.failed.error.message


async def test_a_reply_of_very_many_parts_is_not_taken_in() -> None:
    parts = [{"type": "tool_use", "id": "t", "name": "search", "input": {}}] * (REPLY_PARTS_MAX + 1)
    asked = await ask(Scripted(content=parts), max_attempts=1)
    assert asked.failed.error.code == "unreadable_reply"
    assert str(REPLY_PARTS_MAX) in asked.failed.error.message


@pytest.mark.parametrize("is_packed", [False, True])
async def test_a_response_body_without_text_is_bounded_too(
    is_packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_limit, "REPLY_BYTES_MAX", 1_000_000)
    body = b"data: " + b"x" * 1_100_000  # a line without an end
    sent = gzip.compress(body) if is_packed else body
    headers = {"content-type": "text/event-stream"} | ({"content-encoding": "gzip"} if is_packed else {})
    asked = await ask(Scripted(body=sent.decode("latin-1"), headers=headers), max_attempts=1)
    assert asked.failed.error.code == "unreadable_reply"
    assert "1000000 bytes" in asked.failed.error.message


async def test_an_endless_error_is_classified_by_its_status() -> None:
    """The rest of its body is not read: the server says how much is to come, and it never comes."""
    body = "x" * (ERROR_BYTES_MAX + 1)
    headers = {"retry-after": "7"}
    asked = await ask(Scripted(status=429, body=body, headers=headers, is_endless=True), max_attempts=1)
    assert asked.failed.error.code == "rate_limited"
