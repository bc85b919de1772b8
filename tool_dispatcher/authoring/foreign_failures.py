"""Exceptions of HTTP and database clients, classified without importing any of the clients. Pure.

They are recognised by their attributes: a response with a status code (httpx, requests and packages built on
them), a `status` of their own (aiohttp), or a class name for a timeout or a lost connection. An exception
that is not recognised counts as the tool's own error.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.tools.calls import ErrorType

_OUT_OF_TIME = frozenset(("Timeout", "TimeoutException", "PoolTimeout", "ServerTimeoutError", "TimeoutError"))
_OUT_OF_REACH = frozenset(
    ("TransportError", "ConnectionError", "ClientConnectionError", "ConnectError", "NetworkError")
)
_RETRY_AFTER_S_MAX = 86_400.0
_QUERY = re.compile(r"(?<=\w)\?[^\s'\"<>]+(?=[\s'\"<>]|$)")


@dataclass(frozen=True, slots=True)
class Reading:
    """The classification of an exception."""

    error_type: ErrorType
    retry_after_s: float | None = None


def classify_exception(error: BaseException) -> Reading | None:
    """Return the classification of a foreign exception; None if it is not recognised."""
    if (status := _status_of(error)) is not None:
        return classify_status(status, _retry_after_s(error))
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & _OUT_OF_TIME:
        return Reading("timeout")
    if names & _OUT_OF_REACH:
        return Reading("api_failure")
    return None


def code_of(error: BaseException) -> str:
    """Return the code that an exception carries as text, as many clients' do, or an empty text."""
    code = _carried(error, "code")
    return code if isinstance(code, str) else ""


def shortened(message: str) -> str:
    """Return a client's message without its advice to programmers and without URL queries, which may hold keys."""
    return _QUERY.sub("", message.strip().partition("\n")[0])


def classify_status(status: int, retry_after_s: float | None = None) -> Reading | None:
    """Return the classification of an HTTP status; None for a status that is not a known failure."""
    match status:
        case 400 | 409 | 411 | 412 | 413 | 414 | 415 | 422:
            return Reading("validation_error")
        case 401 | 403 | 407 | 451:
            return Reading("permission_denied")
        case 404 | 410:
            return Reading("not_found")
        case 408 | 504:
            return Reading("timeout", retry_after_s)
        case 429:
            return Reading("rate_limit", retry_after_s)
        case _ if 500 <= status < 600:
            return Reading("api_failure", retry_after_s)
        case _:
            return None


def _status_of(error: BaseException) -> int | None:
    response = _carried(error, "response")
    for status in (_carried(response, "status_code"), _carried(error, "status")):
        if type(status) is int and 100 <= status < 600:
            return status
    return None


def _retry_after_s(error: BaseException) -> float | None:
    """Return the Retry-After header in seconds; None if it is a date, so that the contract's backoff applies."""
    response = _carried(error, "response")
    headers = _carried(error if response is None else response, "headers")
    if not isinstance(headers, Mapping):
        return None
    header = str(headers.get("retry-after") or headers.get("Retry-After") or "")
    if not header.isascii() or not header.isdigit():
        return None
    return min(float(header), _RETRY_AFTER_S_MAX)


def _carried(holder: object, name: str) -> Any:
    """Return an attribute; None if reading it raises, as a foreign class may do anything."""
    try:
        return getattr(holder, name, None)
    except Exception:  # noqa: BLE001  # a property runs foreign code
        return None
