"""What calls to the model raise, and what it means. Pure.

Errors of the SDKs are put into these words where the SDKs are called, so that none of them is imported here.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx2
from antiphon_shared.events.step_records import ModelError
from antiphon_shared.memory.filing.storable import storable

from reasoning_engine.exchange_record import message_json, shown
from reasoning_engine.failure import Failure, failure, of_answer
from reasoning_engine.wires import Wire

if TYPE_CHECKING:
    from anthropic.types import Message


class Interrupted(Exception):
    """A reply that broke off, caused by the error it is raised from, or ended without its closing event."""

    def __init__(self, partial: "Message") -> None:
        super().__init__("the stream ended before the reply was whole")
        self.partial = partial


class Answered(Exception):
    """A server's answer that is an error."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Any) -> None:
        super().__init__(f"status {status}")
        self.status, self.headers, self.body = status, headers, body


class NoAccess(Exception):
    """A model whose server no setting gives access to."""


class UnreadableReply(Exception):
    """What the server sent is not a reply, or not one that may be taken in."""


MODEL_ERRORS = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    Answered,
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
"""All that a call through the SDK raises for what a server does: the SDK checks little of what it is sent,
and stumbles over a reply of another shape with Python's own errors."""


def classify(error: BaseException, wire: Wire = "messages") -> Failure:
    """What one of MODEL_ERRORS means, of a model that is asked by `wire`."""
    match error:
        case Interrupted():
            cause = error.__cause__
            return classify(cause, wire) if cause else failure("connection_failed", str(error), wire=wire)
        case Answered():
            return of_answer(error.status, error.headers, error.body, wire)
        case httpx2.TimeoutException() | TimeoutError():
            return failure("timeout", "The model did not reply in time", wire=wire)
        case httpx2.DecodingError():
            return failure("unreadable_reply", str(error), wire=wire)
        case httpx2.HTTPError() | OSError():
            what = f"The model cannot be reached{_at(error)}: {_root(error)}"
            return failure("connection_failed", what, wire=wire)
        case NoAccess():
            return failure("authentication_failed", str(error), wire=wire)
        case _:
            return failure("unreadable_reply", f"The reply cannot be read: {_root(error)}", wire=wire)


def error_json(error: BaseException, classified: Failure) -> ModelError:
    """What went wrong, as the server told it and as it was classified."""
    cause = error.__cause__ if isinstance(error, Interrupted) and error.__cause__ else error
    return ModelError(
        failure=classified.error,
        retry_after_s=classified.retry_after_s,
        status=cause.status if isinstance(cause, Answered) else None,
        headers=shown(classified.headers),
        body=storable(cause.body) if isinstance(cause, Answered) else None,
        partial=message_json(error.partial) if isinstance(error, Interrupted) else None,
    )


def _at(error: BaseException) -> str:
    """` at http://host:port`, where the error tells whom it is about; without what else its address holds."""
    try:
        url = error.request.url  # type: ignore[attr-defined]  # not all of them have one
    except (AttributeError, RuntimeError):
        return ""
    return f" at {url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


def _root(error: BaseException) -> str:
    """The innermost cause, which says most."""
    seen = 0
    while error.__cause__ is not None and seen < 10:
        error, seen = error.__cause__, seen + 1
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
