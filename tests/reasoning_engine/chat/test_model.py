"""Errors of the SDK for chat completions, as the engine classifies them without it."""

import httpx2
import openai
import pytest

from reasoning_engine.chat.model import _classifiable_error
from reasoning_engine.model_errors import ErrorResponse, UnreadableReply

_REQUEST = httpx2.Request("POST", "http://host/v1")
_RESPONSE = httpx2.Response(429, headers={"retry-after": "7"}, request=_REQUEST)
_ERRORS: tuple[tuple[Exception, type[Exception], str], ...] = (
    (openai.RateLimitError("Slow down.", response=_RESPONSE, body={"message": "m"}), ErrorResponse, ""),
    (openai.APITimeoutError(_REQUEST), TimeoutError, "Request timed out."),
    (openai.APIConnectionError(message="No way.", request=_REQUEST), httpx2.ConnectError, "No way."),
    (openai.APIResponseValidationError(_RESPONSE, None, message="Odd."), UnreadableReply, "Odd."),
    (openai.APIError("In a stream.", _REQUEST, body={"message": "m"}), ErrorResponse, ""),
    (openai.OpenAIError("No key."), UnreadableReply, "No key."),
)


@pytest.mark.parametrize(("error", "kind", "message"), _ERRORS, ids=lambda one: getattr(one, "__name__", ""))
def test_each_error_of_the_sdk_has_one_that_is_classified(
    error: Exception, kind: type[Exception], message: str
) -> None:
    raised = _classifiable_error(error)
    assert type(raised) is kind
    assert raised.__cause__ is error
    assert message in str(raised)


def test_an_answer_keeps_its_status_its_headers_and_its_body() -> None:
    answered = _classifiable_error(_ERRORS[0][0])
    assert isinstance(answered, ErrorResponse)
    assert (answered.status, answered.headers["retry-after"]) == (429, "7")
    assert answered.body == {"error": {"message": "m"}}
    in_stream = _classifiable_error(_ERRORS[4][0])
    assert isinstance(in_stream, ErrorResponse)
    assert (in_stream.status, in_stream.body) == (200, {"error": {"message": "m"}})


def test_an_error_of_other_code_is_passed_on() -> None:
    error = KeyError("a")
    assert _classifiable_error(error) is error
