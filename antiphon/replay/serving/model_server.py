"""The recorded model: a server on this machine alone that speaks the Messages API, and answers from recordings.

It refuses requests that the recordings do not hold with status 400. It never forwards a request.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

from antiphon_shared.events.step_records import ModelError
from pydantic_core import from_json, to_json

from antiphon.replay.serving.exchanges import Exchanges
from antiphon.replay.serving.messages import error_body, error_events, message_events, unfinished_events
from antiphon.replay.serving.recording_index import Asked

SESSION, BREAKS = "x-antiphon-session", "x-antiphon-breaks"
"""Own headers: the session of a request; and the failure of a call without a server's error, such as a timeout."""
_BODY_BYTES_MAX = 100_000_000
_HEADERS_MAX = 200
_OF_THE_SERVER = frozenset({"content-type", "content-length", "transfer-encoding", "connection"})


class ModelServer:
    """The server of `exchanges` over loopback."""

    def __init__(self, exchanges: Exchanges) -> None:
        self._exchanges = exchanges
        self._connections: set[asyncio.Task[None]] = set()
        self.url = ""

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator["ModelServer"]:
        """Listen while the block runs. Raises OSError."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)
            await server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, ValueError, asyncio.CancelledError):
            pass  # the client has left, or speaks no HTTP, or the rerun is over
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after the other, until the client leaves or an answer ends the connection."""
        while (received := await _read(reader)) is not None:
            path, headers, raw = received
            answered = self._answered(path, headers, raw)
            if isinstance(answered, bytes):
                _send(writer, 400, {"x-should-retry": "false"}, answered)
            elif answered.is_unanswered:
                await reader.read()  # until the client disconnects
                return
            elif answered.call.error is not None:
                if not _send_error(writer, answered.call.error):
                    await writer.drain()
                    return
            else:
                assert answered.call.reply is not None
                _stream(writer, answered.call.headers, message_events(answered.call.reply))
                writer.write(_LAST_CHUNK)
            await writer.drain()

    def _answered(self, path: str, headers: Mapping[str, str], raw: bytes) -> Asked | bytes:
        """Return the recorded call of a request, or the body of a refusal."""
        request = from_json(raw) if path.partition("?")[0] == "POST /v1/messages" else None
        if not isinstance(request, dict):
            return error_body("invalid_request_error", f"The recorded model has nothing at {path[:100]}.")
        asked = self._exchanges.take(request, headers.get(SESSION, ""))
        if asked is None:
            return error_body("invalid_request_error", "The recording holds no such request.")
        return asked


async def _read(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes] | None:
    """Return method and path, headers and body of the next request; None at the end. Raises ValueError."""
    opening = await reader.readline()
    if not opening:
        return None
    method, path, _ = opening.decode("latin-1").split()
    headers: dict[str, str] = {}
    for _ in range(_HEADERS_MAX):
        line = (await reader.readline()).decode("latin-1").strip()
        if not line:
            break
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= _BODY_BYTES_MAX:
        raise ValueError("too long")
    return f"{method} {path}", headers, await reader.readexactly(length)


def _send_error(writer: asyncio.StreamWriter, error: ModelError) -> bool:
    """Send a recorded error; return False when the connection must be closed after it."""
    if error.partial is not None or error.status in (None, 200):
        events = b"" if error.partial is None else unfinished_events(error.partial)
        if error.status is not None:
            _stream(writer, error.headers, events + error_events(error.body))
            writer.write(_LAST_CHUNK)
            return True
        _stream(writer, {**error.headers, BREAKS: error.failure.code}, events)
        return False
    body = error.body.encode() if isinstance(error.body, str) else to_json(error.body)
    _send(writer, error.status, error.headers, body)
    return True


def _send(writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str], body: bytes) -> None:
    writer.write(
        _head(status, headers, {"content-type": "application/json", "content-length": str(len(body))}) + body
    )


def _stream(writer: asyncio.StreamWriter, headers: Mapping[str, str], events: bytes) -> None:
    writer.write(_head(200, headers, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
    if events:
        writer.write(b"%x\r\n" % len(events) + events + b"\r\n")


_LAST_CHUNK = b"0\r\n\r\n"


def _head(status: int, headers: Mapping[str, str], own: Mapping[str, str]) -> bytes:
    kept = {name: value for name, value in headers.items() if name.lower() not in _OF_THE_SERVER}
    lines = [f"{name}: {_one_line(value)}" for name, value in {**kept, **own}.items()]
    return "\r\n".join([f"HTTP/1.1 {status} Recorded", *lines, "", ""]).encode("latin-1", "replace")


def _one_line(value: str) -> str:
    return " ".join(value.split())
