"""The delivery of one event to one address: signed, and retried while that may help and there is time."""

import asyncio
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import httpx2
from pydantic import BaseModel, Field, HttpUrl, ValidationError

from .signature import KEY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign

ATTEMPTS_MAX = 4
_PAUSE_S, _PAUSE_S_MAX = 0.25, 4.0
_TIMEOUT = httpx2.Timeout(5.0, connect=2.0)
_ATTEMPT_S = 6.0
"""The time limit of one attempt: none begins that would outlast the call."""

Code = Literal[
    "DELIVERED",
    "DUPLICATE",
    "UNREACHABLE",
    "NO_ANSWER",
    "NOT_BELIEVED",
    "LIMITED",
    "FAILED",
    "REFUSED",
    "OUT_OF_TIME",
]
ErrorType = Literal["api_failure", "outcome_unknown", "permission_denied", "rate_limit", "validation_error"]


class Problem(BaseModel):
    """Why a receiver does not have the event, or may not have it."""

    code: Code
    error_type: ErrorType
    message: str
    retry_after_s: float | None = None


class Delivery(BaseModel):
    """What came of one address."""

    url: str = Field(description="Without what may be secret in it.")
    status: Literal["ok", "error"]
    code: Code
    attempts: int
    error: Problem | None = None


@dataclass(frozen=True)
class Event:
    """The content to send, and the key by which a receiver recognises it."""

    key: str
    body: bytes
    secret: str
    deadline: datetime

    @property
    def time_left_s(self) -> float:
        return (self.deadline - datetime.now(UTC)).total_seconds()


async def deliver(event: Event, url: HttpUrl, client: httpx2.AsyncClient) -> Delivery:
    """Send the event until the receiver has it, refuses it, or time or attempts run out."""
    attempts, was_unknown = 0, False
    if event.time_left_s < _ATTEMPT_S:
        late = _problem("OUT_OF_TIME", "api_failure", "There was no time left for it. Nothing was sent.")
        return Delivery(url=shown(url), status="error", code=late.code, attempts=0, error=late)
    while True:
        attempts += 1
        delivery = await _sent(event, url, client)
        if not isinstance(delivery, Problem):
            return Delivery(url=shown(url), status="ok", code=delivery, attempts=attempts)
        was_unknown |= delivery.error_type == "outcome_unknown"
        pause_s = _pause_s(attempts, delivery)
        if pause_s is None or attempts >= ATTEMPTS_MAX or pause_s + _ATTEMPT_S > event.time_left_s:
            break
        await asyncio.sleep(pause_s)
    if was_unknown and delivery.error_type != "outcome_unknown":  # a refusal does not undo an earlier attempt
        delivery = delivery.model_copy(update={"error_type": "outcome_unknown"})
    return Delivery(url=shown(url), status="error", code=delivery.code, attempts=attempts, error=delivery)


def shown(url: HttpUrl) -> str:
    """Return an address without user, password and query."""
    port = "" if url.port in (None, 80, 443) else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}{url.path or ''}"


async def _sent(event: Event, url: HttpUrl, client: httpx2.AsyncClient) -> Code | Problem:
    """Send the event once, with the present time and a new signature."""
    timestamp = int(time.time())
    headers = {
        "Content-Type": "application/json",
        KEY_HEADER: event.key,
        TIMESTAMP_HEADER: str(timestamp),
        SIGNATURE_HEADER: sign(event.secret, timestamp, event.key, event.body),
    }
    try:
        response = await client.post(str(url), content=event.body, headers=headers, timeout=_TIMEOUT)
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
        return _problem("UNREACHABLE", "api_failure", "The receiver cannot be reached. Nothing was sent.")
    except httpx2.RequestError as error:
        message = f"The event was sent, but no answer came back ({type(error).__name__})."
        return _problem("NO_ANSWER", "outcome_unknown", message)
    if response.status_code < 300:
        return "DUPLICATE" if _is_duplicate(response) else "DELIVERED"
    return _refused(response)


def _refused(response: httpx2.Response) -> Problem:
    match response.status_code:
        case 401 | 403:
            message = "The receiver does not believe our signature. It did nothing."
            return _problem("NOT_BELIEVED", "permission_denied", message)
        case 429:
            wait = response.headers.get("retry-after", "")
            message = "The receiver takes no more events for now. It did nothing."
            wait_s = float(wait) if wait.isdecimal() else None
            return _problem("LIMITED", "rate_limit", message, retry_after_s=wait_s)
        case status if status >= 500:
            return _problem("FAILED", "api_failure", f"The receiver failed with status {status}.")
        case status:
            message = f"The receiver refused the event with status {status}. It did nothing."
            return _problem("REFUSED", "validation_error", message)


def _pause_s(attempt: int, problem: Problem) -> float | None:
    """Return the pause before the next attempt; None when another one would not help."""
    if problem.error_type in ("permission_denied", "validation_error"):
        return None
    own_s = min(_PAUSE_S * (1 << (attempt - 1)), _PAUSE_S_MAX) * random.uniform(0.5, 1)  # noqa: S311  # no secret
    return max(own_s, problem.retry_after_s or 0)


class _Answer(BaseModel):
    is_duplicate: bool = False


def _is_duplicate(response: httpx2.Response) -> bool:
    """Return whether the receiver reports a duplicate; its status already says that it has the event."""
    try:
        return _Answer.model_validate_json(response.content).is_duplicate
    except ValidationError:
        return False


def _problem(code: Code, error_type: ErrorType, message: str, **more: Any) -> Problem:
    return Problem(code=code, error_type=error_type, message=message, **more)
