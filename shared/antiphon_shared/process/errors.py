"""Errors: what happened, what to do next, and whether trying again can help."""

from pydantic import Field

from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.values import Value


class AntiphonError(Exception):
    """What every error of ours is. `code` is stable and safe to match on.

    `hint` says what to do next. `retryable` says whether the same thing may succeed later.
    """

    code: str = "internal_error"
    retryable: bool = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint


class ConfigurationError(AntiphonError):
    """A setting is unknown, malformed or out of range."""

    code = "configuration_error"


class RedisUnavailable(AntiphonError):
    """Redis cannot be reached, or does not answer in time."""

    code = "redis_unavailable"
    retryable = True


class UnreadableEvent(AntiphonError):
    """A stream entry is not an event we understand."""

    code = "unreadable_event"


class NewerFormat(UnreadableEvent):
    """What was written by a later release than this one."""

    code = "newer_format"

    def __init__(self, what: str, written: int, read: int) -> None:
        super().__init__(
            f"{what} has format {written}, and this release reads up to {read}.",
            hint="Start the release that wrote it. A message that was set aside for this goes back to it with "
            "`antiphon dead requeue`.",
        )


class TryLater(AntiphonError):
    """A handler cannot do its work yet; the delivery is handed back and returns after `delay_s`."""

    code = "try_later"
    retryable = True

    def __init__(self, message: str, *, delay_s: float) -> None:
        super().__init__(message)
        self.delay_s = delay_s


class ErrorInfo(Value):
    """An error as it travels in events and answers."""

    code: str = Field(description="Stable word for what happened, for programs.")
    message: str = Field(description="What happened and what to do next, for people.")
    retryable: bool = False

    @classmethod
    def of(cls, error: BaseException, redactor: Redactor = WELL_KNOWN) -> "ErrorInfo":
        """The wire form of any exception, without the secrets that `redactor` knows."""
        if isinstance(error, AntiphonError):
            said, code, retryable = str(error), error.code, error.retryable
        else:
            said, code, retryable = f"{type(error).__name__}: {error}", "internal_error", False
        return cls(code=code, message=_sendable(redactor.text(said)), retryable=retryable)


def _sendable(text: str) -> str:
    """Bounded, and without the lone surrogates that no JSON can carry and file names may hold."""
    return text[:2000].encode("utf-8", "replace").decode()
