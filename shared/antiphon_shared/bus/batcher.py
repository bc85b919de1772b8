"""Group commit: commands of many tasks, sent together.

While one pipeline is on its way, the commands that arrive wait for the next. One at a time this costs
nothing; under load it divides the cost of a round trip by the number of tasks that share it.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from redis.exceptions import ConnectionError, DataError, NoScriptError, RedisClusterException

from antiphon_shared.bus.scripts import Script
from antiphon_shared.bus.wire import Argument, Command, Exchange

PIPELINE_LENGTH_MAX = 256
"""Commands sent together at most, so that no reply waits for too many others."""

_UNSENDABLE = (DataError, TypeError, UnicodeEncodeError)
"""What packing a command raises, before anything is sent."""


class Batcher:
    """Sends commands together. Each reply, or error, goes to whoever submitted the command."""

    def __init__(self, exchange: Exchange | None = None) -> None:
        self._exchange: Exchange = exchange or _closed
        self._waiting: deque[tuple[Command, asyncio.Future[Any]]] = deque()
        self._flushing: asyncio.Task[None] | None = None

    def open(self, exchange: Exchange) -> None:
        """From now on, send commands that way."""
        self._exchange = exchange

    def submit(self, *command: Argument) -> asyncio.Future[Any]:
        """The reply to be. What is submitted before the event loop turns shares one round trip."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, reply))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return reply

    async def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Any:
        """The result of a script, whether or not Redis has seen it before."""
        try:
            return await self.submit("EVALSHA", script.sha, len(keys), *keys, *arguments)
        except NoScriptError:
            return await self.submit("EVAL", script.text, len(keys), *keys, *arguments)

    async def _flush(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), PIPELINE_LENGTH_MAX))]
                await self._send(batch)
        finally:
            self._flushing = None

    async def _send(self, batch: list[tuple[Command, asyncio.Future[Any]]]) -> None:
        try:
            replies = await self._exchange([command for command, _ in batch])
        except _UNSENDABLE as error:
            if len(batch) > 1:
                for one in batch:
                    await self._send([one])
                return
            replies = [error]
        except (RedisClusterException, OSError) as error:
            replies = [ConnectionError(str(error))] * len(batch)
        except Exception as error:  # noqa: BLE001  # whatever it is belongs to those who wait for the replies
            replies = [error] * len(batch)
        for (_, reply), result in zip(batch, replies, strict=True):
            if reply.done():
                continue
            if isinstance(result, Exception):
                reply.set_exception(result)
                reply.exception()  # seen: a sender that does not wait has chosen not to know
            else:
                reply.set_result(result)


async def _closed(commands: Sequence[Command]) -> list[Any]:
    raise ConnectionError("the bus is not open yet")
