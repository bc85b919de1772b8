"""The record of an exchange with a model for replay: every request and reply as sent. Pure, apart from storing.

The parts that do not change from round to round, the system prompt and the tools, are stored once, under the
hash of their content.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from antiphon_shared.events.step_records import ExchangeRecord, ModelCall, ModelError
from antiphon_shared.text.storable import storable
from antiphon_shared.values import JsonObject
from pydantic import BaseModel
from pydantic_core import to_json

from reasoning_engine.failure import Failure, server_failure
from reasoning_engine.prompt import Prompt
from reasoning_engine.wires import Wire

if TYPE_CHECKING:
    from anthropic.types import Message, MessageParam

    from reasoning_engine.settings import EngineSettings

Keep = Callable[[bytes], Awaitable[str]]
"""Stores content that many sessions share; returns its hash."""
OnCall = Callable[[ModelCall], None]
"""Called with each call when it has ended."""

SHARED = ("system", "tools", "output_config")
_PARTS = ("usage", "stop_details")
"""Parts of a message that are objects with attributes."""
_EMPTY = {"role": None, "stop_reason": None}
"""Values for fields that a message lacks."""
RECORDED_HEADERS = (
    "content-type",
    "date",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
)
RECORDED_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-")


async def exchange_record(
    of: UUID,
    calls: Sequence[ModelCall],
    settings: "EngineSettings",
    default_model: str,
    is_offline: bool,
    keep: Keep,
    *,
    has_own_prompt: bool,
) -> ExchangeRecord:
    """Return the record of the calls made for one event; their large shared parts are stored first."""
    hashes: dict[str, None] = {}
    sent = []
    for call in calls:
        request = dict(call.request)
        for part in SHARED:
            if part in request:
                content = await keep(to_json(request[part]))
                hashes[content] = None
                request[part] = {"$content": content}
        sent.append(call.model_copy(update={"request": request}))
    return ExchangeRecord.trusted(
        of=of,
        outputs=0,
        kind="exchange",
        calls=tuple(sent),
        contents=tuple(hashes),
        is_offline=is_offline,
        max_output_tokens=settings.max_output_tokens,
        default_model=default_model,
        has_own_prompt=has_own_prompt,
        output_style=settings.output_style,
        tool_style=settings.tool_style,
        prices=settings.prices_in_force.model_dump(exclude_none=True),
    )


def request_json(prompt: Prompt) -> dict[str, Any]:
    """Return the parameters of a call as JSON; a continued message consists of the SDK's own blocks."""
    request: dict[str, Any] = dict(prompt)
    if len(prompt["messages"]) > 1:
        request["messages"] = [_message_param(message) for message in prompt["messages"]]
    return request


def message_json(message: "Message") -> dict[str, Any]:
    """Return a message, complete or not, as JSON that any reader accepts."""
    fields: dict[str, Any] = storable(message.to_dict(mode="python", warnings=False))
    return fields


def message_of(fields: JsonObject) -> "Message":
    """Return the message that `message_json` wrote, with its fields as attributes; total.

    The SDK's own constructor leaves unexpected values as they are, and so does this, a hundred times faster.
    """
    content = fields.get("content")
    parts = {name: _attributes(fields.get(name)) for name in _PARTS}
    parts["content"] = list(map(_attributes, content)) if isinstance(content, list) else content
    return cast("Message", PlainMessage(fields, _EMPTY | fields | parts))


class PlainMessage(SimpleNamespace):
    """A message with the attributes of the Anthropic SDK's, so that it is read and recorded in the same way."""

    def __init__(self, text: JsonObject, attributes: JsonObject) -> None:
        super().__init__(**attributes)
        self._text = text

    def to_dict(self, **how: Any) -> dict[str, Any]:
        return self._text


def _attributes(part: object) -> Any:
    return SimpleNamespace(**part) if isinstance(part, dict) else part


def failure_of(recorded: ModelError, wire: Wire = "messages") -> Failure:
    """Return the failure, classified again if a server has answered; else as recorded."""
    if recorded.status is None:
        return Failure(recorded.failure, recorded.retry_after_s)
    return server_failure(recorded.status, recorded.headers, recorded.body, wire)


def safe_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that reveal nothing about an account or a key."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in RECORDED_HEADERS or name.lower().startswith(RECORDED_PREFIXES)
    }


def _message_param(message: "MessageParam") -> dict[str, Any]:
    content: Any = message["content"]
    if not isinstance(content, str):
        content = list(map(_block_param, content))
    fields: dict[str, Any] = storable({**message, "content": content})
    return fields


def _block_param(block: Any) -> Any:
    """Return a block as JSON: an SDK block, one that `message_of` has made, or one that is JSON already."""
    if isinstance(block, SimpleNamespace):
        return vars(block)
    is_model = isinstance(block, BaseModel)
    return block.to_dict(mode="python", warnings=False) if is_model else block
