"""ANTIPHON_BUS_WAIT_REPLICAS: a write begins when enough replicas have its claim, and else not at all."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import redis
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import BusSettings
from fakeredis import FakeAsyncRedis

from tests.failover.servers import Cluster, Watched, cluster, hold_back, watched
from tests.redis_server import RedisServer
from tests.tool_dispatcher.idempotency.builders import WriteHooks, a_write, once, results_of
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.idempotency.port import ClaimNotReplicated
from tool_dispatcher.idempotency.write import Results, Write

WAITED_S = 0.3


def named(name: str) -> Write:
    return a_write(session_id=name, key=f"default/{name}/1/c1")


class Target:
    """The target of writes: servers, their address, and the keys of their partitions."""

    def __init__(self, servers: Watched | Cluster) -> None:
        self.servers, self.url = servers, servers.url
        self.keys = Keys("antiphon", 3 if isinstance(servers, Cluster) else 1)

    def pair(self, key: str) -> tuple[RedisServer, RedisServer]:
        """Return the master that has a key, and its replica."""
        if isinstance(self.servers, Cluster):
            return self.servers.pair_of(key)
        return self.servers.master, self.servers.replica


@pytest.fixture(scope="module", params=["sentinels", "cluster"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    with watched() if request.param == "sentinels" else cluster() as servers:
        yield Target(servers)


@asynccontextmanager
async def a_ledger(target: Target, wanted: int) -> AsyncIterator[tuple[Ledger, Bus]]:
    settings = BusSettings(wait_replicas=wanted, wait_replicas_timeout_s=WAITED_S)
    bus = Bus(Connections(target.url), target.keys, settings)
    await bus.open()
    try:
        yield Ledger(bus.batcher, bus.keys, lease_s=20, retention_s=3_600, claims=bus.claims), bus
    finally:
        await bus.close()


def hooks(runs: list[str], write: Write) -> WriteHooks:
    async def run(claim: Any) -> Results:
        runs.append(write.key)
        return results_of("done", write)

    async def observed(outcome: Any) -> Results:
        return results_of(outcome, write)

    return WriteHooks(run=run, results_of=observed, is_safe_to_repeat=False, wait_s=5)


async def test_a_claim_that_is_on_the_replica_lets_the_write_begin(target: Target) -> None:
    runs: list[str] = []
    write = named("followed")
    async with a_ledger(target, 1) as (ledger, bus):
        (result,) = await once(ledger, write, hooks(runs, write))
        record = bus.keys.effect(write.session_id, write.key)
    assert result.error is None
    assert runs == [write.key]
    _, replica = target.pair(record)
    assert has(replica, record)


async def test_without_enough_replicas_the_write_does_not_begin_and_may_be_called_again(
    target: Target,
) -> None:
    runs: list[str] = []
    write = named("unfollowed")
    async with a_ledger(target, 2) as (ledger, _):
        (result,) = await once(ledger, write, hooks(runs, write))
        assert (await ledger.status(write)).state == "settled"
    assert result.error is not None
    assert result.error.error_type == "api_failure"
    assert "was not run: Redis's replicas are behind" in result.error.message
    assert "Nothing has changed" in result.error.message
    assert not runs
    another = named("followed-at-last")
    async with a_ledger(target, 1) as (ledger, _):
        (result,) = await once(ledger, another, hooks(runs, another))
    assert result.error is None
    assert runs == [another.key]


async def test_a_claim_of_another_worker_is_not_withdrawn(target: Target) -> None:
    write = named("of-somebody-else")
    async with a_ledger(target, 1) as (first, _), a_ledger(target, 2) as (second, _):
        claim = await first.claim(write)
        assert claim is not None
        assert await second.claim(write) is None
        assert await first.renew(claim)


async def test_a_takeover_waits_too_and_abandons_no_other_write(target: Target) -> None:
    write = named("taken-over")
    async with a_ledger(target, 1) as (_, bus), a_ledger(target, 2) as (second, _):
        short = Ledger(bus.batcher, bus.keys, lease_s=0.05, retention_s=3_600, claims=bus.claims)
        claim = await short.claim(write)
        assert claim is not None
        while (status := await short.status(write)).state != "abandoned":
            pass
        with pytest.raises(ClaimNotReplicated):
            await second.take_over(write, status.fence)
        assert (await short.status(write)).state != "none"


async def test_a_replica_that_is_held_back_holds_writes_back_and_no_others(target: Target) -> None:
    """Last of this file: the replica stays behind."""
    write = named("held-back")
    async with a_ledger(target, 1) as (ledger, bus):
        record = bus.keys.effect(write.session_id, write.key)
        master, replica = target.pair(record)
        hold_back(replica, master)
        claim = await ledger.claim(write)
        assert claim is not None
        assert "0 of 1 replicas" in claim.problem
        assert await bus.batcher.submit("EXISTS", record) == 1


async def test_the_in_process_redis_has_no_replicas_to_wait_for() -> None:
    bus = Bus(Connections.to_fake(FakeAsyncRedis(protocol=3)), Keys(), BusSettings(wait_replicas=1))
    with pytest.raises(ConfigurationError, match="ANTIPHON_BUS_WAIT_REPLICAS"):
        await bus.open()


def has(replica: RedisServer, key: str) -> bool:
    """Return whether a replica has a key; one of a cluster answers for itself only on request."""
    with redis.Redis.from_url(replica.url, single_connection_client=True) as client:
        with contextlib.suppress(redis.ResponseError):
            client.execute_command("READONLY")
        return bool(client.exists(key))
