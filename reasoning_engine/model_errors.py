"""What calls to the model raise, from the SDK's exceptions to a classified failure. Pure."""

import httpx2
from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    CredentialsError,
)
from anthropic.types import Message
from antiphon_shared.events.step_records import ModelError
from antiphon_shared.memory.filing.storable import storable

from reasoning_engine.exchange_record import message_json, shown
from reasoning_engine.failure import Failure, failure, of_answer


class Interrupted(Exception):
    """A reply that broke off, caused by the error it is raised from, or ended without its closing event."""

    def __init__(self, partial: Message) -> None:
        super().__init__("the stream ended before the reply was whole")
        self.partial = partial


class UnreadableReply(Exception):
    """What the server sent is not a reply, or not one that may be taken in."""


MODEL_ERRORS = (
    AnthropicError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    Interrupted,
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


def classify(error: BaseException) -> Failure:
    """What one of MODEL_ERRORS means."""
    match error:
        case Interrupted():
            return classify(error.__cause__) if error.__cause__ else failure("connection_failed", str(error))
        case APIStatusError():
            return of_answer(error.status_code, error.response.headers, error.body)
        case APITimeoutError() | httpx2.TimeoutException() | TimeoutError():
            return failure("timeout", "The model did not reply in time")
        case httpx2.DecodingError():
            return failure("unreadable_reply", str(error))
        case APIConnectionError() | httpx2.HTTPError() | OSError():
            return failure("connection_failed", f"The model cannot be reached{_at(error)}: {_root(error)}")
        case CredentialsError():
            return failure("authentication_failed", str(error))
        case _:
            return failure("unreadable_reply", f"The reply cannot be read: {_root(error)}")


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
