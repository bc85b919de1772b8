"""Rate limits: a burst, then one turn after the other, for all processes together."""

import asyncio

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.contract import RateLimit
from redis.exceptions import ConnectionError, ResponseError

from tests.bus.builders import a_bus
from tests.redis_server import RedisServer
from tests.tool_dispatcher.bounds import process
from tests.tool_dispatcher.bounds.batchers import Failing
from tests.tool_dispatcher.bounds.processes import run_several
from tool_dispatcher.bounds import rate
from tool_dispatcher.bounds.rate import RateLimiter
from tool_dispatcher.bounds.refusals import BoundUnknown, RateExceeded

LONG_S = 60.0
RARELY = RateLimit(calls=5, per_s=3_600)
"""A burst of 5, and then one in 12 minutes."""


@pytest.fixture
async def limiter(bus: Bus) -> RateLimiter:
    return RateLimiter(bus.batcher, bus.keys)


async def test_a_burst_is_admitted_at_once_and_not_one_more(limiter: RateLimiter) -> None:
    for _ in range(RARELY.calls):
        await limiter.admit("t", RARELY, 0)
    with pytest.raises(RateExceeded):
        await limiter.admit("t", RARELY, LONG_S)
    await limiter.admit("another tool", RARELY, 0)


async def test_a_refused_call_receives_its_retry_delay_and_takes_no_turn(limiter: RateLimiter) -> None:
    for _ in range(RARELY.calls):
        await limiter.admit("t", RARELY, 0)
    waits = []
    for _ in range(3):
        with pytest.raises(RateExceeded) as refused:
            await limiter.admit("t", RARELY, 0)
        error = refused.value.error
        assert (error.error_type, error.retry_after_s) == ("rate_limit", refused.value.error.retry_after_s)
        assert "It was not run." in error.message
        assert "again after that" in error.suggested_action
        waits.append(error.retry_after_s or 0)
    assert waits == sorted(waits, reverse=True)  # later callers wait no longer than the first
    assert 0 < waits[0] <= 720


async def test_turns_are_waited_for_and_come_evenly(limiter: RateLimiter) -> None:
    """A call is admitted when the rate allows it, or later, and never earlier."""
    limit = RateLimit(calls=2, per_s=0.1)
    started_s = monotonic_s()
    await asyncio.gather(*(limiter.admit("t", limit, LONG_S) for _ in range(8)))
    assert monotonic_s() - started_s >= 6 * 0.05


async def test_after_a_pause_there_is_a_burst_again_and_no_key_in_between(
    bus: Bus, limiter: RateLimiter
) -> None:
    limit = RateLimit(calls=3, per_s=0.15)
    for _ in range(3):
        await limiter.admit("t", limit, 0)
    assert await bus.batcher.submit("PTTL", bus.keys.rate("t")) <= 150
    await asyncio.sleep(0.2)
    assert not await bus.batcher.submit("EXISTS", bus.keys.rate("t"))
    for _ in range(3):
        await limiter.admit("t", limit, 0.1)


async def test_a_turn_later_than_can_be_waited_for_is_refused_without_waiting(limiter: RateLimiter) -> None:
    limit = RateLimit(calls=1, per_s=600)
    await limiter.admit("t", limit, 0)
    with pytest.raises(RateExceeded):
        await asyncio.wait_for(limiter.admit("t", limit, 300), 60)


async def test_a_foreign_value_under_the_key_does_not_stop_the_tool(bus: Bus, limiter: RateLimiter) -> None:
    await bus.batcher.submit("SET", bus.keys.rate("t"), "nonsense")
    await limiter.admit("t", RARELY, 0)


async def test_the_rate_limiter_waits_for_redis(bus: Bus) -> None:
    failing = Failing(bus.batcher, times=2)
    await RateLimiter(failing, bus.keys).admit("t", RARELY, LONG_S)


@pytest.mark.parametrize("error", [ConnectionError("gone"), ResponseError("WRONGTYPE")])
async def test_a_redis_that_does_not_answer_in_time_runs_nothing(
    bus: Bus, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate, "_ANSWER_S", 0.1)
    failing = Failing(bus.batcher, error=error)
    with pytest.raises(BoundUnknown) as refused:
        await RateLimiter(failing, bus.keys).admit("t", RARELY, 0.1)
    assert refused.value.error.error_type == "api_failure"
    assert "The call was not run." in refused.value.error.message


async def test_four_processes_share_one_rate(redis_server: RedisServer, namespace: str) -> None:
    """Counted on Redis's clock: the last call began no earlier than the rate allows."""
    async with a_bus(redis_server.url, namespace, BusSettings()) as bus:
        before_us = await redis_time_us(bus)
        await run_several("rate", redis_server.url, namespace)
        elapsed_us = await redis_time_us(bus) - before_us
    calls, limit = 4 * process.CALLS_OF_A_TASK, process.LIMIT
    assert elapsed_us >= (calls - limit.calls) * limit.per_s / limit.calls * 1_000_000


async def redis_time_us(bus: Bus) -> int:
    seconds, microseconds = await bus.batcher.submit("TIME")
    return int(seconds) * 1_000_000 + int(microseconds)
