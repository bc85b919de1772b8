"""The one tool that sends events."""

import json
import time
from functools import cache
from ssl import SSLContext
from typing import Annotated, Any
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, Field, ValidationError

from antiphon import Backoff, ToolContext, ToolFailed, tool
from examples.webhooks.settings import WebhookSettings, configured
from examples.webhooks.signature import KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign

BODY_BYTES_MAX = 64_000
_WEEK_S = 7 * 86_400
_TIMEOUT = httpx2.Timeout(5.0, connect=2.0)


class Receipt(BaseModel):
    """The receiver has the event."""

    type: str
    key: str = Field(description="What the receiver knows this event by.")
    is_duplicate: bool = Field(description="Whether it had the event before: nothing was done again.")


@tool(
    effect="write",
    idempotent=True,
    idempotency_ttl_s=_WEEK_S,
    error_propagation="partial-success",  # events have nothing to do with each other
    scopes=["webhooks:send"],
    timeout_s=10,
    retry=4,
    backoff=Backoff(strategy="exponential", initial_ms=250, max_ms=4_000),
    example={"type": "order.shipped", "data": {"order": 1024, "carrier": "Gannet Post"}},
)
async def dispatch_event(
    type: Annotated[
        str,
        Field(
            max_length=100,
            pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$",
            description="What happened: words in lower case with dots between them, such as order.shipped.",
        ),
    ],
    data: Annotated[dict[str, Any], Field(description="What there is to know about it, as JSON.")],
    context: ToolContext,
) -> Receipt:
    """Tell the configured receiver that something happened. It takes each event once."""
    body = json.dumps({"type": type, "data": data}, separators=(",", ":")).encode()
    if len(body) > BODY_BYTES_MAX:
        raise ToolFailed(
            "validation_error",
            f"The event has {len(body)} bytes; {BODY_BYTES_MAX} are allowed. Nothing was sent.",
            "Send less: put ids where whole records stand.",
        )
    key = quote(context.idempotency_key)  # a header is ASCII, and ids that clients choose may not be
    response = await _post(_settings(), key, body)
    if response.status_code >= 300:
        raise _refused(response)
    return Receipt(type=type, key=key, is_duplicate=_is_duplicate(response))


class _Answer(BaseModel):
    is_duplicate: bool = False


def _is_duplicate(response: httpx2.Response) -> bool:
    """What the receiver says of it, if anything: that it has the event is in its status."""
    try:
        return _Answer.model_validate_json(response.content).is_duplicate
    except ValidationError:
        return False


def _settings() -> WebhookSettings:
    try:
        settings = configured()
    except ValidationError as error:
        names = ", ".join(f"WEBHOOK_{fault['loc'][0]}".upper() for fault in error.errors(include_input=False))
        raise _not_set_up(names) from None
    if settings.url is None:
        raise _not_set_up("WEBHOOK_URL")
    return settings


def _not_set_up(names: str) -> ToolFailed:
    return ToolFailed(
        "permission_denied",
        f"No event can be sent from here: {names} must be set, and is not, or not rightly. Nothing was sent.",
        "Do not call this tool again; say that the operator has to set it up.",
    )


async def _post(settings: WebhookSettings, key: str, body: bytes) -> httpx2.Response:
    """Signed anew for each attempt: the timestamp is when it is sent. Raises ToolFailed."""
    timestamp = int(time.time())
    headers = {
        "Content-Type": "application/json",
        KEY_HEADER: key,
        TIMESTAMP_HEADER: str(timestamp),
        SIGNATURE_HEADER: sign(settings.secret.get_secret_value(), timestamp, key, body),
    }
    try:
        async with httpx2.AsyncClient(timeout=_TIMEOUT, verify=_trusted()) as client:
            return await client.post(str(settings.url), content=body, headers=headers)
    except (httpx2.ConnectError, httpx2.ConnectTimeout):
        raise ToolFailed("api_failure", "The receiver cannot be reached. Nothing was sent.") from None
    except httpx2.RequestError as error:
        raise ToolFailed(
            "outcome_unknown", f"The event was sent, but no answer came back ({error.__class__.__name__})."
        ) from None


@cache
def _trusted() -> SSLContext:
    """Made once: reading the certificates takes longer than a request."""
    return httpx2.create_ssl_context()


def _refused(response: httpx2.Response) -> ToolFailed:
    match response.status_code:
        case 401 | 403:
            return ToolFailed(
                "permission_denied",
                "The receiver does not believe our signature. It did nothing.",
                "Do not call this tool again; say that WEBHOOK_SECRET has to be the same on both sides.",
            )
        case 429:
            wait = response.headers.get("retry-after", "")
            return ToolFailed(
                "rate_limit",
                "The receiver takes no more events for now. It did nothing.",
                retry_after_s=float(wait) if wait.isdecimal() else None,
            )
        case status if status >= 500:
            return ToolFailed("api_failure", f"The receiver failed with status {status}.")
        case status:
            return ToolFailed(
                "validation_error",
                f"The receiver refused the event with status {status}. It did nothing.",
                "Do not send the same again; correct the event, or say that it was refused.",
            )
