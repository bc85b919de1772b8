"""The model's name and the available keys decide which provider replies."""

import subprocess
import sys

import pytest
from antiphon_shared.process.errors import ConfigurationError

from reasoning_engine.access import Access, load_access
from reasoning_engine.choice import choose_model
from reasoning_engine.model_errors import NoAccess
from reasoning_engine.port import OwnedModel
from reasoning_engine.prompt import build_prompt
from reasoning_engine.reply import parse
from reasoning_engine.settings import Provider
from tests.messages_server import Scripted, serving
from tests.reasoning_engine.builders import BRIEFING, CHAT, CLAUDE, CONNECTION_S, a_request
from tests.rows import each_row


async def replying_model(model: OwnedModel, model_id: str) -> str:
    prompt = build_prompt(a_request(), BRIEFING, [], model_id, 100)
    return parse(await model.reply(prompt, lambda text: None, lambda headers: None)).model


async def test_each_model_is_asked_by_its_own_wire_format() -> None:
    yes = Scripted(text="Yes.", model="m", repeat=True)
    async with serving(yes) as server:
        access = Access(base_url=server.url, openai_base_url=f"{server.url}/v1", openai_api_key="k")
        model = choose_model("auto", access, CONNECTION_S, {"ANTIPHON_MODELS": (CLAUDE, CHAT)})
        assert await replying_model(model, CLAUDE) == await replying_model(model, CHAT) == "m"
        await model.close()
    assert [request.path for request in server.requests] == ["/v1/messages", "/v1/chat/completions"]
    assert server.requests[1].headers["authorization"] == "Bearer k"
    assert server.requests[1].body["model"] == "gpt-x"


async def test_a_query_may_name_a_model_of_the_other_wire_format_where_there_is_access() -> None:
    async with serving(Scripted(text="Yes.", model="m")) as server:
        access = Access(base_url=server.url, openai_base_url=f"{server.url}/v1")
        model = choose_model("auto", access, CONNECTION_S, {"ANTIPHON_MODEL": (CLAUDE,)})
        assert await replying_model(model, CHAT) == "m"
        await model.close()


async def test_without_access_to_the_messages_api_its_models_are_refused() -> None:
    access = Access(openai_base_url="http://127.0.0.1:1/v1")
    model = choose_model("auto", access, CONNECTION_S, {"ANTIPHON_MODEL": (CHAT,)})
    with pytest.raises(NoAccess, match=f"no access to the model {CLAUDE}"):
        await replying_model(model, CLAUDE)
    await model.close()


@pytest.mark.parametrize(
    ("provider", "access", "named"),
    [
        ("auto", Access(), "no API key or base URL is set for 'openai:gpt-x'"),
        ("auto", Access(api_key="sk-ant-x"), "no API key or base URL is set for 'openai:gpt-x'"),
        ("anthropic", Access(api_key="sk-ant-x", openai_api_key="k"), "PROVIDER is anthropic"),
        ("auto", Access(openai_api_key="k k"), "OPENAI_API_KEY"),
        ("auto", Access(openai_base_url="server/v1"), "OPENAI_BASE_URL"),
    ],
)
def test_access_that_cannot_work_is_refused_by_name_before_the_start(
    provider: str, access: Access, named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named) as refused:
        choose_model(provider, access, CONNECTION_S, {"ANTIPHON_MODEL": (CHAT,)})  # type: ignore[arg-type]  # a name
    assert refused.value.hint


@each_row(
    ("access", "named"),
    [
        (Access("k", openai_api_key="ké"), "OPENAI_API_KEY contains a character"),
        (Access("k", openai_base_url="server/v1"), "OPENAI_BASE_URL is not an http or https address"),
    ],
)
async def test_unusable_access_is_reported_to_the_query_that_needs_it(access: Access, named: str) -> None:
    model = choose_model("auto", access, CONNECTION_S, {"ANTIPHON_MODEL": (CLAUDE,)})
    with pytest.raises(NoAccess, match=named):
        await replying_model(model, CHAT)
    await model.close()


