"""The examples' services answer over real sockets, and refuse requests that are too large."""

from contextlib import closing
from http.client import HTTPConnection

import httpx2
import pytest

from examples.local_http import BODY_BYTES_MAX, Reply, Request, serving


def echo(request: Request) -> Reply:
    return Reply(
        201, [request.method, request.path, dict(request.query), request.headers["x-name"]], {"x-its": "1"}
    )


def test_a_request_reaches_the_service_and_its_reply_comes_back() -> None:
    with serving(echo) as url:
        response = httpx2.get(f"{url}/a/b?q=x%20y", headers={"X-Name": "Ada"}, timeout=60)
    assert response.status_code == 201
    assert response.json() == ["GET", "/a/b", {"q": "x y"}, "Ada"]
    assert response.headers["x-its"] == "1"


def test_the_body_arrives_unchanged() -> None:
    bodies: list[bytes] = []

    def keep(request: Request) -> Reply:
        bodies.append(request.body)
        return Reply(200, None)

    with serving(keep) as url:
        httpx2.post(url, content=b"\x00 \xff", timeout=60)
    assert bodies == [b"\x00 \xff"]


@pytest.mark.parametrize("length", [str(BODY_BYTES_MAX + 1), "-1", "many"])
def test_a_body_that_is_too_large_is_not_read(length: str) -> None:
    with serving(echo) as url, closing(HTTPConnection(url.removeprefix("http://"), timeout=60)) as connection:
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status == 413


def test_the_server_is_closed_after_the_block() -> None:
    with serving(echo) as url:
        pass
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(url, timeout=60)
