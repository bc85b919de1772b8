"""What an exchange with a model leaves for a replay: every request and reply as sent. Pure, but for the keeping.

What is the same from round to round, the system prompt and the tools, is kept once under the hash of its content.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from anthropic import APIStatusError
from anthropic.types import Message
from pydantic_core import to_json

from reasoning_engine.failure import Failure, Interrupted
from reasoning_engine.settings import EngineSettings
from shared.filing.storable import storable
from shared.step_records import ExchangeRecord, ModelCall, ModelError

Keep = Callable[[bytes], Awaitable[str]]
"""Keeps content that many sessions share; returns its hash."""
OnCall = Callable[[ModelCall], None]
"""Told each call when it has ended."""

_SHARED = ("system", "tools")
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
        prices=settings.prices_set,
    )


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


def shown(headers: Mapping[str, str]) -> dict[str, str]:
    """Those of a server's headers that say nothing of an account or a key."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _SHOWN_HEADERS or name.lower().startswith(_SHOWN_PREFIX)
    }
