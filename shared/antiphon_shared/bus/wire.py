"""The transport of a batch of commands: over one connection of our own, or through the library's pipeline.

For speed, the library's parts are combined directly: its connection, hiredis for packing (the library's asyncio
side packs in Python, which took a third of a busy process's time), and one timeout for the batch instead of one for
each reply. fakeredis uses the library's pipeline.
"""

import asyncio
import builtins
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, cast

import hiredis
from redis._parsers.hiredis import NOT_ENOUGH_DATA
from redis.exceptions import ConnectionError, ReadOnlyError, TimeoutError

from antiphon_shared import faults
from antiphon_shared.bus.connection import SOCKET_TIMEOUT_S, Client, Connections

_NO_REPLY = (hiredis.PushNotification, ConnectionError)
"""Messages of a connection that are not replies to commands."""

Argument = str | bytes | int | float
Command = tuple[Argument, ...]
Exchange = Callable[[Sequence[Command]], Awaitable[list[Any]]]
"""Sends commands, and returns the reply or error for each. Raises if no reply arrived."""


class Replicas(NamedTuple):
    """The number of replicas that must have a batch's writes, and how long to wait for them."""

    required: int
    timeout_s: float


class NotReplicated(Exception):
    """The error for writes that too few replicas have; it holds the reply."""

    def __init__(self, reply: object, acknowledged: int, replicas: Replicas) -> None:
        super().__init__(
            f"{acknowledged} of {replicas.required} replicas had it within {replicas.timeout_s:g} s"
        )
        self.reply = reply


def exchange_over(connections: Connections, replicas: Replicas | None = None) -> Exchange:
    """Return the fastest transport to the server of `connections`."""
    client = connections.main
    if connections.is_fake:
        return lambda commands: _through_pipeline(client, commands)
    wire = Wire(client, replicas=replicas)
    connections.on_close(wire.close)
    return wire.exchange


class Wire:
    """One connection that carries batch after batch; it reconnects after a failure.

    With `replicas`, it waits for each batch until they have its writes. WAIT blocks the connection, so only claims are
    sent over it.
    """

    def __init__(
        self, client: Client, fault_point: str = "redis.commands.sent", replicas: Replicas | None = None
    ) -> None:
        pool = client.connection_pool
        # Without a socket timeout, as the library would start a task for each write.
        self._connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": None})
        self._callbacks = dict(client.response_callbacks)
        self._fault_point = fault_point
        self._replicas = replicas
        self._limit_s = SOCKET_TIMEOUT_S + (replicas.timeout_s if replicas else 0.0)

    def exchange(self, commands: Sequence[Command]) -> Awaitable[list[Any]]:
        if self._replicas is None:
            return self._exchange(commands)
        return self._exchange_replicated(commands, self._replicas)

    async def _exchange_replicated(self, commands: Sequence[Command], replicas: Replicas) -> list[Any]:
        wait_ms = max(1, round(replicas.timeout_s * 1000))
        *replies, acknowledged = await self._exchange([*commands, ("WAIT", replicas.required, wait_ms)])
        return _replicated(replies, acknowledged, replicas)

    async def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        packed = b"".join([_pack(command) for command in commands])
        try:
            async with asyncio.timeout(self._limit_s):
                await self._connection.send_packed_command([packed], check_health=False)
                await faults.pass_point(self._fault_point, self.close)
                replies = await self._replies(commands)
        except builtins.TimeoutError:
            await self.close()
            raise TimeoutError("Redis did not answer in time") from None
        except OSError as error:
            await self.close()
            raise ConnectionError(f"The connection to Redis failed: {error}") from error
        except BaseException:
            # An unread reply would be taken for the reply to the next command.
            await self.close()
            raise
        if ReadOnlyError in map(type, replies):
            await self.close()  # the master is now a replica, and a new connection may reach the new master
        return replies

    async def close(self) -> None:
        await self._connection.disconnect(nowait=True)

    async def _replies(self, commands: Sequence[Command]) -> list[Any]:
        """Return the reply to each command, or the error that Redis has sent."""
        reader = self._connection._parser._reader  # the library makes ten calls for a reply that has arrived
        replies = []
        for command in commands:
            reply = reader.gets()
            if reply is NOT_ENOUGH_DATA or isinstance(reply, _NO_REPLY):
                reply = await self._next(reply)
            callback = self._callbacks.get(command[0])
            replies.append(reply if callback is None else _read_as(callback, reply))
        return replies

    async def _next(self, reply: object) -> Any:
        """Return the next reply; read from the socket until it has arrived."""
        parser = self._connection._parser
        while True:
            if reply is NOT_ENOUGH_DATA:
                await parser.read_from_socket()
            elif type(reply) is hiredis.PushNotification:
                await parser.handle_push_response(reply)
            elif isinstance(reply, ConnectionError):
                raise reply
            else:
                return reply
            reply = parser._reader.gets()


def _read_as(callback: Callable[[Any], Any], reply: object) -> Any:
    try:
        return reply if isinstance(reply, Exception) else callback(reply)
    except Exception as error:  # noqa: BLE001  # one reply that the library cannot convert must not affect the others
        return error


def _replicated(replies: list[Any], acknowledged: Any, replicas: Replicas) -> list[Any]:
    """Return the replies, with success replaced by NotReplicated where too few replicas have acknowledged."""
    if isinstance(acknowledged, Exception):
        return [reply if isinstance(reply, Exception) else acknowledged for reply in replies]
    if acknowledged >= replicas.required:
        return replies
    return [
        reply if isinstance(reply, Exception) else NotReplicated(reply, acknowledged, replicas)
        for reply in replies
    ]


# The stub declares a tuple of one argument, but any number is accepted.
_pack: Callable[[Command], bytes] = cast(Any, hiredis.pack_command)


async def _through_pipeline(client: Client, commands: Sequence[Command]) -> list[Any]:
    pipeline = client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    replies: list[Any] = await pipeline.execute(raise_on_error=False)
    return replies