@pytest.mark.parametrize("access", [Access(), Access(openai_api_key="k")])
async def test_the_offline_model_replies_where_no_model_of_chat_completions_is_named(access: Access) -> None:
    """A key of OpenAI's in the environment of a shell changes nothing."""
    model = choose_model("auto", access, CONNECTION_S, {"ANTIPHON_MODEL": (CLAUDE,)})
    assert model.is_offline
    offline = choose_model("offline", access, CONNECTION_S, {"ANTIPHON_MODEL": (CHAT,)})
    assert await replying_model(offline, CHAT) == "offline"


@pytest.mark.parametrize(
    ("provider", "key", "url"),
    [("auto", None, None), ("offline", None, None), ("offline", "sk-1", "https://elsewhere/path")],
)
async def test_the_offline_model_replies_when_nothing_else_can_or_may(
    provider: Provider, key: str | None, url: str | None
) -> None:
    model = choose_model(provider, Access(api_key=key, base_url=url), CONNECTION_S)
    assert await replying_model(model, CLAUDE) == "offline"


@pytest.mark.parametrize("provider", ["auto", "anthropic"])
@pytest.mark.parametrize("key", [None, "sk-1"])
async def test_a_custom_server_is_used_with_any_provider(provider: Provider, key: str | None) -> None:
    async with serving(Scripted(text="Yes.", model="local")) as server:
        model = choose_model(provider, Access(api_key=key, base_url=server.url), CONNECTION_S)
        assert await replying_model(model, CLAUDE) == "local"
        await model.close()


def test_a_provider_without_access_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no API key or base URL is set") as refused:
        choose_model("anthropic", Access(), CONNECTION_S)
    assert "ANTHROPIC_API_KEY" in refused.value.hint


@pytest.mark.parametrize("provider", ["auto", "anthropic"])
@pytest.mark.parametrize("key", [None, "sk-ant-some"])
def test_a_foreign_model_name_requires_a_custom_server(provider: Provider, key: str | None) -> None:
    """The rule includes a missing key: the offline model would otherwise reply under the foreign name."""
    named = {"ANTIPHON_MODEL": ("gpt-5",)}
    with pytest.raises(ConfigurationError, match=r"^ANTIPHON_MODEL: 'gpt-5' is not a Claude model") as no:
        choose_model(provider, Access(api_key=key), CONNECTION_S, named)
    assert "Set ANTHROPIC_BASE_URL to a server" in no.value.hint
    assert "name it openai:gpt-5 for chat completions" in no.value.hint
    choose_model(provider, Access(api_key=key, base_url="http://127.0.0.1:1"), CONNECTION_S, named)
    choose_model("offline", Access(api_key=key), CONNECTION_S, named)


def test_access_is_read_from_the_variables_of_the_sdks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://server/v1")
    access = load_access()
    assert (access.to_chat, access.openai_api_key, access.openai_base_url) == (True, "k", "http://server/v1")


_WITHOUT_SDK = """
import sys
import reasoning_engine.component
from reasoning_engine.access import Access
from reasoning_engine.choice import choose_model
choose_model("auto", Access(), 1.0)
assert not {"openai", "anthropic"} & set(sys.modules), "the offline model needs no SDK"
choose_model("auto", Access(openai_api_key="k"), 1.0, {"ANTIPHON_MODEL": ("openai:gpt-x",)})
assert "openai" in sys.modules and "anthropic" not in sys.modules
for name in [name for name in sys.modules if name.split(".")[0] == "openai" or ".chat.model" in name]:
    del sys.modules[name]
choose_model("auto", Access(api_key="k", openai_api_key="k"), 1.0, {"ANTIPHON_MODEL": ("claude-sonnet-5-5",)})
assert "openai" not in sys.modules
sys.modules["openai"] = None
choose_model("auto", Access(openai_api_key="k"), 1.0, {"ANTIPHON_MODEL": ("openai:gpt-x",)})
"""


def test_each_sdk_is_imported_only_for_models_that_are_named_and_missed_by_name() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_SDK], capture_output=True, text=True, check=False)
    assert "ConfigurationError: Models named openai: need the OpenAI SDK" in done.stderr
