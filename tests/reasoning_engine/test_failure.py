"""Every failure has a code, a message for people, and a verdict on trying again."""

from typing import get_args

import httpx2
import pytest
from anthropic import APIConnectionError, APIResponseValidationError, CredentialsError, RateLimitError
from antiphon_shared.events import ReasoningFailed

from reasoning_engine.failure import WHAT_TO_DO, Code, failure
from reasoning_engine.model import classifiable_error
from reasoning_engine.model_errors import UnreadableReply, classify
from tests.rows import each_row

REQUEST = httpx2.Request("POST", "http://model/v1/messages")
SUNDAY = "Sun, 22 Nov 2026 12:00:00 GMT"


def a_rate_limit(body: object = None, **headers: str) -> RateLimitError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return RateLimitError("no", response=httpx2.Response(429, headers=named, request=REQUEST), body=body)


def test_every_code_is_documented_and_has_advice() -> None:
    assert set(WHAT_TO_DO) == set(get_args(Code))
    assert all(code in (ReasoningFailed.__doc__ or "") for code in WHAT_TO_DO)


@each_row(
    ("headers", "expected_s"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
        ({"retry_after_ms": "soon", "retry_after": "7"}, 7.0),
        ({"retry_after": "Sun, 22 Nov 2026 12:00:20 GMT", "date": SUNDAY}, 20.0),
        ({"retry_after": "Sun, 22 Nov 2026 11:00:00 GMT", "date": SUNDAY}, 0.0),
        ({"retry_after": "Sun, 22 Nov 2026 12:00:20 GMT"}, None),
        ({"retry_after": "Sun, 22 Nov 2026 12:00:20", "date": SUNDAY}, None),
        ({"retry_after": "1e300"}, 86_400.0),
        ({"retry_after": "Sun, 22 Nov 2099 12:00:20 GMT", "date": SUNDAY}, 86_400.0),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "tomorrow", "date": "today"}, None),
        ({"retry_after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form_it_comes(
    headers: dict[str, str], expected_s: float | None
) -> None:
    assert classify(classifiable_error(a_rate_limit(**headers))).retry_after_s == expected_s


def test_a_spent_account_is_not_asked_again() -> None:
    body = {"error": {"type": "rate_limit_error", "details": {"error_code": "contract_spend_limit_reached"}}}
    error = classify(classifiable_error(a_rate_limit(body))).error
    assert (error.code, error.retryable) == ("permission_denied", False)


@pytest.mark.parametrize("body", [None, "<html>", 7, [], {"error": 7}, {"error": {"type": 7, "message": 7}}])
def test_an_error_body_of_any_shape_is_classified_by_its_status(body: object) -> None:
    assert classify(classifiable_error(a_rate_limit(body))).error.code == "rate_limited"


@each_row(
    ("error", "code"),
    [
        (APIConnectionError(request=REQUEST), "connection_failed"),
        (httpx2.ReadError("gone"), "connection_failed"),
        (httpx2.ReadTimeout("slow"), "timeout"),
        (TimeoutError(), "timeout"),
        (httpx2.DecodingError("zip"), "unreadable_reply"),
        (CredentialsError("none"), "authentication_failed"),
        (APIResponseValidationError(httpx2.Response(200, request=REQUEST), None), "unreadable_reply"),
        (UnreadableReply("no message"), "unreadable_reply"),
        (IndexError(), "unreadable_reply"),
        (OSError("socket"), "connection_failed"),
    ],
)
def test_other_errors_have_their_code(error: Exception, code: str) -> None:
    assert classify(classifiable_error(error)).error.code == code


def test_the_innermost_cause_is_named() -> None:
    error = APIConnectionError(request=REQUEST)
    error.__cause__ = httpx2.ConnectError("Name or service not known")
    assert "Name or service not known" in classify(classifiable_error(error)).error.message


def test_a_server_message_is_kept_short_and_encodable() -> None:
    message = failure("server_error", "x" * 5000 + "\ud800").error.message
    assert len(message) < 700
    assert "\udfff" not in failure("server_error", "\udfff").error.message


def test_a_key_that_the_server_quotes_is_not_passed_on() -> None:
    key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz"
    message = failure("authentication_failed", f"Incorrect API key provided: {key}").error.message
    assert message.startswith("Incorrect API key provided: [redacted]. ")


@pytest.mark.parametrize(
    "address", ["http://model:8080/v1/messages", "http://user:secret@model:8080/v1/messages"]
)
def test_a_model_that_cannot_be_reached_is_named_by_its_address(address: str) -> None:
    request = httpx2.Request("POST", address)
    error = APIConnectionError(request=request)
    error.__cause__ = httpx2.ConnectError("[Errno 111] Connection refused", request=request)
    classified = classify(classifiable_error(error)).error
    assert classified.message.startswith(
        "The model cannot be reached at http://model:8080: ConnectError: [Errno 111]"
    )
    assert "ANTHROPIC_BASE_URL" in classified.message
