"""One order for all engines, on every Redis there is."""

import asyncio
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import Script
from antiphon_shared.bus.wire import Argument
from redis.exceptions import ConnectionError

from reasoning_engine.limits import limiter as limiter_module
from reasoning_engine.limits.headers import ReportedLimits
from reasoning_engine.limits.limiter import Limiter, Reservation, TooLate
from reasoning_engine.limits.meters import Limits, Spending
from tests.clock import Clock

RARELY = Limits(requests=1, burst_s=180)
"""A burst of three, then one call a minute."""
QUICKLY = Limits(requests=3_000, burst_s=0)
"""A call every 20 milliseconds."""


def two_engines(bus: Bus, limits: Limits) -> tuple[Limiter, Limiter]:
    return Limiter(bus.batcher, bus.keys, limits), Limiter(bus.batcher, bus.keys, limits)


def a_call(limiter: Limiter, wait_s: float = 0.0, model: str = "m") -> Coroutine[Any, Any, Reservation]:
    return limiter.reserve(model, 100, 50, wait_s)


async def test_two_engines_share_one_limit(bus: Bus) -> None:
    first, second = two_engines(bus, RARELY)
    for limiter in (first, second, first):
        await a_call(limiter)
    for limiter in (first, second):
        with pytest.raises(TooLate) as late:
            await a_call(limiter, wait_s=20)
        assert 20 < late.value.retry_after_s <= 60


async def test_each_model_has_its_own_limit(bus: Bus) -> None:
    limiter, _ = two_engines(bus, RARELY)
    for _ in range(3):
        await a_call(limiter, model="m")
    await a_call(limiter, model="another {of} any:name\n")


async def test_requests_are_served_in_order_across_engines(bus: Bus) -> None:
    engines = two_engines(bus, QUICKLY)
    calls = [a_call(engines[number % 2], wait_s=60) for number in range(10)]
    turns = [int(reservation.start) for reservation in await asyncio.gather(*calls)]
    assert all(later - earlier >= 20_000 for earlier, later in pairwise(turns))


async def test_a_request_cancelled_while_waiting_releases_its_turn(bus: Bus) -> None:
    first, second = two_engines(bus, Limits(requests=1, burst_s=0))
    await a_call(first)
    waiting = asyncio.ensure_future(a_call(first, wait_s=90))
    await until(bus, turns_given=2)
    with pytest.raises(TooLate):
        await a_call(second, wait_s=90)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await first.flushed()
    again = asyncio.ensure_future(a_call(second, wait_s=90))
    await until(bus, turns_given=2)
    again.cancel()
    await asyncio.wait({again})


async def until(bus: Bus, turns_given: int) -> None:
    """Wait until a number of turns are given at one call a minute, by the time at which the bucket is full again."""
    for _ in range(500):
        full = await bus.batcher.submit("HGET", bus.keys.limiter("m"), "requests:full")
        seconds, _ = await bus.batcher.submit("TIME")
        if round((float(full or 0) / 1e6 - int(seconds)) / 60) == turns_given:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"{turns_given} turns were not given")


async def test_a_call_that_was_not_made_releases_its_capacity(bus: Bus) -> None:
    limiter, _ = two_engines(bus, RARELY)
    for _ in range(10):
        (await a_call(limiter)).settle(Spending(requests=0))
        await limiter.flushed()


async def test_a_limit_reported_to_one_engine_holds_for_the_other(bus: Bus) -> None:
    first, second = two_engines(bus, Limits())
    await a_call(second)
    first.learn("m", {"requests": ReportedLimits(1, remaining=0)})
    await first.flushed()
    with pytest.raises(TooLate):
        await a_call(second, wait_s=20)


async def test_a_pause_that_the_server_asks_for_holds_for_the_other_too(bus: Bus) -> None:
    first, second = two_engines(bus, Limits())
    first.learn("m", {}, pause_s=120)
    await first.flushed()
    with pytest.raises(TooLate) as late:
        await a_call(second, wait_s=20)
    assert 60 < late.value.retry_after_s <= 120


async def test_a_pause_reaches_requests_that_already_have_a_turn(bus: Bus, clock: Clock) -> None:
    first, _ = two_engines(bus, Limits())
    answered = Answered(bus)
    second = Limiter(answered, bus.keys, Limits(requests=1, burst_s=0))
    await a_call(second)
    waiting = asyncio.ensure_future(a_call(second, wait_s=90))
    await asyncio.wait_for(answered.twice.wait(), 60)  # its turn comes in a minute
    first.learn("m", {}, pause_s=120)
    await first.flushed()
    clock.forward(60)
    with pytest.raises(TooLate) as late:
        await waiting
    assert late.value.retry_after_s > 60


class Answered:
    """Reports when two requests have been answered: the caller then waits for its turn."""

    def __init__(self, bus: Bus) -> None:
        self.twice = asyncio.Event()
        self._bus, self._answers = bus, 0

    async def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Any:
        answer = await self._bus.batcher.run(script, keys, arguments)
        self._answers += 1
        if self._answers == 2:
            self.twice.set()
        return answer


async def test_a_short_pause_is_waited_for(bus: Bus) -> None:
    first, second = two_engines(bus, QUICKLY)
    first.learn("m", {}, pause_s=0.1)
    await first.flushed()
    turns = [int(one.start) for one in await asyncio.gather(*(a_call(second, wait_s=30) for _ in range(3)))]
    assert len(set(turns)) == 3


async def test_replies_calibrate_the_expected_usage_of_the_next_call(bus: Bus) -> None:
    """A prompt that comes from the cache, and a short answer, leave room for many."""
    limiter, _ = two_engines(bus, Limits(tokens=6_000, burst_s=60))
    for _ in range(30):
        (await limiter.reserve("m", 5_000, 4_096, 0)).replied(Spending(10, 10))
        await limiter.flushed()


class UnavailableRedis:
    """A Redis that is away, or says nothing."""

    def __init__(self, is_silent: bool) -> None:
        self.is_silent, self.asked = is_silent, 0

    async def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Any:
        self.asked += 1
        if self.is_silent:
            await asyncio.Event().wait()
        raise ConnectionError("gone")


@pytest.mark.parametrize("is_silent", [True, False])
async def test_without_redis_the_call_is_made(
    bus: Bus, is_silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiter_module, "_ANSWER_S", 0.05)
    unavailable = UnavailableRedis(is_silent)
    limiter = Limiter(unavailable, bus.keys, RARELY)
    async with asyncio.timeout(60):
        reservation = await a_call(limiter)
        limiter.learn("m", {"requests": ReportedLimits(5)}, 3)
        reservation.replied(Spending(1, 1))
        await limiter.flushed()
    assert unavailable.asked == 2, "there is no turn to give back"


async def test_a_key_that_holds_another_type_stops_no_process(bus: Bus) -> None:
    await bus.batcher.submit("SET", bus.keys.limiter("m"), "x")
    for _ in range(5):
        await a_call(Limiter(bus.batcher, bus.keys, RARELY))


async def test_a_model_id_that_no_key_can_hold_stops_no_process(bus: Bus) -> None:
    await a_call(Limiter(bus.batcher, bus.keys, RARELY), model="\ud800")
