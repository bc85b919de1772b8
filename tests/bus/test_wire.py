"""One connection's replies, on a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.wire import Wire
from redis.exceptions import ConnectionError, ResponseError

from tests.redis_server import RedisServer


@asynccontextmanager
async def a_wire(server: RedisServer) -> AsyncIterator[tuple[Connections, Wire]]:
    connections = Connections(server.url)
    await connections.open()
    wire = Wire(connections.main)
    try:
        yield connections, wire
    finally:
        await wire.close()
        await connections.close()


async def test_replies_and_errors_arrive_in_the_order_of_the_commands(redis_server: RedisServer) -> None:
    async with a_wire(redis_server) as (_, wire):
        first, error, last = await wire.exchange([("ECHO", "a"), ("NONSENSE",), ("ECHO", "b")])
        assert (first, last) == (b"a", b"b")
        assert isinstance(error, ResponseError)


async def test_a_reply_longer_than_one_read_is_whole(redis_server: RedisServer) -> None:
    long = b"x" * 3_000_000
    async with a_wire(redis_server) as (_, wire):
        assert await wire.exchange([("ECHO", long), ("ECHO", "b")]) == [long, b"b"]


async def test_a_push_message_of_the_server_is_not_taken_for_a_reply(redis_server: RedisServer) -> None:
    async with a_wire(redis_server) as (connections, wire):
        await wire.exchange([("CLIENT", "TRACKING", "ON"), ("GET", "wire:tracked")])
        await connections.main.set("wire:tracked", "new")
        assert await wire.exchange([("ECHO", "a"), ("GET", "wire:tracked")]) == [b"a", b"new"]


async def test_a_connection_that_ended_raises_and_the_next_exchange_connects_again(
    redis_server: RedisServer,
) -> None:
    async with a_wire(redis_server) as (connections, wire):
        (id,) = await wire.exchange([("CLIENT", "ID")])
        await connections.main.execute_command("CLIENT", "KILL", "ID", id)
        with pytest.raises(ConnectionError):
            await wire.exchange([("ECHO", "a"), ("ECHO", "b")])
        assert await wire.exchange([("ECHO", "a")]) == [b"a"]
