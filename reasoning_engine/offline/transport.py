"""An HTTP transport for the Anthropic SDK through which the offline model answers."""

import httpx2
import orjson

from reasoning_engine.offline.reasoner import reply_to
from reasoning_engine.offline.wire import (
    InvalidRequest,
    error_body,
    message,
    read_request,
    server_sent_events,
)


class OfflineTransport(httpx2.AsyncBaseTransport):
    """A transport that answers `POST /v1/messages` from the request alone; nothing leaves the process.

    It streams on request. `AsyncAnthropic(api_key="offline",
    http_client=DefaultAsyncHttpxClient(transport=OfflineTransport()))`
    """

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return a reply with status 200, or an error in the API's shape: 404 for other paths, 400 for bad bodies."""
        if request.method != "POST" or request.url.path != "/v1/messages":
            found = f"{request.method} {request.url.path}"
            return _json(
                404,
                error_body("not_found_error", f"{found}: the offline model answers POST /v1/messages only."),
            )
        try:
            body = orjson.loads(await request.aread())
            asked = read_request(body)
        except orjson.JSONDecodeError as error:
            return _json(
                400, error_body("invalid_request_error", f"body: not JSON ({error}). Send a JSON object.")
            )
        except InvalidRequest as error:
            return _json(400, error_body(error.code, str(error)))
        whole = message(body, asked, reply_to(asked))
        if body.get("stream") is True:
            headers = {"content-type": "text/event-stream; charset=utf-8"}
            return httpx2.Response(200, headers=headers, content=b"".join(server_sent_events(whole)))
        return _json(200, orjson.dumps(whole))


def _json(status: int, body: bytes) -> httpx2.Response:
    return httpx2.Response(status, headers={"content-type": "application/json"}, content=body)
