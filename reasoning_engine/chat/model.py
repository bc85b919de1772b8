"""Chat completions: the only file that uses the OpenAI SDK. It is imported only for such a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx2
import openai
from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.values import JsonObject
from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletionChunk
from pydantic_core import to_json

from reasoning_engine.access import checked_key, checked_url
from reasoning_engine.chat.reply import ChatReply
from reasoning_engine.chat.request import chat_request
from reasoning_engine.exchange_record import message_of
from reasoning_engine.model_errors import MODEL_ERRORS, ErrorResponse, Interrupted, UnreadableReply
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply_progress import at_reply_begin, notify_text
from reasoning_engine.response_limit import bound_reading

if TYPE_CHECKING:
    from anthropic.types import Message


class ChatModel:
    """A server of chat completions, streamed; each call is attempted once."""

    def __init__(self, api_key: str | None, base_url: str | None, timeout: httpx2.Timeout) -> None:
        """Raise ConfigurationError for a key or an address that cannot work."""
        # OpenAI's newer models refuse the older name, and many other servers know only that.
        self._limit_name = "max_tokens" if base_url else "max_completion_tokens"
        self._client = AsyncOpenAI(
            api_key=checked_key(api_key, "OPENAI_API_KEY"),
            base_url=checked_url(base_url, "OPENAI_BASE_URL"),
            max_retries=0,
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks={"response": [bound_reading]}),
        )

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> "Message":
        """Make one call; see Model. Raises Interrupted when the reply had begun, UnreadableReply when it never did."""
        reply, request = ChatReply(), dict[str, Any]()
        try:
            request = chat_request(prompt, self._limit_name)
            stream: AsyncStream[ChatCompletionChunk] = await self._client.chat.completions.create(**request)
            async with stream:
                on_headers(stream.response.headers)
                await _read_stream(stream, reply, on_text)
        except (*MODEL_ERRORS, openai.OpenAIError) as error:
            raised = _classifiable_error(error)
            if reply.has_begun:
                raise Interrupted(_message(reply, request)) from raised
            raise raised from raised.__cause__
        if not reply.has_begun:
            raise UnreadableReply("the server's answer holds no completion")
        if not reply.finish:
            raise Interrupted(_message(reply, request))
        return _message(reply, request)

    async def close(self) -> None:
        await self._client.close()


async def _read_stream(stream: AsyncStream[ChatCompletionChunk], reply: ChatReply, on_text: OnText) -> None:
    """Read the stream to its end. Raises UnreadableReply when the reply grows too long."""
    async for chunk in stream:
        has_begun = reply.has_begun
        text = reply.take(chunk.to_dict(mode="python", warnings=False))
        if reply.has_begun and not has_begun:
            await at_reply_begin()
        if text:
            await notify_text(text, on_text)


def _message(reply: ChatReply, request: JsonObject) -> "Message":
    prompt = {name: request[name] for name in ("messages", "tools", "response_format") if name in request}
    tokens = 0 if reply.has_usage else estimate_tokens(to_json(prompt).decode())
    return message_of(reply.message(tokens))


def _classifiable_error(error: Exception) -> Exception:
    """Return an SDK error as one that can be classified without the SDK, with the original as its cause."""
    match error:
        case openai.APIStatusError():
            raised: Exception = ErrorResponse(error.status_code, error.response.headers, _body(error.body))
        case openai.APITimeoutError():
            raised = TimeoutError(str(error))
        case openai.APIConnectionError():
            raised = httpx2.ConnectError(str(error), request=error.request)
        case openai.APIResponseValidationError():
            raised = UnreadableReply(str(error))
        case openai.APIError():  # within a stream, whose status was 200
            raised = ErrorResponse(200, {}, _body(error.body))
        case openai.OpenAIError():
            raised = UnreadableReply(str(error))
        case _:
            return error
    raised.__cause__ = error
    return raised


def _body(body: object) -> Any:
    """Return the body of an error as it was sent: the SDK has unwrapped its `error`."""
    return {"error": body} if isinstance(body, Mapping) else body
