"""Engines that share the limits of a model: the real SDK, a server that tells its limits, every Redis there is."""

import asyncio
from typing import Any

import pytest

from reasoning_engine.door import Door
from reasoning_engine.limits.limiter import Limiter
from reasoning_engine.limits.meters import Limits
from shared.breaker import Refused
from shared.bus.redis_bus import Bus
from tests.messages_server import Scripted
from tests.reasoning_engine.builders import ask
from tests.reasoning_engine.fake_breakers import FakeBreakers

MODEL = "claude-sonnet-5-5"
LIMITED = Scripted(status=429, error="rate_limit_error", headers={"retry-after": "20"})


def an_engine(bus: Bus, breakers: FakeBreakers | None = None, **limits: Any) -> Door:
    return Door(Limiter(bus.batcher, bus.keys, Limits(**limits)), breakers, pause_max_s=30)


async def settled(*doors: Door) -> None:
    for door in doors:
        assert door.limiter is not None
        await door.limiter.told()


def telling(meter: str = "requests", **headers: str) -> Scripted:
    """A reply whose headers tell a limit."""
    named = {f"anthropic-ratelimit-{meter}-{name}": value for name, value in headers.items()}
    return Scripted(text="Yes.", headers=named)


async def test_together_they_make_no_more_calls_than_the_settings_allow(bus: Bus) -> None:
    doors = [an_engine(bus, requests=12, burst_s=15) for _ in range(2)]
    outcomes = [
        await ask(Scripted(text="Yes."), door=doors[number % 2], seconds_left=3) for number in range(6)
    ]
    assert [len(one.requests) for one in outcomes] == [1, 1, 1, 0, 0, 0]
    failed = outcomes[-1].failed
    assert (failed.error.code, failed.error.retryable, failed.attempts) == ("rate_limited", True, 0)
    assert failed.retry_after_s is not None
    assert 3 < failed.retry_after_s <= 5


async def test_a_limit_that_the_server_tells_one_engine_holds_for_all(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    await ask(telling(limit="50", remaining="0"), door=first)
    await settled(first)
    assert (await ask(door=second, seconds_left=0.5)).failed.error.code == "rate_limited"


async def test_headers_of_an_error_teach_too(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    busy = telling(limit="50", remaining="0").model_copy(update={"status": 529, "error": "overloaded_error"})
    await ask(busy, door=first, max_attempts=1)
    await settled(first)
    assert (await ask(door=second, seconds_left=0.5)).failed.error.code == "rate_limited"


async def test_tokens_that_are_left_for_nobody_stop_the_next_call(bus: Bus) -> None:
    door = an_engine(bus)
    await ask(telling("input-tokens", limit="6000", remaining="0"), door=door)
    await settled(door)
    assert (await ask(door=door, seconds_left=0.5)).failed.error.code == "rate_limited"


@pytest.mark.parametrize("junk", ["-1", "0", "nan", "1e99", "9" * 400, "x", "ff"])
async def test_junk_in_the_headers_changes_nothing(bus: Bus, junk: str) -> None:
    door = an_engine(bus)
    for _ in range(3):
        asked = await ask(telling(limit=junk, remaining=junk, reset=junk), door=door, seconds_left=5)
        assert asked.completed.text == "Yes."
        await settled(door)


async def test_a_429_pauses_the_model_for_all_engines(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    refused = await ask(LIMITED, door=first, seconds_left=5, retry_after_max_s=30)
    assert (refused.failed.attempts, refused.failed.retry_after_s) == (1, 20.0)
    await settled(first)
    other = await ask(door=second, seconds_left=5)
    assert (other.failed.error.code, other.failed.attempts, other.requests) == ("rate_limited", 0, [])
    assert other.failed.retry_after_s is not None
    assert 10 < other.failed.retry_after_s <= 20


async def test_a_short_pause_is_waited_for_and_the_call_is_made_once_more(bus: Bus) -> None:
    limited = LIMITED.model_copy(update={"headers": {"retry-after": "0.2"}})
    asked = await ask(limited, Scripted(text="Yes."), door=an_engine(bus), seconds_left=20)
    assert (asked.completed.text, asked.completed.attempts) == ("Yes.", 2)


async def test_the_wait_for_a_turn_is_no_part_of_the_calls_own_time(bus: Bus) -> None:
    door = an_engine(bus, requests=40, burst_s=0)
    asking = [ask(Scripted(text="Yes."), door=door, request_timeout_s=1.2, max_attempts=1) for _ in range(2)]
    assert [one.completed.text for one in await asyncio.gather(*asking)] == ["Yes.", "Yes."]


async def test_a_turn_is_given_back_where_the_breaker_lets_nobody_through(bus: Bus) -> None:
    door = an_engine(bus, FakeBreakers(*[Refused(5.0)] * 5), requests=6, burst_s=0)
    for _ in range(5):
        assert (await ask(door=door)).failed.error.code == "circuit_open"
        await settled(door)
    assert (await ask(Scripted(text="Yes."), door=door)).completed.text == "Yes."


async def test_what_a_call_did_not_use_is_given_back(bus: Bus) -> None:
    """Of 500 tokens that a reply is thought to have these have 5: six fit where two were reserved."""
    door = an_engine(bus, output_tokens=1_000, burst_s=60)
    reply = Scripted(text="Yes.", usage={"input_tokens": 100, "output_tokens": 5})
    for _ in range(6):
        await ask(reply, door=door, seconds_left=5)
        await settled(door)


async def test_the_hash_is_the_only_key_and_expires(bus: Bus) -> None:
    door = an_engine(bus, requests=600)
    await ask(Scripted(text="Yes."), door=door)
    await settled(door)
    assert 0 < await bus.batcher.submit("PTTL", bus.keys.limiter(MODEL)) <= 3_600_000
