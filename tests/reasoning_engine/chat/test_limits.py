"""Limits and breakers of models that are asked by chat completions: the same as of any other."""

import pytest
from antiphon_shared.bus.redis_bus import Bus

from reasoning_engine.call_guard import CallGuard
from tests.messages_server import Scripted
from tests.reasoning_engine.builders import CHAT
from tests.reasoning_engine.chat.test_engine import ask_chat
from tests.reasoning_engine.fake_breakers import FakeBreakers
from tests.reasoning_engine.test_shared_limits import an_engine, settled

YES = Scripted(text="Yes.")


async def test_a_limit_reported_to_one_engine_applies_to_all(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    headers = {"x-ratelimit-limit-requests": "1", "x-ratelimit-remaining-requests": "0"}
    await ask_chat(YES.model_copy(update={"headers": headers}), guard=first)
    await settled(first)
    assert (await ask_chat(guard=second)).failed.error.code == "rate_limited"


async def test_a_429_pauses_the_model_for_all_engines(bus: Bus) -> None:
    first, second = an_engine(bus), an_engine(bus)
    limited = Scripted(status=429, error="rate_limit_exceeded", headers={"retry-after": "120"})
    await ask_chat(limited, guard=first, max_attempts=1)
    await settled(first)
    asked = await ask_chat(guard=second)
    assert (asked.failed.error.code, asked.requests) == ("rate_limited", [])


@pytest.mark.parametrize(
    ("reply", "failures"),
    [
        (YES, [False]),
        (Scripted(status=503, error="unavailable_error"), [True]),
        (Scripted(text="Half of", break_after=2), [True]),
        (Scripted(status=401, body=""), [False]),
    ],
)
async def test_only_failures_of_the_model_are_reported_to_its_breaker(
    reply: Scripted, failures: list[bool]
) -> None:
    breakers = FakeBreakers()
    await ask_chat(reply, guard=CallGuard(breakers=breakers), max_attempts=1)
    assert breakers.noted == [(f"model:{CHAT}", one) for one in failures]
