"""Clients of one process, and that none is left open."""

import asyncio

from antiphon_shared.bus.connection import Connections

from tests.bus.builders import admin, eventually
from tests.redis_server import RedisServer


async def test_a_client_whose_release_was_cut_short_is_closed_with_the_others(
    redis_server: RedisServer,
) -> None:
    connections = Connections(redis_server.url)
    await connections.open()
    client = await connections.dedicated("inbox")
    id = await client.execute_command("CLIENT", "ID")
    releasing = asyncio.create_task(connections.release(client))
    await asyncio.sleep(0)
    releasing.cancel()
    await asyncio.wait({releasing})
    await connections.close()

    async def has_gone() -> bool:
        return not await admin(redis_server.url, "CLIENT", "LIST", "ID", id)

    await eventually(has_gone)
