"""The one tool that sends events."""

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from ssl import SSLContext
from typing import Annotated, Any
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, Field, HttpUrl, ValidationError

from antiphon import ToolContext, ToolFailed, tool

from .checking import TYPE
from .delivery import Delivery, Event, deliver, shown
from .settings import WebhookSettings, configured

AT_ONCE = 25
"""The limit of concurrent deliveries."""
BODY_BYTES_MAX = 64_000
_WEEK_S = 7 * 86_400


class Dispatch(BaseModel):
    """Who has the event, and who has not."""

    type: str
    key: str = Field(description="What the receivers know this event by.")
    delivered: int
    failed: int
    deliveries: list[Delivery]


@tool(
    effect="write",
    idempotent=True,
    idempotency_ttl_s=_WEEK_S,
    error_propagation="partial-success",  # events are independent of each other
    repeat="ask",  # a receiver would act on it twice
    scopes=["webhooks:send"],
    timeout_s=60,
    retry=1,  # each address is retried by itself; the others have the event already
    example={"type": "order.shipped", "data": {"order": 1024, "carrier": "Gannet Post"}},
)
async def dispatch_event(
    type: Annotated[
        str,
        Field(
            max_length=100,
            pattern=TYPE,
            description="What happened: words in lower case with dots between them, such as order.shipped.",
        ),
    ],
    data: Annotated[dict[str, Any], Field(description="What there is to know about it, as JSON.")],
    context: ToolContext,
    to: Annotated[
        list[str] | None,
        Field(
            description="Only these of the configured receivers, by their `url`; all of them when left out."
        ),
    ] = None,
) -> Dispatch:
    """Tell every configured receiver that something happened. Each takes the event once."""
    body = json.dumps({"type": type, "data": data}, separators=(",", ":")).encode()
    if len(body) > BODY_BYTES_MAX:
        raise ToolFailed(
            "validation_error",
            f"The event has {len(body)} bytes; {BODY_BYTES_MAX} are allowed. Nothing was sent.",
            "Send less: put ids where whole records stand.",
        )
    settings = _settings()
    urls = _chosen(settings.urls, to)
    key = quote(context.idempotency_key)  # a header is ASCII, and ids from clients may not be
    event = Event(key, body, settings.secret.get_secret_value(), context.deadline)
    deliveries = await _deliver_to_all(event, urls)
    delivered = sum(one.status == "ok" for one in deliveries)
    if not delivered:
        raise _failed(deliveries)
    return Dispatch(
        type=type,
        key=key,
        delivered=delivered,
        failed=len(deliveries) - delivered,
        deliveries=deliveries,
    )


async def _deliver_to_all(event: Event, urls: Sequence[HttpUrl]) -> list[Delivery]:
    """Return the deliveries to all addresses, in order; at most `AT_ONCE` are in flight."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(url: HttpUrl) -> Delivery:
        async with places:
            return await deliver(event, url, client)

    limits = httpx2.Limits(max_connections=AT_ONCE)
    async with httpx2.AsyncClient(verify=_trusted(), limits=limits) as client:
        return await asyncio.gather(*map(one, urls))


def _chosen(urls: Sequence[HttpUrl], wanted: Sequence[str] | None) -> list[HttpUrl]:
    by_name = {shown(url): url for url in urls}
    if wanted is None:
        return list(urls)
    unknown = sum(name not in by_name for name in wanted)
    if not wanted or unknown:
        # Without the names themselves, as the model knows its own text.
        problem = f"{unknown} of the names in `to` are not receivers" if wanted else "The list `to` is empty"
        raise ToolFailed(
            "validation_error",
            f"{problem}. Nothing was sent.",
            f"Leave `to` out, or name some of: {', '.join(by_name)}.",
        )
    return [by_name[name] for name in dict.fromkeys(wanted)]


def _failed(deliveries: Sequence[Delivery]) -> ToolFailed:
    """Return the error for an event without a certain delivery: the worst of all."""
    problems = [one.error for one in deliveries if one.error is not None]
    unknown = [problem for problem in problems if problem.error_type == "outcome_unknown"]
    worst = (unknown or problems)[0]
    others = "; ".join(f"{one.url}: {one.code}" for one in deliveries[:10]) if len(deliveries) > 1 else ""
    action = {
        "permission_denied": "Do not call this tool again; say that WEBHOOK_SECRET has to be the same on both sides.",
        "validation_error": "Do not send the same again; correct the event, or say that it was refused.",
    }.get(worst.error_type)
    message = f"{worst.message} Of {len(deliveries)} receivers: {others}." if others else worst.message
    return ToolFailed(worst.error_type, message, action, worst.retry_after_s, worst.code)


def _settings() -> WebhookSettings:
    try:
        settings = configured()
    except ValidationError as error:
        faults = error.errors(include_input=False)
        names = ", ".join(dict.fromkeys(f"WEBHOOK_{fault['loc'][0]}".upper() for fault in faults))
        raise _not_set_up(names) from None
    if not settings.urls:
        raise _not_set_up("WEBHOOK_URLS")
    return settings


def _not_set_up(names: str) -> ToolFailed:
    return ToolFailed(
        "permission_denied",
        f"No event can be sent from here: {names} must be set, and is not, or not rightly. Nothing was sent.",
        "Do not call this tool again; say that the operator has to set it up.",
    )


@cache
def _trusted() -> SSLContext:
    """Return the trusted certificates, read once: that takes longer than a request."""
    return httpx2.create_ssl_context()
