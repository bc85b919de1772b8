"""Redis answers with a refusal: its message reaches the caller, with the remedy."""

import contextlib
import shutil
import time
from collections.abc import Iterator

import pytest
import redis
from antiphon_shared.bus.connection import is_unavailable, retry_while_unavailable
from antiphon_shared.bus.unavailable import unavailable
from antiphon_shared.process.errors import RedisUnavailable
from redis.exceptions import BusyLoadingError, ConnectionError, ResponseError

from tests.redis_server import RedisServer, running
from tests.rows import each_row


@contextlib.contextmanager
def a_client(*options: str) -> Iterator[tuple[redis.Redis, RedisServer]]:
    with running(*options) as server, redis.Redis.from_url(server.url, protocol=3) as client:
        yield client, server


def refusal(client: redis.Redis) -> RedisUnavailable:
    with pytest.raises(redis.RedisError) as refused:
        client.xadd("queries", {"query": "Why?"})
    assert is_unavailable(refused.value)
    return unavailable(refused.value)


def test_a_full_disk_is_named() -> None:
    with a_client("--save", "3600 1", "--appendonly", "no") as (client, server):
        client.set("a", 1)
        shutil.rmtree(server.folder)
        client.bgsave()
        for _ in range(1_000):
            if client.info("persistence")["rdb_last_bgsave_status"] == "err":
                break
            time.sleep(0.02)
        message = refusal(client)
        server.kill()  # it does not end by itself while it cannot save
    assert "Redis answers" in message.message
    assert "MISCONF" in message.message
    assert "disk" in message.hint


def test_a_redis_out_of_memory_is_named() -> None:
    with a_client("--maxmemory-policy", "noeviction") as (client, _):
        client.config_set("maxmemory", 1)
        message = refusal(client)
    assert "memory" in message.message
    assert "maxmemory" in message.hint


def test_a_replica_is_named() -> None:
    with a_client() as (client, _):
        client.replicaof("127.0.0.1", 1)
        message = refusal(client)
    assert "read only replica" in message.message
    assert "ANTIPHON_REDIS_URL" in message.hint


def test_a_redis_that_loads_its_data_is_named() -> None:
    assert "wait" in unavailable(BusyLoadingError("Redis is loading the dataset in memory")).hint


@each_row(
    ("answer", "advice"),
    [
        ("MISCONF Redis is configured to save RDB snapshots, but cannot", "INFO persistence"),
        ("OOM command not allowed when used memory > 'maxmemory'", "maxmemory"),
        ("READONLY You can't write against a read only replica", "ANTIPHON_REDIS_URL"),
        ("LOADING Redis is loading the dataset in memory", "loading its data from disk"),
        ("NOREPLICAS Not enough good replicas to write", "min-replicas-to-write"),
        ("BUSY Redis is busy running a script", "SCRIPT KILL"),
        ("MASTERDOWN Link with MASTER is down", "without its master"),
        ("CLUSTERDOWN The cluster is down", "CLUSTER INFO"),
    ],
)
def test_each_refusal_of_redis_comes_with_advice(answer: str, advice: str) -> None:
    assert advice in unavailable(ResponseError(answer)).hint


async def test_a_redis_without_a_listener_is_unavailable() -> None:
    async def refused() -> None:
        raise ConnectionError("Error 111 connecting to 127.0.0.1:1. Connection refused.")

    with pytest.raises(
        RedisUnavailable, match=r"Redis is unavailable: Error 111 connecting to 127\.0\.0\.1:1"
    ):
        await retry_while_unavailable("ask", refused, 0.0)
