"""Shared breakers with an unreliable Redis: clocks astray, foreign entries, outages."""

import asyncio

import pytest
from antiphon_shared.breakers.breaker import BreakerState, Ending, RefusedCall
from antiphon_shared.breakers.outages import NO_OUTAGES
from antiphon_shared.breakers.table import tool_breaker, write_state
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from redis.exceptions import RedisError

from tests.bus.breaker_processes import (
    LONG,
    LOOK,
    MODEL,
    Ahead,
    all_refuse,
    allows,
    fail,
    is_gone,
    is_reported,
    kept,
    processes,
    refuses,
)
from tests.bus.builders import eventually
from tests.redis_server import running


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (b"tool:look", b"[" * 100_000),
        (b"tool:look", b"\xff\xfe"),
        (b"tool:look", b'{"opened": 1, "unheard": 2}'),
        (b"tool:look", b'{"opened": 1e400}'),
        (b"tool:look", b'{"endings": [{"at": "\\ud800"}]}'),
        (b"\xff\xfe", b"{}"),
        (b"", b"{}"),
        (b"tool:" + b"x" * 65, b'{"opened": 1}'),
    ],
    ids=["deep", "no text", "unknown field", "infinite", "surrogate", "no name", "empty name", "long name"],
)
async def test_foreign_entries_are_harmless_and_removed(bus: Bus, field: bytes, value: bytes) -> None:
    await bus.batcher.submit("HSET", bus.keys.breakers(), field, value)
    async with processes(bus, 1) as (breakers,):
        assert await allows(breakers)
        await eventually(lambda: is_gone(bus))
        fail(breakers)
        await eventually(lambda: is_reported(bus, LOOK))


@pytest.mark.parametrize("name", ["tool:", "tool:a b", "model:", "model:" + "m" * 201, "look", "tool:\ud800"])
async def test_an_invalid_name_has_no_breaker(bus: Bus, name: str) -> None:
    async with processes(bus, 1) as (breakers,):
        fail(breakers, 10, name)
        assert await allows(breakers, name)
        fail(breakers)
        await eventually(lambda: is_reported(bus, LOOK))
        assert list(await kept(bus)) == [LOOK]


async def test_the_clock_of_redis_counts_rather_than_that_of_a_process(bus: Bus) -> None:
    astray = SharedBreakers(bus, LONG, clock := Ahead())
    clock.by_s = 1e6  # as after a machine has slept
    duty = asyncio.create_task(astray.run())
    async with processes(bus, 1) as (one,):
        fail(one)
        await eventually(lambda: astray.outages() != NO_OUTAGES)
        answers = [await breakers.ask(LOOK) for breakers in (one, astray)]
        left_s = [answer.retry_after_s for answer in answers if isinstance(answer, RefusedCall)]
        assert all(500 < seconds < 700 for seconds in left_s)  # by the reply of Redis, even if read late
        assert len(left_s) == 2
    duty.cancel()


@pytest.mark.parametrize("ahead_s", [-1e9, -2_000, 2_000, 1e9])
async def test_a_clock_of_redis_that_jumped_holds_nothing_open(bus: Bus, ahead_s: float) -> None:
    """Times written before the jump are as far from now as this."""
    store = BreakerStore(bus.batcher, bus.keys)
    at = (await store.look()).now + ahead_s
    ending = Ending(at=at, is_failure=True)
    await store.swap(LOOK, b"", write_state(BreakerState(endings=(ending,) * 5, opened=at)))
    await store.swap(MODEL, b"", write_state(BreakerState(endings=(ending,) * 5)))
    async with processes(bus, 2) as (one, _):
        assert await allows(one)
        one.note(LOOK, False)
        await eventually(lambda: is_gone(bus))
        fail(one, 1, MODEL)
        await eventually(lambda: is_reported(bus, MODEL))
        assert len((await kept(bus))[MODEL].endings) == 1


async def test_each_process_decides_for_itself_while_redis_is_away(namespace: str) -> None:
    with running() as server:
        bus = Bus(Connections(server.url), Keys(namespace), BusSettings())
        await bus.open()
        async with processes(bus, 2, clock=(clock := Ahead())) as (one, other):
            fail(one)
            await eventually(lambda: all_refuse((one, other)))
            server.kill()
            await eventually(lambda: is_away(bus))
            clock.by_s = LONG.open_s
            assert await allows(one)
            assert await refuses(one)  # one probe
            one.note(LOOK, False)
            assert await allows(one)
            clock.by_s = 0.0
            fail(other, 3, MODEL)
            assert await refuses(other, MODEL)
            server.start()
            await eventually(lambda: is_reported_in_time(bus, MODEL))
            fail(one, 3, tool_breaker("fetch"))
            await eventually(lambda: refuses(other, tool_breaker("fetch")))
        await bus.close()


async def is_away(bus: Bus) -> bool:
    try:
        await bus.batcher.submit("PING")
    except RedisError:
        return True
    return False


async def is_reported_in_time(bus: Bus, name: str) -> bool:
    try:
        return await is_reported(bus, name)
    except RedisError:
        return False
