"""The Messages API: the only file that uses the Anthropic SDK."""

import json
from typing import Any

import httpx2
from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    CredentialsError,
    DefaultAsyncHttpxClient,
)
from anthropic.lib.streaming import AsyncMessageStream
from anthropic.types import Message

from reasoning_engine.access import checked_key, checked_url, timeout_of
from reasoning_engine.model_errors import MODEL_ERRORS, ErrorResponse, Interrupted, NoAccess, UnreadableReply
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply_progress import at_reply_begin, notify_text
from reasoning_engine.reply_size import ReplySize
from reasoning_engine.response_limit import bound_reading


class AnthropicModel:
    """A server of the Messages API, streamed; each call is attempted once."""

    is_offline = False

    def __init__(self, client: AsyncAnthropic) -> None:
        self._client = client

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        """Make one call; see Model. Raises Interrupted when the reply had begun, UnreadableReply when it never did."""
        try:
            return await self._reply(prompt, on_text, on_headers)
        except AnthropicError as error:
            raise classifiable_error(error) from error

    async def _reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        async with self._client.messages.stream(**prompt) as stream:
            on_headers(stream.response.headers)
            received = _ReceivedReply(on_text)
            try:
                await received.listen(stream)
            except (*MODEL_ERRORS, AnthropicError) as error:
                if received.has_begun:
                    raise Interrupted(stream.current_message_snapshot) from classifiable_error(error)
                raise
            if not received.has_begun:
                raise UnreadableReply("the server's answer holds no message")
            message = stream.current_message_snapshot
        if not received.is_complete:
            raise Interrupted(message)
        received.mark_broken_arguments(message)
        return message

    async def close(self) -> None:
        await self._client.close()


def classifiable_error(error: Exception) -> Exception:
    """Return an SDK error as one that can be classified without the SDK, with the original as its cause.

    Any other error is returned unchanged.
    """
    match error:
        case APIStatusError():
            raised: Exception = ErrorResponse(error.status_code, error.response.headers, error.body)
        case APITimeoutError():
            raised = TimeoutError(str(error))
        case APIConnectionError():
            raised = httpx2.ConnectError(str(error), request=error.request)
        case CredentialsError():
            raised = NoAccess(str(error))
        case AnthropicError():
            raised = UnreadableReply(str(error))
        case _:
            return error
    raised.__cause__ = error
    return raised


class _ReceivedReply:
    """The state of a reply that arrives as a stream."""

    def __init__(self, on_text: OnText) -> None:
        self.has_begun = False
        self.is_complete = False
        self._on_text = on_text
        self._arguments: dict[int, list[str]] = {}
        self._size = ReplySize()

    async def listen(self, stream: AsyncMessageStream[Any]) -> None:
        """Read the stream to its end. Raises UnreadableReply when the reply grows too long."""
        async for event in stream:
            if event.type == "text":
                self._size.add_text(event.text)
                await notify_text(event.text, self._on_text)
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                self._size.add_text(event.delta.partial_json)
                self._arguments.setdefault(event.index, []).append(event.delta.partial_json)
            elif event.type == "content_block_start":
                self._size.add_part()
            elif event.type == "message_start":
                self.has_begun = True
                await at_reply_begin()
            elif event.type == "message_stop":
                self.is_complete = True

    def mark_broken_arguments(self, message: Message) -> None:
        """Restore arguments that are not complete JSON to their text; the SDK would complete them."""
        for index, pieces in self._arguments.items():
            written = "".join(pieces)
            try:
                json.loads(written or "{}")
            except (ValueError, RecursionError):
                message.content[index].input = written  # type: ignore[union-attr]  # reply.py reports it to the model


def messages_model(api_key: str | None, base_url: str | None, timeout_s: float) -> AnthropicModel:
    """Return the models of a server of the Messages API. Raises ConfigurationError."""
    timeout = timeout_of(timeout_s)
    return AnthropicModel(
        AsyncAnthropic(
            api_key=checked_key(api_key, "ANTHROPIC_API_KEY"),
            base_url=checked_url(base_url, "ANTHROPIC_BASE_URL"),
            max_retries=0,
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"response": [bound_reading]}),
        )
    )
