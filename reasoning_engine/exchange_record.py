"""What an exchange with a model leaves for a replay: every request and reply as sent. Pure, but for the keeping.

What is the same from round to round, the system prompt and the tools, is kept once under the hash of its content.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from anthropic import APIStatusError, BaseModel
from anthropic.types import Message, MessageParam
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall, ModelError
from antiphon_shared.memory.filing.storable import storable
from antiphon_shared.process.errors import UnreadableEvent
from httpx2 import Request, Response
from pydantic_core import to_json

from reasoning_engine.failure import MODEL_ERRORS, Failure, Interrupted, classify
from reasoning_engine.prompt import Prompt
from reasoning_engine.settings import EngineSettings

Keep = Callable[[bytes], Awaitable[str]]
"""Keeps content that many sessions share; returns its hash."""
OnCall = Callable[[ModelCall], None]
"""Told each call when it has ended."""

_SHARED = ("system", "tools")
_ORDINARY_ENDS = ("end_turn", "tool_use", "max_tokens")
_PLAIN_BLOCKS = ("text", "tool_use")
_SHOWN_HEADERS = frozenset(
    {"content-type", "date", "request-id", "retry-after", "retry-after-ms", "x-should-retry"}
)
_SHOWN_PREFIX = "anthropic-ratelimit-"


async def exchange_record(
    of: UUID,
    calls: Sequence[ModelCall],
    settings: EngineSettings,
    default_model: str,
    is_offline: bool,
    keep: Keep,
) -> ExchangeRecord:
    """The record of the calls made for one event; their large shared parts are kept first."""
    hashes: dict[str, None] = {}
    sent = []
    for call in calls:
        request = dict(call.request)
        for part in _SHARED:
            if part in request:
                content = await keep(to_json(request[part]))
                hashes[content] = None
                request[part] = {"$content": content}
        sent.append(call.model_copy(update={"request": request}))
    return ExchangeRecord(
        of=of,
        calls=tuple(sent),
        contents=tuple(hashes),
        is_offline=is_offline,
        max_output_tokens=settings.max_output_tokens,
        default_model=default_model,
        prices=settings.prices_in_force.model_dump(exclude_none=True),
    )


def request_json(prompt: Prompt) -> dict[str, Any]:
    """The parameters of a call as JSON. A message that is taken up again is made of the SDK's own blocks."""
    request: dict[str, Any] = dict(prompt)
    if len(prompt["messages"]) > 1:
        request["messages"] = [_message_param(message) for message in prompt["messages"]]
    return request


def message_json(message: Message) -> dict[str, Any]:
    """A message, whole or not, as JSON that any reader takes."""
    told: dict[str, Any] = storable(message.to_dict(mode="python", warnings=False))
    return told


def error_json(error: BaseException, classified: Failure) -> ModelError:
    """What went wrong, as the server told it and as it was classified."""
    cause = error.__cause__ if isinstance(error, Interrupted) and error.__cause__ else error
    return ModelError(
        failure=classified.error,
        retry_after_s=classified.retry_after_s,
        status=cause.status_code if isinstance(cause, APIStatusError) else None,
        headers=shown(classified.headers),
        body=storable(cause.body) if isinstance(cause, APIStatusError) else None,
        partial=message_json(error.partial) if isinstance(error, Interrupted) else None,
    )


def message_of(told: dict[str, Any]) -> Message:
    """The message that `message_json` told of, as leniently made as the SDK makes one. Raises UnreadableEvent."""
    try:
        return _plain(told) or Message.construct(**told)
    except MODEL_ERRORS as error:
        raise UnreadableEvent(f"a recorded message is none: {error}") from None


def _plain(told: dict[str, Any]) -> Message | None:
    """A message of text and calls alone, by its attributes, at which alone it is looked; None for any other.

    The SDK takes a hundred times as long to make one, which counts where thousands are read again.
    """
    content, usage = told.get("content"), told.get("usage")
    is_ordinary = told.get("stop_reason") in _ORDINARY_ENDS and "model" in told
    if not is_ordinary or not isinstance(content, list) or not isinstance(usage, dict):
        return None
    if not all(isinstance(block, dict) and block.get("type") in _PLAIN_BLOCKS for block in content):
        return None
    blocks = [SimpleNamespace(**block) for block in content]
    return cast("Message", SimpleNamespace(**told | {"content": blocks, "usage": SimpleNamespace(**usage)}))


def failure_of(told: ModelError) -> Failure:
    """What went wrong, classified anew where a server has answered; else as it was. Raises UnreadableEvent."""
    if told.status is None:
        return Failure(told.failure, told.retry_after_s)
    try:
        request = Request("POST", "https://recorded.invalid")
        response = Response(told.status, headers=told.headers, request=request)
        return classify(APIStatusError("recorded", response=response, body=told.body))
    except MODEL_ERRORS as error:
        raise UnreadableEvent(f"a recorded error is none: {error}") from None


def shown(headers: Mapping[str, str]) -> dict[str, str]:
    """Those of a server's headers that say nothing of an account or a key."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _SHOWN_HEADERS or name.lower().startswith(_SHOWN_PREFIX)
    }


def _message_param(message: MessageParam) -> dict[str, Any]:
    content: Any = message["content"]
    if not isinstance(content, str):
        content = [
            block.to_dict(mode="python", warnings=False) if isinstance(block, BaseModel) else block
            for block in content
        ]
    told: dict[str, Any] = storable({**message, "content": content})
    return told
