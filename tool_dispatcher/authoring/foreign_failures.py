"""What the exceptions of HTTP and database clients say, read without importing any of them. Pure.

A client's exceptions are known by what they carry: a response with a status code (httpx, requests and what is
built on them), a `status` of their own (aiohttp), or a class whose name says that time or the connection ran
out. Whatever is not known here is the tool's own error.
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
    """What an exception says of a call."""

    error_type: ErrorType
    retry_after_s: float | None = None


def read(error: BaseException) -> Reading | None:
    """What a foreign exception says; None when it is none that we can read."""
    if (status := _status_of(error)) is not None:
        return of_status(status, _retry_after_s(error))
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & _OUT_OF_TIME:
        return Reading("timeout")
    if names & _OUT_OF_REACH:
        return Reading("api_failure")
    return None


def code_of(error: BaseException) -> str:
    """Return the code that an exception carries as text, as many clients' do; empty when it has none."""
    code = _carried(error, "code")
    return code if isinstance(code, str) else ""


def shortened(message: str) -> str:
    """A client's message without its advice to programmers, and without the query of an address, where keys stand."""
    return _QUERY.sub("", message.strip().partition("\n")[0])


def of_status(status: int, retry_after_s: float | None = None) -> Reading | None:
    """Return what an HTTP status says of a call; None when it says nothing of a failure that we know."""
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
    """The header in seconds; a date in it is left to the pauses of the contract."""
    response = _carried(error, "response")
    headers = _carried(error if response is None else response, "headers")
    if not isinstance(headers, Mapping):
        return None
    said = str(headers.get("retry-after") or headers.get("Retry-After") or "")
    if not said.isascii() or not said.isdigit():
        return None
    return min(float(said), _RETRY_AFTER_S_MAX)


def _carried(holder: object, name: str) -> Any:
    """An attribute, of which a foreign class may make anything."""
    try:
        return getattr(holder, name, None)
    except Exception:  # noqa: BLE001  # a property runs foreign code
        return None
