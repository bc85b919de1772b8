"""How a batch of commands travels: over one connection of our own, or through the library's pipeline.

On a plain server the library's parts are put together directly: its connection, hiredis to pack (the
library's asyncio side packs in Python, which was a third of a busy process's time), and one timeout for the
batch in place of one for each reply. A cluster, which routes each command, and fakeredis take the library's
pipeline.
"""

import asyncio
import builtins
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import RedisCluster
from redis.exceptions import ConnectionError, ResponseError, TimeoutError

from antiphon_shared import faults
from antiphon_shared.bus.connection import SOCKET_TIMEOUT_S, Client, Connections

Argument = str | bytes | int | float
Command = tuple[Argument, ...]
Exchange = Callable[[Sequence[Command]], Awaitable[list[Any]]]
"""Sends commands and returns a reply, or the error it was answered with, for each. Raises when none came."""


def exchange_over(connections: Connections) -> Exchange:
    """The best way there is to the Redis of `connections`."""
    client = connections.main
    if connections.is_fake or isinstance(client, RedisCluster):
        return lambda commands: _through_pipeline(client, commands)
    wire = Wire(client)
    connections.on_close(wire.close)
    return wire.exchange


class Wire:
    """One connection that carries batch after batch; connects again after a failure."""

    def __init__(self, client: Client, fault_point: str = "redis.commands.sent") -> None:
        pool = client.connection_pool
        # Without a timeout of its own: with one, the library starts a task for each write.
        self._connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": None})
        self._callbacks = client.response_callbacks
        self._fault_point = fault_point

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        packed = b"".join([_pack(command) for command in commands])
        try:
            async with asyncio.timeout(SOCKET_TIMEOUT_S):
                await self._connection.send_packed_command([packed], check_health=False)
                await faults.at(self._fault_point, self.close)
                return [await self._reply_to(command) for command in commands]
        except builtins.TimeoutError:
            await self.close()
            raise TimeoutError("Redis did not answer in time") from None
        except BaseException:
            # A reply that nobody has read would be taken for the next command's.
            await self.close()
            raise

    async def close(self) -> None:
        await self._connection.disconnect(nowait=True)

    async def _reply_to(self, command: Command) -> Any:
        try:
            reply = await self._connection.read_response(timeout=math.inf)
        except ConnectionError:
            raise
        except ResponseError as error:
            return error
        callback = self._callbacks.get(command[0])
        try:
            return reply if callback is None else callback(reply)
        except Exception as error:  # noqa: BLE001  # the library misreads one reply; the others are still to be read
            return error


# Its stub has the tuple of any length for a tuple of one.
_pack: Callable[[Command], bytes] = cast(Any, hiredis.pack_command)


async def _through_pipeline(client: Client, commands: Sequence[Command]) -> list[Any]:
    pipeline = client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    replies: list[Any] = await pipeline.execute(raise_on_error=False)
    return replies
