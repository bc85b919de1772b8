"""Engines that share the limits of a model: the real SDK, a server that reports its limits, every kind of Redis."""

import asyncio
from typing import Any

import pytest
from antiphon_shared.breakers.breaker import RefusedCall
from antiphon_shared.bus.redis_bus import Bus

from reasoning_engine.call_guard import CallGuard
from reasoning_engine.limits.limiter import Limiter, Reservation
from reasoning_engine.limits.meters import Limits
from tests.clock import DAY_S, Clock
from tests.messages_server import Scripted
from tests.reasoning_engine.builders import SECONDS_LEFT, ask
from tests.reasoning_engine.fake_breakers import FakeBreakers
from tests.tool_dispatcher.builders import a_bus

MODEL = "claude-sonnet-5-5"
PAUSE_S = 120.0
LIMITED = Scripted(status=429, error="rate_limit_error", headers={"retry-after": str(PAUSE_S)})


def an_engine(bus: Bus, breakers: FakeBreakers | None = None, **limits: Any) -> CallGuard:
    return CallGuard(Limiter(bus.batcher, bus.keys, Limits(**limits)), breakers, pause_max_s=PAUSE_S)


async def settled(*doors: CallGuard) -> None:
    for guard in doors:
        assert guard.limiter is not None
        await guard.limiter.flushed()


def telling(meter: str = "requests", **headers: str) -> Scripted:
    """Return a reply whose headers state a limit."""
    named = {f"anthropic-ratelimit-{meter}-{name}": value for name, value in headers.items()}
    return Scripted(text="Yes.", headers=named)


async def test_together_they_make_no_more_calls_than_the_settings_allow(bus: Bus) -> None:
    """Three at once, and then one a minute."""
    doors = [an_engine(bus, requests=1, burst_s=180) for _ in range(2)]
    outcomes = [await ask(Scripted(text="Yes."), guard=doors[number % 2]) for number in range(6)]
    assert [len(one.requests) for one in outcomes] == [1, 1, 1, 0, 0, 0]
    failed = outcomes[-1].failed
    assert (failed.error.code, failed.error.retryable, failed.attempts) == ("rate_limited", True, 0)
    assert failed.retry_after_s is not None
    assert SECONDS_LEFT < failed.retry_after_s <= 60


async def test_a_limit_reported_to_one_engine_applies_to_all(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    await ask(telling(limit="1", remaining="0"), guard=first)
    await settled(first)
    assert (await ask(guard=second)).failed.error.code == "rate_limited"


async def test_headers_of_an_error_teach_too(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    busy = telling(limit="1", remaining="0").model_copy(update={"status": 529, "error": "overloaded_error"})
    await ask(busy, guard=first, max_attempts=1)
    await settled(first)
    assert (await ask(guard=second)).failed.error.code == "rate_limited"


async def test_used_up_tokens_of_the_server_stop_the_next_call(bus: Bus) -> None:
    guard = an_engine(bus, burst_s=60)
    await ask(telling("input-tokens", limit="100", remaining="0"), guard=guard)
    await settled(guard)
    assert (await ask(guard=guard)).failed.error.code == "rate_limited"


@pytest.mark.parametrize("junk", ["-1", "0", "nan", "1e99", "9" * 400, "x", "ff"])
async def test_invalid_headers_change_nothing(bus: Bus, junk: str) -> None:
    guard = an_engine(bus)
    for _ in range(3):
        asked = await ask(telling(limit=junk, remaining=junk, reset=junk), guard=guard)
        assert asked.completed.text == "Yes."
        await settled(guard)


async def test_a_429_pauses_the_model_for_all_engines(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    refused = await ask(LIMITED, guard=first, retry_after_max_s=PAUSE_S)
    assert (refused.failed.attempts, refused.failed.retry_after_s) == (1, PAUSE_S)
    await settled(first)
    other = await ask(guard=second)
    assert (other.failed.error.code, other.failed.attempts, other.requests) == ("rate_limited", 0, [])
    assert other.failed.retry_after_s is not None
    assert SECONDS_LEFT < other.failed.retry_after_s <= PAUSE_S


async def test_a_short_delay_is_waited_for_and_the_call_is_retried(bus: Bus) -> None:
    limited = LIMITED.model_copy(update={"headers": {"retry-after": "0.2"}})
    asked = await ask(limited, Scripted(text="Yes."), guard=an_engine(bus))
    assert (asked.completed.text, asked.completed.attempts) == ("Yes.", 2)


class Slow(Limiter):
    """One whose turns come after a minute."""

    clock: Clock

    async def reserve(self, *call: Any) -> Reservation:
        self.clock.forward(60)
        await asyncio.sleep(0.001)  # whatever is over by now ends here
        return await super().reserve(*call)


async def test_the_wait_for_a_turn_is_not_part_of_the_calls_own_time(clock: Clock) -> None:
    async with a_bus() as bus:
        slow = Slow(bus.batcher, bus.keys, Limits())
        slow.clock = clock
        settings: dict[str, Any] = {"request_timeout_s": 50, "max_attempts": 1}
        asked = await ask(Scripted(text="Yes."), guard=CallGuard(slow), seconds_left=DAY_S, **settings)
    assert (asked.completed.text, clock.ahead_s) == ("Yes.", 60)


async def test_a_turn_is_returned_when_the_breaker_is_open(bus: Bus) -> None:
    guard = an_engine(bus, FakeBreakers(*[RefusedCall(5.0)] * 5), requests=1, burst_s=60)
    for _ in range(5):
        assert (await ask(guard=guard)).failed.error.code == "circuit_open"
        await settled(guard)
    assert (await ask(Scripted(text="Yes."), guard=guard)).completed.text == "Yes."


async def test_unused_tokens_of_a_call_are_released(bus: Bus) -> None:
    """Replies are estimated at 500 tokens, and these have 5: six fit where two were reserved."""
    guard = an_engine(bus, output_tokens=1_000, burst_s=60)
    reply = Scripted(text="Yes.", usage={"input_tokens": 100, "output_tokens": 5})
    for _ in range(6):
        assert (await ask(reply, guard=guard)).completed
        await settled(guard)


async def test_the_hash_is_the_only_key_and_expires(bus: Bus) -> None:
    guard = an_engine(bus, requests=600)
    await ask(Scripted(text="Yes."), guard=guard)
    await settled(guard)
    assert 0 < await bus.batcher.submit("PTTL", bus.keys.limiter(MODEL)) <= 3_600_000
