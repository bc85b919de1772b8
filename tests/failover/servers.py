"""Real servers that can fail over: a master and its replica behind three sentinels, and a cluster of six nodes."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import redis

from tests.redis_server import START_LIMIT_S, RedisServer, free_port, require_redis_server

Sentinels: Any = redis.Sentinel
node_of: Any = redis.cluster.ClusterNode
"""Untyped in the library."""

SERVICE = "antiphon-test"
LOGIN, SENTINEL_PASSWORD = "keeper:of-the-server", "of-the-sentinels"
"""The server's credentials, and those of the sentinels, which are others."""
_USER, _, _PASSWORD = LOGIN.partition(":")
_AUTH = ("--requirepass", _PASSWORD, "--masterauth", _PASSWORD)
_LIMIT_S = 60.0
_NODES, _SLOTS = 3, 16_384
NEVER_ALONE = ("--min-replicas-to-write", "1", "--min-replicas-max-lag", "10")
"""A master that starts again after its replica was promoted takes no writes: nothing accepted there would be kept."""
_DURABLE = ("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")


def until(condition: Callable[[], Any], what: str, limit_s: float = _LIMIT_S) -> None:
    """Wait for a condition, bounded; a server that does not answer has not met it."""
    deadline = time.monotonic() + limit_s
    while True:
        try:
            if condition():
                return
        except (redis.RedisError, OSError):
            pass
        assert time.monotonic() < deadline, f"waited {limit_s:.0f} s for {what}"
        time.sleep(0.02)


def ask(server: RedisServer, *command: Any) -> Any:
    """Send one command over a connection of its own."""
    with redis.Redis.from_url(server.url, protocol=3, socket_timeout=START_LIMIT_S) as client:
        return client.execute_command(*command)


def hold_back(replica: RedisServer, master: RedisServer) -> None:
    """Cut the replica off from the master; its state stays as it is."""
    ask(replica, "CONFIG", "SET", "masteruser", "nobody")
    ask(replica, "CONFIG", "SET", "masterauth", "wrong")
    ask(master, "CLIENT", "KILL", "TYPE", "replica")


def is_following(replica: RedisServer) -> bool:
    return bool(ask(replica, "INFO", "replication")["master_link_status"] == "up")


