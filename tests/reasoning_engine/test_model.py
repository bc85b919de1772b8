"""Which model replies, and how much of a reply is taken in."""

import pytest

from reasoning_engine.model import REPLY_CHARACTERS_MAX, AnthropicModel, choose_model
from reasoning_engine.prompt import build_prompt, tool_params
from reasoning_engine.reply import parse
from reasoning_engine.settings import Provider
from shared.errors import ConfigurationError
from tests.messages_server import Scripted, serving
from tests.reasoning_engine.builders import BRIEFING, OUTLINE, SEARCH, a_request, ask


async def who_replies(model: AnthropicModel) -> str:
    prompt = build_prompt(a_request(), BRIEFING, tool_params([SEARCH, OUTLINE]), "m", 1024)
    try:
        return parse(await model.reply(prompt, lambda text: None, lambda headers: None)).model
    finally:
        await model.close()


@pytest.mark.parametrize(
    ("provider", "key", "url"),
    [("auto", None, None), ("offline", None, None), ("offline", "sk-1", "https://elsewhere/path")],
)
async def test_the_offline_model_replies_when_nothing_else_can_or_may(
    provider: Provider, key: str | None, url: str | None
) -> None:
    assert await who_replies(choose_model(provider, key, url, 5)) == "offline"


@pytest.mark.parametrize("provider", ["auto", "anthropic"])
@pytest.mark.parametrize("key", [None, "sk-1"])
async def test_a_server_of_ones_own_replies_with_a_key_or_without(
    provider: Provider, key: str | None
) -> None:
    async with serving(Scripted(text="Yes.", model="local")) as server:
        assert await who_replies(choose_model(provider, key, server.url, 5)) == "local"
    assert server.requests[0].headers["authorization"] == f"Bearer {key or 'no-key'}"


@pytest.mark.parametrize(
    ("key", "url", "named"),
    [
        (None, None, "ANTHROPIC_API_KEY"),
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
        choose_model("anthropic", key, url, 5)
    assert key is None or key not in str(refused.value)
    assert refused.value.hint


async def test_a_reply_without_an_end_is_not_taken_in() -> None:
    long = Scripted(text="x" * (REPLY_CHARACTERS_MAX + 1), piece=50_000)
    asked = await ask(long, max_attempts=1)
    assert asked.failed.error.code == "unreadable_reply"
    assert str(REPLY_CHARACTERS_MAX) in asked.failed.error.message
