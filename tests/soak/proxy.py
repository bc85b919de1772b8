"""A TCP proxy in front of Redis that misbehaves on demand. It runs in a thread of its own."""

import asyncio
import contextlib
import random
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from tests.redis_server import free_port

_CHUNK_BYTES = 65_536
_LIMIT_S = 60.0
_LOOK_EVERY_S = 0.05


class Proxy:
    """A proxy that forwards all data until a method changes that. Its methods return at once."""

    def __init__(self, target_port: int, seed: int) -> None:
        self.port = free_port()
        self.opened = 0
        """The number of connections accepted so far."""
        self._target_port, self._choose = target_port, random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._connections: set[asyncio.Task[None]] = set()
        self._torn: set[asyncio.Task[None]] = set()
        """Connections that will be closed after a part of their next chunk."""
        self._delay_s = 0.0
        self._server: asyncio.Server | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator["Proxy"]:
        thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        thread.start()
        self._do(self._listen())
        try:
            yield self
        finally:
            self._do(self._close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def open(self) -> int:
        """The number of open connections."""
        return len(self._connections)

    def cut(self, share: float) -> None:
        """Close a share of the connections, each in the middle of its next data; with 1, close all at once."""
        self._soon(lambda: self._cut(share))

    def delay(self, seconds: float) -> None:
        """Delay each chunk from now on. Many seconds are a stall; 0 ends the delay."""
        self._soon(lambda: setattr(self, "_delay_s", seconds))

    def refuse(self) -> None:
        """Close all connections and refuse new ones."""
        self._do(self._refuse())

    def accept(self) -> None:
        """Accept connections again."""
        self._do(self._listen())

    def _cut(self, share: float) -> None:
        if share >= 1:
            for connection in self._connections:
                connection.cancel()
            return
        self._torn.update(one for one in self._connections if self._choose.random() < share)

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._cut(1)

    async def _close(self) -> None:
        await self._refuse()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.opened += 1
        writers = [writer]
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
            writers.append(far_writer)
            outbound = asyncio.create_task(self._pass_on(reader, far_writer, task))
            back = asyncio.create_task(self._pass_on(far_reader, writer, task))
            async with _ended(outbound, back):
                await asyncio.wait((outbound, back), return_when=asyncio.FIRST_COMPLETED)
        except (OSError, asyncio.CancelledError):
            pass  # no server is behind it right now, or it has been cut
        finally:
            self._connections.discard(task)
            self._torn.discard(task)
            for one in writers:
                one.transport.abort()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: "asyncio.Task[None]"
    ) -> None:
        with contextlib.suppress(OSError):
            while chunk := await reader.read(_CHUNK_BYTES):
                if self._delay_s:
                    await self._wait()
                if connection in self._torn:
                    writer.write(chunk[: self._choose.randrange(len(chunk))])
                    return
                writer.write(chunk)
                await writer.drain()

    async def _wait(self) -> None:
        """Wait for the delay or its end."""
        began_s = self._loop.time()
        while (left_s := began_s + self._delay_s - self._loop.time()) > 0:  # noqa: ASYNC110  # it may be ended early
            await asyncio.sleep(min(left_s, _LOOK_EVERY_S))

    def _soon(self, what: Callable[[], Any]) -> None:
        self._loop.call_soon_threadsafe(what)

    def _do(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(_LIMIT_S)


@contextlib.asynccontextmanager
async def _ended(*tasks: "asyncio.Task[None]") -> AsyncIterator[None]:
    """Cancel the tasks at the end of the block."""
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