class Sentinel:
    """One sentinel, ended by its id."""

    def __init__(self, folder: Path, number: int, master_port: int) -> None:
        self.port = free_port()
        file = folder / f"sentinel-{number}.conf"
        file.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {folder}\nrequirepass {SENTINEL_PASSWORD}\n"
            f"sentinel sentinel-pass {SENTINEL_PASSWORD}\n"
            f"sentinel monitor {SERVICE} 127.0.0.1 {master_port} 2\n"
            f"sentinel auth-pass {SERVICE} {_PASSWORD}\n"
            f"sentinel down-after-milliseconds {SERVICE} 1000\nsentinel failover-timeout {SERVICE} 4000\n"
        )
        self._process = subprocess.Popen(
            [require_redis_server(), str(file), "--sentinel"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def master(self) -> dict[str, Any]:
        with redis.Redis(port=self.port, password=SENTINEL_PASSWORD, socket_timeout=_LIMIT_S) as client:
            return dict(client.sentinel_master(SERVICE))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class Watched:
    """A master, its replica, and the sentinels that watch them."""

    def __init__(self, master: RedisServer, replica: RedisServer, sentinels: list[Sentinel]) -> None:
        self.master, self.replica, self.sentinels = master, replica, sentinels

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://:{_PASSWORD}@{hosts}/{SERVICE}/0?sentinel_password={SENTINEL_PASSWORD}"

    def client(self) -> Any:
        """Return the library's own client that follows the master."""
        sentinel = Sentinels(
            [("127.0.0.1", sentinel.port) for sentinel in self.sentinels],
            sentinel_kwargs={"password": SENTINEL_PASSWORD},
            password=_PASSWORD,
            socket_timeout=5,
            protocol=3,
        )
        return sentinel.master_for(SERVICE)

    def until_promoted(self) -> None:
        until(lambda: ask(self.replica, "ROLE")[0] == b"master", "the replica's promotion")


@contextmanager
def watched(*options: str) -> Iterator[Watched]:
    """Run sentinels, master and replica for the length of a block, the replica up to date; both have the options."""
    login = f":{_PASSWORD}"
    with ExitStack() as stack:
        master = RedisServer(*_AUTH, *_DURABLE, *options, login=login)
        stack.callback(master.stop)
        master.start()
        replica = RedisServer(
            *_AUTH, *_DURABLE, *options, "--replicaof", f"127.0.0.1 {master.port}", login=login
        )
        stack.callback(replica.stop)
        replica.start()
        until(lambda: is_following(replica), "the replica")
        sentinels = []
        for number in range(3):
            sentinel = Sentinel(Path(master.folder), number, master.port)
            stack.callback(sentinel.stop)
            sentinels.append(sentinel)

        def know_each_other() -> bool:
            return all(
                state["num-other-sentinels"] == 2 and state["num-slaves"] == 1
                for state in (sentinel.master() for sentinel in sentinels)
            )

        until(know_each_other, "the sentinels")
        yield Watched(master, replica, sentinels)


class Cluster:
    """Three masters, each with a replica."""

    def __init__(self, masters: list[RedisServer], replicas: list[RedisServer]) -> None:
        self.masters, self.replicas = masters, replicas

    @property
    def nodes(self) -> list[RedisServer]:
        return [*self.masters, *self.replicas]

    @property
    def url(self) -> str:
        """Of all nodes: the one that is named first may be the one that is dead."""
        return f"redis://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}/0"

    def client(self) -> Any:
        nodes = [node_of("127.0.0.1", node.port) for node in self.nodes]
        return redis.RedisCluster(startup_nodes=nodes, socket_timeout=5, protocol=3)

    def pair_of(self, key: str) -> tuple[RedisServer, RedisServer]:
        """Return the master that holds a key, and its replica."""
        slot = redis.crc.key_slot(key.encode())
        index = min(slot * _NODES // _SLOTS, _NODES - 1)
        return self.masters[index], self.replicas[index]

    def until_promoted(self, replica: RedisServer) -> None:
        until(lambda: ask(replica, "ROLE")[0] == b"master", "the replica's promotion")
        self.until_whole([replica])

    def until_whole(self, nodes: list[RedisServer]) -> None:
        until(
            lambda: all(b"cluster_state:ok" in ask(node, "CLUSTER", "INFO") for node in nodes), "the cluster"
        )


@contextmanager
def cluster(*options: str) -> Iterator[Cluster]:
    """Run six nodes for the length of a block, each replica up to date."""
    own = ("--cluster-enabled", "yes", "--cluster-node-timeout", "1000", *_DURABLE, *options)
    with ExitStack() as stack:
        nodes = [RedisServer(*own) for _ in range(2 * _NODES)]
        for node in nodes:
            stack.callback(node.stop)
            node.start()
        masters, replicas = nodes[:_NODES], nodes[_NODES:]
        for n, master in enumerate(masters):
            first, end = -(-n * _SLOTS // _NODES), -(-(n + 1) * _SLOTS // _NODES)
            ask(master, "CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            ask(master, "CLUSTER", "SET-CONFIG-EPOCH", n + 1)
        for node in nodes[1:]:
            ask(nodes[0], "CLUSTER", "MEET", "127.0.0.1", node.port)
        known = f"cluster_known_nodes:{2 * _NODES}".encode()
        until(lambda: all(known in ask(node, "CLUSTER", "INFO") for node in nodes), "all nodes to meet")
        for master, replica in zip(masters, replicas, strict=True):
            ask(replica, "CLUSTER", "REPLICATE", ask(master, "CLUSTER", "MYID").decode())
        until(lambda: all(map(is_following, replicas)), "the replicas")
        found = Cluster(masters, replicas)
        found.until_whole(nodes)
        yield found
