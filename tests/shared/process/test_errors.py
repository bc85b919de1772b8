"""Errors state what happened, what to do next, and whether a retry can help."""

import pytest
from antiphon_shared.process.errors import (
    AntiphonError,
    ConfigurationError,
    ErrorInfo,
    RedisUnavailable,
    TryLater,
    UnreadableEvent,
)


def test_an_error_shows_its_message_and_its_hint() -> None:
    error = ConfigurationError("PORT: too large.", hint="Use one below 65536.")
    assert str(error) == "PORT: too large. Use one below 65536."
    assert (error.message, error.hint) == ("PORT: too large.", "Use one below 65536.")
    assert str(ConfigurationError("PORT: too large.")) == "PORT: too large."


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (AntiphonError("x"), "internal_error", False),
        (ConfigurationError("x"), "configuration_error", False),
        (RedisUnavailable("x"), "redis_unavailable", True),
        (UnreadableEvent("x"), "unreadable_event", False),
        (TryLater("x", delay_s=1), "try_later", True),
    ],
)
def test_an_error_travels_with_its_code(error: AntiphonError, code: str, retryable: bool) -> None:
    assert ErrorInfo.of(error) == ErrorInfo(code=code, message="x", retryable=retryable)


def test_a_foreign_error_travels_by_its_name() -> None:
    assert ErrorInfo.of(KeyError("gone")).message == "KeyError: 'gone'"
    assert ErrorInfo.of(KeyError("gone")).code == "internal_error"


@pytest.mark.parametrize("error", [AntiphonError("x" * 10_000), ValueError("x" * 10_000)])
def test_the_message_that_travels_is_bounded(error: Exception) -> None:
    assert len(ErrorInfo.of(error).message) == 2000


def test_an_error_that_is_not_valid_unicode_is_still_sent() -> None:
    """A tool's message may hold a lone surrogate, as file names do."""
    ErrorInfo.of(ValueError("\ud800")).model_dump_json()
