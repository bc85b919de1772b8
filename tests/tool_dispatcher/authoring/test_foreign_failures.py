"""Exceptions of foreign clients, and their meaning for a call."""

from typing import Any

import httpx2
import pytest

from tests.rows import each_row
from tool_dispatcher.authoring.failures import error_of
from tool_dispatcher.authoring.foreign_failures import Classification, classify_exception

REQUEST = httpx2.Request("POST", "http://127.0.0.1/")


def answered(status: int, **headers: str) -> httpx2.HTTPStatusError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.HTTPStatusError(
        "no", request=REQUEST, response=httpx2.Response(status, headers=named, request=REQUEST)
    )


class AiohttpLike(Exception):
    """An error like aiohttp's ClientResponseError, with a status of its own."""

    def __init__(self, status: Any, headers: Any = None) -> None:
        super().__init__("no")
        self.status, self.headers = status, headers


@each_row(
    ("error", "reading"),
    [
        (answered(429, retry_after="7"), Classification("rate_limit", 7.0)),
        (answered(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"), Classification("rate_limit", None)),
        (answered(404), Classification("not_found")),
        (answered(422), Classification("validation_error")),
        (answered(403), Classification("permission_denied")),
        (answered(503, retry_after="2"), Classification("api_failure", 2.0)),
        (answered(504), Classification("timeout")),
        (answered(302), None),
        (AiohttpLike(500), Classification("api_failure")),
        (AiohttpLike(429, {"Retry-After": "3"}), Classification("rate_limit", 3.0)),
        (AiohttpLike("500"), None),
        (httpx2.ReadTimeout("slow"), Classification("timeout")),
        (httpx2.ConnectTimeout("slow"), Classification("timeout")),
        (httpx2.ConnectError("nobody"), Classification("api_failure")),
        (httpx2.RemoteProtocolError("cut"), Classification("api_failure")),
        (TimeoutError(), Classification("timeout")),
        (ConnectionResetError(), Classification("api_failure")),
        (ConnectionRefusedError(), Classification("api_failure")),
        (ValueError("mine"), None),
        (KeyError("status"), None),
    ],
    ids=repr,
)
def test_an_exception_is_classified_by_its_type_and_attributes(
    error: Exception, reading: Classification | None
) -> None:
    assert classify_exception(error) == reading


@pytest.mark.parametrize(
    ("error", "error_type"),
    [
        (httpx2.ReadTimeout("slow"), "outcome_unknown"),
        (answered(500), "outcome_unknown"),
        (httpx2.ConnectError("nobody"), "outcome_unknown"),
        (answered(429), "outcome_unknown"),
        (answered(409), "validation_error"),
    ],
    ids=repr,
)
def test_a_write_is_unknown_only_where_its_request_may_have_arrived(
    error: Exception, error_type: str
) -> None:
    assert error_of(error, "write").error_type == error_type


def test_an_exception_with_hostile_attributes_is_the_tools_own() -> None:
    class Odd(Exception):
        response = "not a response"
        status = True

    class Worse(Exception):
        @property
        def response(self) -> str:
            raise RuntimeError("there is none")

    assert classify_exception(Odd()) is None
    assert classify_exception(Worse()) is None


def test_a_message_of_a_client_library_loses_its_advice_and_the_query_of_its_url() -> None:
    response = httpx2.Response(503, request=httpx2.Request("GET", "http://127.0.0.1/search?token=abc123&q=x"))
    with pytest.raises(httpx2.HTTPStatusError) as raised:
        response.raise_for_status()
    error = error_of(raised.value, "read").message
    assert "503" in error
    assert "127.0.0.1/search" in error
    assert "abc123" not in error
    assert "\n" not in error
