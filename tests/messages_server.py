"""A server that speaks the Messages API over a real socket and replies from a script.

It speaks chat completions too: see chat_wire.py.

    async with serving(Scripted(status=429, headers={"retry-after": "1"}), Scripted(text="Yes.")) as server:
        ...  # point the SDK at server.url; server.requests holds what it sent

As a process, for tests of whole programs: `python -m tests.messages_server --port 0 --script file.json`
prints its port on the first line. The file contains a list of Scripted objects. GET /requests returns the last
requests, GET /under-way the number of unanswered ones, GET /hung-up the number of clients that left before the end.
A request that the script has no reply for is answered with status 400 and says so.
"""

import argparse
import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tests import chat_wire

_LOOK_EVERY_S = 0.05
_KEPT_BY_A_PROCESS = 200
"""Requests that GET /requests lists; a long run would fill the memory with them."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Use(Strict):
    """One tool_use block; `written` replaces the JSON of its input, for instance to cut it off."""

    name: Any
    input: Any = {}
    id: Any = None
    written: str | None = None


class Scripted(Strict):
    """One reply. The first that fits a request and is still unused is taken; `repeat` keeps it in use."""

    when: str = Field(default="", description="Text that the request's body must hold.")
    repeat: bool = False
    one_in: int = Field(default=1, ge=1, description="Answer only every so many-th of the matching requests.")
    wait_s: float = Field(default=0.0, description="Before anything is sent.")
    is_held: bool = Field(default=False, description="Until a test in this process sets `let_go`.")
    waits_for: str = Field(default="", description="A file that has to be there before anything is sent.")
    behind: str = Field(
        default="", description="Text that the body of another request must have held that is answered."
    )
    piece: int = Field(default=7, description="Characters of text or of arguments in one event of a stream.")
    event_wait_s: float = Field(default=0.0, description="Before each event of a stream.")

    stall_after: int | None = Field(
        default=None, description="Events of a stream behind which nothing comes any more, and it stays open."
    )

    text: str = ""
    uses: tuple[Use, ...] = ()
    content: list[dict[str, Any]] | None = Field(default=None, description="Instead of text and uses.")
    stop_reason: str | None = Field(default=None, description="end_turn or tool_use when left out.")
    stop_details: dict[str, Any] | None = None
    usage: dict[str, Any] = {"input_tokens": 100, "output_tokens": 20}
    model: str = "scripted"

    break_after: int | None = Field(default=None, description="Events of the stream that are still sent.")
    break_by: Literal["reset", "end", "error"] = "reset"
    error: str = Field(default="api_error", description="The type of an error, in a body or in a stream.")

    status: int = 200
    headers: dict[str, str] = {}
    body: str | None = Field(default=None, description="Sent as it is, with `status`, instead of a message.")
    is_endless: bool = Field(
        default=False, description="The headers announce a longer body, and the rest never comes."
    )


class Received(Strict):
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class MessagesServer:
    """The script, and the requests that it answered."""

    def __init__(self, script: Sequence[Scripted], requests_max: int | None = None) -> None:
        self.requests: list[Received] = []
        self.under_way = 0
        self.hung_up = 0
        """Requests whose client left before it had the whole reply."""
        self.port = 0
        self.let_go = asyncio.Event()
        self._answered: list[str] = []
        self._requests_max = requests_max
        self._unused = list(script)
        self._fitted: Counter[int] = Counter()
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator["MessagesServer"]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        self.port = server.sockets[0].getsockname()[1]
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
            while (received := await _read(reader)) is not None:
                await self._unless_gone(self._answer(received, writer), reader)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client, or the test, is done
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _unless_gone(self, answer: Coroutine[Any, Any, None], reader: asyncio.StreamReader) -> None:
        """Answer, unless the client leaves meanwhile. Raises ConnectionError then."""
        answering = asyncio.create_task(answer)
        try:
            while not (await asyncio.wait((answering,), timeout=_LOOK_EVERY_S))[0]:
                if _is_gone(reader):
                    raise ConnectionResetError
            await answering
        except ConnectionError:
            self.hung_up += _is_gone(reader)  # or the script has it so
            raise
        finally:
            answering.cancel()

    async def _answer(self, received: Received, writer: asyncio.StreamWriter) -> None:
        if received.path == "/requests":
            listed = [request.model_dump() for request in self.requests]
            return _send(writer, 200, {}, json.dumps(listed).encode())
        if received.path == "/under-way":
            return _send(writer, 200, {}, json.dumps(self.under_way).encode())
        if received.path == "/hung-up":
            return _send(writer, 200, {}, json.dumps(self.hung_up).encode())
        self.requests.append(received)
        if self._requests_max is not None:
            del self.requests[: -self._requests_max]
        self.under_way += 1
        try:
            await self._reply(self._take(received), received, writer)
            self._answered.append(_words(received))
            del self._answered[:-_KEPT_BY_A_PROCESS]
        finally:
            self.under_way -= 1

    async def _reply(self, scripted: Scripted, received: Received, writer: asyncio.StreamWriter) -> None:
        while not any(scripted.behind in words for words in ("", *self._answered)):  # noqa: ASYNC110  # it tells no events
            await asyncio.sleep(_LOOK_EVERY_S)
        if scripted.is_held:
            await self.let_go.wait()
        await asyncio.sleep(scripted.wait_s)
        while scripted.waits_for and not Path(scripted.waits_for).exists():  # noqa: ASYNC110, ASYNC240  # another process makes it
            await asyncio.sleep(_LOOK_EVERY_S)
        if scripted.body is not None:
            _send(
                writer,
                scripted.status,
                scripted.headers,
                scripted.body.encode("latin-1"),
                scripted.is_endless,
            )
            if scripted.is_endless:
                await asyncio.Event().wait()
            return None
        is_chat = received.path == chat_wire.PATH
        if scripted.status != 200:
            error = chat_wire.error(scripted) if is_chat else _error(scripted)
            return _send(writer, scripted.status, scripted.headers, json.dumps(error).encode())
        if isinstance(received.body, dict) and received.body.get("stream"):
            return await _stream(writer, scripted, is_chat)
        whole = chat_wire.completion(scripted) if is_chat else _message(scripted)
        return _send(writer, 200, scripted.headers, json.dumps(whole).encode())

    def _take(self, received: Received) -> Scripted:
        if (received.method, received.path) not in (("POST", "/v1/messages"), ("POST", chat_wire.PATH)):
            return Scripted(status=404, error="not_found_error", text=f"{received.method} {received.path}")
        body = _words(received)
        for index, scripted in enumerate(self._unused):
            if scripted.when in body and self._is_due(index):
                return scripted if scripted.repeat else self._unused.pop(index)
        return Scripted(
            status=400, error="invalid_request_error", text="the script has no reply to this request"
        )

    def _is_due(self, index: int) -> bool:
        scripted = self._unused[index]
        self._fitted[id(scripted)] += 1
        return self._fitted[id(scripted)] % scripted.one_in == 0


def _is_gone(reader: asyncio.StreamReader) -> bool:
    """Return whether the client has closed the connection, as far as the reader knows."""
    return reader.at_eof() or reader.exception() is not None


async def _read(reader: asyncio.StreamReader) -> Received | None:
    """Return the next request of a connection; None at its end."""
    opening = await reader.readline()
    if not opening:
        return None
    method, path, _ = opening.decode("latin-1").split()
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, path=path, headers=headers, body=json.loads(raw) if raw else None)


def _words(received: Received) -> str:
    return json.dumps(received.body, ensure_ascii=False)


def _send(
    writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes, is_endless: bool = False
) -> None:
    length = 10**9 if is_endless else len(body)
    headers = {"content-type": "application/json", **headers, "content-length": str(length)}
    writer.write(_opening(status, headers) + body)


async def _stream(writer: asyncio.StreamWriter, scripted: Scripted, is_chat: bool) -> None:
    headers = {"content-type": "text/event-stream", **scripted.headers, "transfer-encoding": "chunked"}
    writer.write(_opening(200, headers))
    write, error = (chat_wire.written, chat_wire.error) if is_chat else (_written, _error)
    for number, event in enumerate(chat_wire.events(scripted) if is_chat else _events(scripted)):
        if number == scripted.break_after:
            if scripted.break_by == "reset":
                await writer.drain()
                raise ConnectionResetError
            if scripted.break_by == "error":
                writer.write(_chunk(write(error(scripted))))
            break
        if number == scripted.stall_after:
            await asyncio.Event().wait()
        await asyncio.sleep(scripted.event_wait_s)
        writer.write(_chunk(write(event)))
        await writer.drain()
    else:
        writer.write(_chunk(chat_wire.DONE) if is_chat else b"")
    writer.write(b"0\r\n\r\n")


def _opening(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _written(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _chunk(line: bytes) -> bytes:
    return f"{len(line):x}\r\n".encode() + line + b"\r\n"


def _error(scripted: Scripted) -> dict[str, Any]:
    return {"type": "error", "error": {"type": scripted.error, "message": scripted.text or "scripted"}}


def _content(scripted: Scripted) -> list[dict[str, Any]]:
    if scripted.content is not None:
        return scripted.content
    text = [{"type": "text", "text": scripted.text}] if scripted.text else []
    uses = [
        {"type": "tool_use", "id": use.id or f"toolu_{number}", "name": use.name, "input": use.input}
        for number, use in enumerate(scripted.uses, 1)
    ]
    return [*text, *uses]


def _message(scripted: Scripted) -> dict[str, Any]:
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": scripted.model,
        "content": _content(scripted),
        "stop_reason": scripted.stop_reason or ("tool_use" if scripted.uses else "end_turn"),
        "stop_sequence": None,
        "stop_details": scripted.stop_details,
        "usage": scripted.usage,
    }


def _events(scripted: Scripted) -> Iterator[dict[str, Any]]:
    whole = _message(scripted)
    at_first = {**whole, "content": [], "stop_reason": None, "stop_details": None}
    yield {"type": "message_start", "message": {**at_first, "usage": {**scripted.usage, "output_tokens": 1}}}
    yield {"type": "ping"}
    uses = iter(scripted.uses)
    for index, block in enumerate(whole["content"]):
        opening, deltas = block, list[dict[str, str]]()
        if block["type"] == "text":
            opening = {**block, "text": ""}
            deltas = [
                {"type": "text_delta", "text": piece} for piece in _pieces(block["text"], scripted.piece)
            ]
        elif block["type"] == "tool_use":
            use = next(uses, None)
            written = json.dumps(block["input"]) if use is None or use.written is None else use.written
            opening = {**block, "input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in _pieces(written, scripted.piece)
            ]
        yield {"type": "content_block_start", "index": index, "content_block": opening}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {key: whole[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield {
        "type": "message_delta",
        "delta": ending,
        "usage": {"output_tokens": scripted.usage["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _pieces(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]


def serving(*script: Scripted) -> contextlib.AbstractAsyncContextManager[MessagesServer]:
    """Serve for the length of a block."""
    return MessagesServer(script).listening()


async def _serve(port: int, script: list[Scripted]) -> None:
    async with MessagesServer(script, _KEPT_BY_A_PROCESS).listening(port) as server:
        print(server.port, flush=True)  # noqa: T201  # the parent process reads the port there
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted Messages API.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one.")
    parser.add_argument("--script", type=Path, required=True, help="A JSON list of Scripted objects.")
    arguments = parser.parse_args()
    script = TypeAdapter(list[Scripted]).validate_json(arguments.script.read_bytes())
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(arguments.port, script))


if __name__ == "__main__":
    main()
