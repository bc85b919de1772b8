"""A Redis Cluster: the node for each command, and the reaction to changes of the layout.

The library finds and caches the layout. The pipelines are our own, with one connection for each node, as WAIT has
to be sent on the connection that wrote, and as a node that does not reply must not delay the others.
"""

from collections.abc import Sequence
from typing import Any

from redis.asyncio import RedisCluster
from redis.exceptions import AskError, ConnectionError, MovedError, TimeoutError

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.wire import Command, Replicas, Wire

_KEY_POSITIONS = {"EVALSHA": 3, "EVAL": 3, "XGROUP": 2, "XINFO": 2}
"""The position of the key in commands where it does not follow the name."""
_KEYLESS = frozenset({"TIME", "INFO", "PING"})


class ClusterRoute:
    """The route of each command to the node that holds its key."""

    def __init__(self, connections: Connections, replicas: Replicas | None = None) -> None:
        self._connections, self._replicas = connections, replicas
        self._cluster: RedisCluster = connections.main
        self._wires: dict[str, Wire] = {}
        connections.on_close(self._close)

    def lane_of(self, command: Command) -> str:
        if command[0] in _KEYLESS:
            return self._name(self._cluster.get_default_node())
        return self._name(self._cluster.get_node_from_key(_key(command)))

    async def exchange(self, lane: str, commands: Sequence[Command]) -> list[Any]:
        if lane not in self._wires:
            host, _, port = lane.rpartition(":")
            client = self._connections.client_of_node(host, int(port))
            self._wires[lane] = Wire(client, replicas=self._replicas)
        try:
            return await self._wires[lane].exchange(commands)
        except (ConnectionError, TimeoutError):
            await self._connections.learn_layout(failed_node=lane)
            raise

    async def follow(self, error: Exception) -> tuple[str | None, bool] | None:
        if isinstance(error, AskError):
            return f"{error.host}:{error.port}", True
        if isinstance(error, MovedError):
            # The node that replied may be behind the layout that we know, or ahead of it.
            await self._connections.learn_layout()
            return f"{error.host}:{error.port}", False
        return None

    async def _close(self) -> None:
        for wire in self._wires.values():
            await wire.close()

    @staticmethod
    def _name(node: Any) -> str:
        if node is None:
            raise ConnectionError("no known node of the cluster accepts the command")
        return f"{node.host}:{node.port}"


def _key(command: Command) -> str:
    name, position = command[0], 1
    if isinstance(name, str):
        position = _KEY_POSITIONS.get(name, 1)
    if len(command) <= position or not isinstance(key := command[position], str | bytes):
        raise TypeError(f"the key of {name!r} is missing, or is not text")
    return key if isinstance(key, str) else key.decode()
