"""Clients of one process, and that none is left open."""

import asyncio

from antiphon_shared.bus.connection import Connections

from tests.bus.builders import admin, eventually
from tests.redis_server import RedisServer, running


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


async def test_a_cluster_without_slots_is_waited_for() -> None:
    """The components may start before the nodes are joined to a cluster."""
    with running("--cluster-enabled", "yes") as node:
        connections = Connections(node.url)
        opening = asyncio.create_task(connections.open())

        async def has_failed() -> bool:
            return bool(connections.failure) or opening.done()

        await eventually(has_failed)
        assert connections.failure == "no node of the cluster holds a slot yet"
        await admin(node.url, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        await opening
        assert connections.is_cluster
        await connections.close()
