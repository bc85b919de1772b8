"""Exceptions of calls to a model, and their classification. Pure.

The SDKs' errors are translated into these where the SDKs are called, so that this file imports no SDK.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import httpx2
from antiphon_shared.events.step_records import ModelError
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.text.storable import storable

from reasoning_engine.exchange_record import message_json, safe_headers
from reasoning_engine.failure import Failure, failure, server_failure
from reasoning_engine.wires import Wire

if TYPE_CHECKING:
    from anthropic.types import Message


class Interrupted(Exception):
    """A reply that broke off, caused by the error it is raised from, or that ended without its closing event."""

    def __init__(self, partial: "Message") -> None:
        super().__init__("the stream ended before the reply was complete")
        self.partial = partial


class ErrorResponse(Exception):
    """An error response of a server."""

    def __init__(self, status: int, headers: Mapping[str, str], body: object) -> None:
        super().__init__(f"status {status}")
        self.status, self.headers, self.body = status, headers, body


class NoAccess(Exception):
    """A model whose server no setting gives access to."""


class UnreadableReply(Exception):
    """The server's response is not a reply, or exceeds the limits."""


MODEL_ERRORS = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    ErrorResponse,
    Interrupted,
    NoAccess,
    UnreadableReply,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    RuntimeError,
)
"""All exceptions that a call through an SDK raises because of a server: the SDKs check little of a response,
and fail on one of another shape with Python's own errors.
"""


def hide_secrets(error: BaseException, redactor: Redactor) -> None:
    """Remove secrets from the body of an error response, which may quote a refused key."""
    response = error.__cause__ if isinstance(error, Interrupted) else error
    if isinstance(response, ErrorResponse):
        response.body = redactor.json(response.body)


def classify(error: BaseException, wire: Wire = "messages") -> Failure:
    """Return the meaning of one of MODEL_ERRORS, for a model called by `wire`."""
    match error:
        case Interrupted():
            cause = error.__cause__
            return classify(cause, wire) if cause else failure("connection_failed", str(error), wire=wire)
        case ErrorResponse():
            return server_failure(error.status, error.headers, error.body, wire)
        case httpx2.TimeoutException() | TimeoutError():
            return failure("timeout", "The model did not reply in time", wire=wire)
        case httpx2.DecodingError():
            return failure("unreadable_reply", str(error), wire=wire)
        case httpx2.HTTPError() | OSError():
            problem = f"The model cannot be reached{_at_address(error)}: {_root(error)}"
            return failure("connection_failed", problem, wire=wire)
        case NoAccess():
            return failure("authentication_failed", str(error), wire=wire)
        case _:
            return failure("unreadable_reply", f"The reply cannot be read: {_root(error)}", wire=wire)


def error_json(error: BaseException, classified: Failure) -> ModelError:
    """Return the error as the server sent it and as it was classified."""
    cause = error.__cause__ if isinstance(error, Interrupted) and error.__cause__ else error
    return ModelError(
        failure=classified.error,
        retry_after_s=classified.retry_after_s,
        status=cause.status if isinstance(cause, ErrorResponse) else None,
        headers=safe_headers(classified.headers),
        body=storable(cause.body) if isinstance(cause, ErrorResponse) else None,
        partial=message_json(error.partial) if isinstance(error, Interrupted) else None,
    )


def _at_address(error: BaseException) -> str:
    """Return ` at http://host:port` where the error has a request; without credentials, path and query."""
    try:
        url = error.request.url  # type: ignore[attr-defined]  # some have none
    except (AttributeError, RuntimeError):
        return ""
    return f" at {url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


def _root(error: BaseException) -> str:
    """Return the innermost cause, the most informative one."""
    seen = 0
    while error.__cause__ is not None and seen < 10:
        error, seen = error.__cause__, seen + 1
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
