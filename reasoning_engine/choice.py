"""The choice of models: those that the environment gives access to, each with the wire format that its name implies."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import httpx2
from antiphon_shared.process.errors import ConfigurationError

from reasoning_engine.access import Access, timeout_of
from reasoning_engine.model_errors import NoAccess
from reasoning_engine.port import Model, OnHeaders, OnText, OwnedModel
from reasoning_engine.prompt import Prompt
from reasoning_engine.settings import Provider
from reasoning_engine.wires import wire_of

if TYPE_CHECKING:
    from anthropic.types import Message

    from reasoning_engine.chat.model import ChatModel


def choose_model(
    provider: Provider,
    access: Access,
    timeout_s: float,
    models: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> OwnedModel:
    """Return the models that `provider` and the environment select. Raises ConfigurationError.

    `models` holds, by variable, the names of the models that will be called. A model named `openai:NAME` is
    called by chat completions, any other by the Messages API.
    """
    chat = {
        variable: [name for name in names if wire_of(name) == "chat"] for variable, names in models.items()
    }
    has_chat_models = any(chat.values())
    if provider == "offline" or not (has_chat_models or (access.to_chat and access.to_messages)):
        return _messages_model(provider, access, timeout_s, models)
    if has_chat_models:
        _check_chat(provider, access, chat)
    others = {
        variable: [name for name in names if name not in chat[variable]] for variable, names in models.items()
    }
    messages = _messages_model(provider, access, timeout_s, others) if access.to_messages else None
    return RoutedModel(messages, access, timeout_of(timeout_s), is_needed=has_chat_models)


def _messages_model(
    provider: Provider, access: Access, timeout_s: float, models: Mapping[str, Iterable[str]]
) -> OwnedModel:
    """Return the models of the Messages API, or the offline model if there is no access to any."""
    if provider != "offline" and not access.base_url:
        _check_names(models)
    if provider == "anthropic" and not access.to_messages:
        raise ConfigurationError(
            "ANTIPHON_REASONING_ENGINE_PROVIDER is anthropic, but no API key or base URL is set.",
            hint="Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or the provider to auto or offline.",
        )
    if provider == "offline" or not access.to_messages:
        from reasoning_engine.offline_model import (
            OfflineModel,  # hundreds of rules, which a server has no use for
        )

        return OfflineModel()
    from reasoning_engine.model import messages_model  # the SDK takes long to import

    return messages_model(access.api_key, access.base_url, timeout_s)


def _check_names(models: Mapping[str, Iterable[str]]) -> None:
    """Raise ConfigurationError for a model that Anthropic's own server cannot have."""
    for variable, names in models.items():
        for name in names:
            if name and "claude" not in name.lower():
                raise ConfigurationError(
                    f"{variable}: {name!r} is not a Claude model, and ANTHROPIC_BASE_URL is not set.",
                    hint="Set ANTHROPIC_BASE_URL to a server that speaks the Messages API and has "
                    f"this model; or name it openai:{name} for chat completions; or use a Claude model, such as "
                    "claude-sonnet-5-5; or set "
                    "ANTIPHON_REASONING_ENGINE_PROVIDER=offline.",
                )


def _check_chat(provider: Provider, access: Access, chat: Mapping[str, Iterable[str]]) -> None:
    """Raise ConfigurationError for a configured model that cannot be called by chat completions."""
    variable, name = next((variable, name) for variable, names in chat.items() for name in names)
    if provider == "anthropic":
        raise ConfigurationError(
            f"{variable}: {name!r} needs chat completions, but ANTIPHON_REASONING_ENGINE_PROVIDER is "
            "anthropic.",
            hint="Set the provider to auto, or name a model without openai:.",
        )
    if not access.to_chat:
        raise ConfigurationError(
            f"{variable}: no API key or base URL is set for {name!r}.",
            hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL to a server such as vLLM, Ollama or llama.cpp.",
        )


class RoutedModel:
    """The models of both wire formats; each call goes by the format that the model's name implies."""

    is_offline = False

    def __init__(
        self, messages: OwnedModel | None, access: Access, timeout: httpx2.Timeout, is_needed: bool
    ) -> None:
        """Raise ConfigurationError if chat completions are needed, and their SDK or their access cannot be used."""
        self._messages, self._access, self._timeout = messages, access, timeout
        self._chat: ChatModel | None = self._opened() if is_needed else None

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> "Message":
        """Make one call; see Model. Raises NoAccess too."""
        model: Model | None = self._messages
        if wire_of(prompt["model"]) == "chat":
            try:
                model = self._chat = self._chat or self._opened()
            except ConfigurationError as error:
                raise NoAccess(str(error)) from None
        if model is None:
            raise NoAccess(f"There is no access to the model {prompt['model']}")
        return await model.reply(prompt, on_text, on_headers)

    async def close(self) -> None:
        for model in (self._messages, self._chat):
            if model is not None:
                await model.close()

    def _opened(self) -> "ChatModel":
        try:
            from reasoning_engine.chat.model import ChatModel  # an extra, which takes long to import
        except ImportError as error:
            raise ConfigurationError(
                f"Models named openai: need the OpenAI SDK, which cannot be imported: {error}.",
                hint="Install it: pip install 'antiphon[openai]'",
            ) from None
        return ChatModel(self._access.openai_api_key, self._access.openai_base_url, self._timeout)
