"""The model: the one file that talks to the Anthropic SDK."""

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

import httpx2
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.lib.streaming import AsyncMessageStream
from anthropic.types import Message
from antiphon_shared.process.errors import ConfigurationError

from reasoning_engine.answer_bytes import bound
from reasoning_engine.hearing import reply_begins, text_came
from reasoning_engine.model_errors import MODEL_ERRORS, Interrupted, UnreadableReply
from reasoning_engine.offline.transport import OfflineTransport
from reasoning_engine.prompt import Prompt
from reasoning_engine.settings import Provider

CONNECT_TIMEOUT_S = 10.0
REPLY_CHARACTERS_MAX = 500_000
REPLY_BLOCKS_MAX = 1_000
_OFFLINE_URL = "https://offline.invalid"
_KEYLESS = "no-key"
"""The SDK wants some key, also for a server that asks for none."""

OnText = Callable[[str], None]
"""Told each piece of text as it arrives."""
OnHeaders = Callable[[Mapping[str, str]], None]
"""Told the headers of a reply, before anything else of it; those of an error are in its failure."""


class Model(Protocol):
    """Whoever replies to a prompt."""

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        """One call, one whole message. Raises one of MODEL_ERRORS."""


class AnthropicModel:
    """A server that speaks the Messages API, streamed; each call is tried once."""

    def __init__(self, client: AsyncAnthropic, is_offline: bool = False) -> None:
        self._client, self.is_offline = client, is_offline

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        """See Model. Raises Interrupted when the reply had begun, UnreadableReply when it never did."""
        async with self._client.messages.stream(**prompt) as stream:
            on_headers(stream.response.headers)
            heard = _Heard(on_text)
            try:
                await heard.listen(stream)
            except MODEL_ERRORS as error:
                if heard.has_begun:
                    raise Interrupted(stream.current_message_snapshot) from error
                raise
            if not heard.has_begun:
                raise UnreadableReply("the server's answer holds no message")
            message = stream.current_message_snapshot
        if not heard.is_whole:
            raise Interrupted(message)
        heard.mark_broken_arguments(message)
        return message

    def with_headers(self, headers: Mapping[str, str]) -> "AnthropicModel":
        """The same, with these headers on each request."""
        return AnthropicModel(self._client.with_options(default_headers=headers), self.is_offline)

    async def close(self) -> None:
        await self._client.close()


class _Heard:
    """What has come of one stream."""

    def __init__(self, on_text: OnText) -> None:
        self.has_begun = False
        self.is_whole = False
        self._on_text = on_text
        self._arguments: dict[int, list[str]] = {}
        self._characters = self._blocks = 0

    async def listen(self, stream: AsyncMessageStream[Any]) -> None:
        """Hear the stream out. Raises UnreadableReply when it will not end."""
        async for event in stream:
            if event.type == "text":
                self._count(event.text)
                await text_came(event.text, self._on_text)
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                self._count(event.delta.partial_json)
                self._arguments.setdefault(event.index, []).append(event.delta.partial_json)
            elif event.type == "content_block_start":
                self._blocks += 1
                if self._blocks > REPLY_BLOCKS_MAX:
                    raise UnreadableReply(f"it has more than {REPLY_BLOCKS_MAX} parts")
            elif event.type == "message_start":
                self.has_begun = True
                await reply_begins()
            elif event.type == "message_stop":
                self.is_whole = True

    def mark_broken_arguments(self, message: Message) -> None:
        """Leave arguments that are not whole JSON as the text they came in; the SDK would complete them."""
        for index, pieces in self._arguments.items():
            written = "".join(pieces)
            try:
                json.loads(written or "{}")
            except (ValueError, RecursionError):
                message.content[index].input = written  # type: ignore[union-attr]  # reply.py tells the model

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > REPLY_CHARACTERS_MAX:
            raise UnreadableReply(f"it is longer than {REPLY_CHARACTERS_MAX} characters")


def choose_messages_model(
    provider: Provider,
    api_key: str | None,
    base_url: str | None,
    timeout_s: float,
    models: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> AnthropicModel:
    """The model that is asked by the Messages API, or the offline model. Raises ConfigurationError.

    `models` are the names it will be asked for, by the variable that says so.
    """
    if not base_url and provider != "offline":
        _check_names(models)
    if provider == "anthropic" and not (api_key or base_url):
        raise ConfigurationError(
            "ANTIPHON_REASONING_ENGINE_PROVIDER is anthropic, but there is no access to it.",
            hint="Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or the provider to auto or offline.",
        )
    if provider == "offline" or not (api_key or base_url):
        return AnthropicModel(_offline_client(), is_offline=True)
    timeout = timeout_of(timeout_s)
    return AnthropicModel(
        AsyncAnthropic(
            api_key=checked_key(api_key, "ANTHROPIC_API_KEY") if api_key else _KEYLESS,
            base_url=checked_url(base_url, "ANTHROPIC_BASE_URL") if base_url else None,
            max_retries=0,
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"response": [bound]}),
        )
    )


def timeout_of(timeout_s: float) -> httpx2.Timeout:
    return httpx2.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S))


def _check_names(models: Mapping[str, Iterable[str]]) -> None:
    """Raises ConfigurationError for a model that Anthropic's own server cannot have."""
    for variable, names in models.items():
        for name in names:
            if name and "claude" not in name.lower():
                raise ConfigurationError(
                    f"{variable}: {name!r} is no Claude model, and ANTHROPIC_BASE_URL is not set.",
                    hint="Set ANTHROPIC_BASE_URL to a server that speaks the Messages API and has this model; or take "
                    "a Claude model, such as claude-sonnet-5-5; or set ANTIPHON_REASONING_ENGINE_PROVIDER=offline.",
                )


def _offline_client() -> AsyncAnthropic:
    http_client = DefaultAsyncHttpxClient(transport=OfflineTransport())
    return AsyncAnthropic(api_key="offline", base_url=_OFFLINE_URL, max_retries=0, http_client=http_client)


def checked_key(api_key: str, variable: str) -> str:
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise ConfigurationError(
            f"{variable} holds a character that no key has.",
            hint="Set it again, without quotes or spaces.",
        )
    return api_key


def checked_url(base_url: str, variable: str) -> str:
    hint = "It looks like https://host or https://host/path."
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"{variable} is not an address: {error}.", hint=hint) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(f"{variable} is not an http or https address.", hint=hint)
    if variable == "ANTHROPIC_BASE_URL" and url.path.rstrip("/").endswith("/v1"):
        raise ConfigurationError(
            "ANTHROPIC_BASE_URL ends in /v1.", hint="Leave that away: it is added to every request."
        )
    return base_url
