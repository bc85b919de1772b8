"""Errors, with a message, the next action, and whether a retry can help."""

from pydantic import Field

from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.values import Value


class AntiphonError(Exception):
    """The base of all errors of Antiphon. Programs may match on `code`, which is stable.

    `hint` is the next action. `retryable`: whether a retry may succeed later.
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
    """Redis cannot be reached, or does not reply in time."""

    code = "redis_unavailable"
    retryable = True


class UnreadableEvent(AntiphonError):
    """A stream entry is not a valid event."""

    code = "unreadable_event"


class MissingFile(UnreadableEvent):
    """A file that does not exist."""

    code = "missing_file"


class NewerFormat(UnreadableEvent):
    """An event or document written by a later release than this one."""

    code = "newer_format"

    def __init__(self, what: str, written: int, read: int) -> None:
        super().__init__(
            f"{what} has format {written}; this release reads formats up to {read}.",
            hint="Start the release that wrote it. If the message became a dead letter, requeue it then with "
            "`antiphon dead requeue`.",
        )


class TryLater(AntiphonError):
    """The error of a handler that cannot do its work yet; the message is delivered again after `delay_s`."""

    code = "try_later"
    retryable = True

    def __init__(self, message: str, *, delay_s: float) -> None:
        super().__init__(message)
        self.delay_s = delay_s


class ErrorInfo(Value):
    """An error in the form used in events and answers."""

    code: str = Field(description="Stable code of the error, for programs.")
    message: str = Field(description="Description of the error and the next step, for people.")
    retryable: bool = False

    @classmethod
    def of(cls, error: BaseException, redactor: Redactor = WELL_KNOWN) -> "ErrorInfo":
        """Return an exception in this form, without the secrets that `redactor` knows."""
        if isinstance(error, AntiphonError):
            message, code, retryable = str(error), error.code, error.retryable
        else:
            message, code, retryable = f"{type(error).__name__}: {error}", "internal_error", False
        return cls(code=code, message=_sendable(redactor.text(message)), retryable=retryable)


def _sendable(text: str) -> str:
    """Return a text of bounded length without lone surrogates, which file names may hold and JSON cannot."""
    return text[:2000].encode("utf-8", "replace").decode()
