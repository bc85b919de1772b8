"""Exceptions of HTTP and database clients, classified without importing any of the clients. Pure.

An exception is recognised by a response with a status code (httpx, requests and packages built on them), by a
`status` attribute (aiohttp), or by the name of its class, for a timeout or a lost connection. Any other
exception counts as an error of the tool.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.tools.calls import ErrorType

_TIMEOUT_NAMES = frozenset(
    ("Timeout", "TimeoutException", "PoolTimeout", "ServerTimeoutError", "TimeoutError")
)
_CONNECTION_NAMES = frozenset(
    ("TransportError", "ConnectionError", "ClientConnectionError", "ConnectError", "NetworkError")
)
_RETRY_AFTER_S_MAX = 86_400.0
_QUERY = re.compile(r"(?<=\w)\?[^\s'\"<>]+(?=[\s'\"<>]|$)")


@dataclass(frozen=True, slots=True)
class Classification:
    """The classification of an exception."""

    error_type: ErrorType
    retry_after_s: float | None = None


def classify_exception(error: BaseException) -> Classification | None:
    """Return the classification of a foreign exception; None if it is not recognised."""
    if (status := _status_of(error)) is not None:
        return classify_status(status, _retry_after_s(error))
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & _TIMEOUT_NAMES:
        return Classification("timeout")
    if names & _CONNECTION_NAMES:
        return Classification("api_failure")
    return None


def code_of(error: BaseException) -> str:
    """Return the `code` attribute of an exception if it is text, as with many clients; else an empty text."""
    code = _attribute(error, "code")
    return code if isinstance(code, str) else ""


def shortened(message: str) -> str:
    """Return the first line of a client's message, without URL queries, which may hold keys."""
    return _QUERY.sub("", message.strip().partition("\n")[0])


def classify_status(status: int, retry_after_s: float | None = None) -> Classification | None:
    """Return the classification of an HTTP status; None for a status that is not a known failure."""
    match status:
        case 400 | 409 | 411 | 412 | 413 | 414 | 415 | 422:
            return Classification("validation_error")
        case 401 | 403 | 407 | 451:
            return Classification("permission_denied")
        case 404 | 410:
            return Classification("not_found")
        case 408 | 504:
            return Classification("timeout", retry_after_s)
        case 429:
            return Classification("rate_limit", retry_after_s)
        case _ if 500 <= status < 600:
            return Classification("api_failure", retry_after_s)
        case _:
            return None


def _status_of(error: BaseException) -> int | None:
    response = _attribute(error, "response")
    for status in (_attribute(response, "status_code"), _attribute(error, "status")):
        if type(status) is int and 100 <= status < 600:
            return status
    return None


def _retry_after_s(error: BaseException) -> float | None:
    """Return the Retry-After header in seconds; None if it is a date, so that the contract's backoff applies."""
    response = _attribute(error, "response")
    headers = _attribute(error if response is None else response, "headers")
    if not isinstance(headers, Mapping):
        return None
    header = str(headers.get("retry-after") or headers.get("Retry-After") or "")
    if not header.isascii() or not header.isdigit():
        return None
    return min(float(header), _RETRY_AFTER_S_MAX)


def _attribute(holder: object, name: str) -> Any:
    """Return an attribute; None if it does not exist or reading it raises."""
    try:
        return getattr(holder, name, None)
    except Exception:  # noqa: BLE001  # a property runs foreign code
        return None
