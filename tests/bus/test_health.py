"""Heartbeats."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from antiphon_shared.bus import scripts
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.formats import FORMAT
from antiphon_shared.process import health
from antiphon_shared.process.clock import utc_now

from tests.bus.builders import eventually


@asynccontextmanager
async def beating(bus: Bus, name: str) -> AsyncIterator[None]:
    beat = asyncio.create_task(health.beat(bus, "coordinator", name, utc_now(), lambda: 3))
    try:
        yield
    finally:
        beat.cancel()
        await asyncio.gather(beat, return_exceptions=True)


async def names(bus: Bus) -> list[str]:
    return [worker.name for worker in await health.workers(bus, "coordinator")]


async def test_a_worker_is_listed_while_it_sends_heartbeats_and_removed_when_it_signs_off(bus: Bus) -> None:
    assert await names(bus) == []
    async with beating(bus, "w1"), beating(bus, "w2"):
        await eventually(lambda: _are(bus, ["w1", "w2"]))
        (worker, _) = await health.workers(bus, "coordinator")
        assert (worker.in_hand, worker.is_alive) == (3, True)
    await health.sign_off(bus, "coordinator", "w1")
    assert await names(bus) == ["w2"]


async def _are(bus: Bus, expected: list[str]) -> bool:
    return await names(bus) == expected


async def test_a_silent_worker_is_dead_and_forgotten_at_last(bus: Bus) -> None:
    async with beating(bus, "w1"):
        await eventually(lambda: _are(bus, ["w1"]))
    key = bus.keys.workers("coordinator")
    line: bytes = await bus.batcher.submit("HGET", key, "w1")
    at_ms, _, state = line.partition(b" ")
    await bus.batcher.submit("HSET", key, "w1", b"%d %s" % (int(at_ms) - 30_000, state))
    (worker,) = await health.workers(bus, "coordinator")
    assert not worker.is_alive
    await bus.batcher.submit("HSET", key, "w1", b"%d %s" % (int(at_ms) - 90_000, state))
    await bus.batcher.run(scripts.HEARTBEAT, [key], ["w2", state, 60_000])
    assert await names(bus) == ["w2"]


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\xff\x00",
        b"soon {}",
        b"17 {}",
        b'17 {"host":1}',
        b"{}",
        b"9" * 5_000 + b' {"pid":1}',
        b"9" * 14,
    ],
)
async def test_a_malformed_heartbeat_stops_neither_observers_nor_workers(bus: Bus, garbage: bytes) -> None:
    await bus.batcher.submit("HSET", bus.keys.workers("coordinator"), "foreign", garbage)
    assert await names(bus) == []
    async with beating(bus, "w1"):
        await eventually(lambda: _are(bus, ["w1"]))
        assert await bus.formats.now() == FORMAT
    assert await bus.batcher.submit("HEXISTS", bus.keys.workers("coordinator"), "foreign") == 0


async def test_a_worker_is_seen_although_something_foreign_held_the_key(bus: Bus) -> None:
    await bus.batcher.submit("SET", bus.keys.workers("coordinator"), "junk")
    async with beating(bus, "w1"):
        await eventually(lambda: _is_listed(bus, "w1"))


async def _is_listed(bus: Bus, name: str) -> bool:
    listed: bytes = await bus.batcher.submit("TYPE", bus.keys.workers("coordinator"))
    return listed in (b"hash", "hash") and name in await names(bus)
