"""Calls to the model and their breaker: the real SDK, a real socket, breakers in memory."""

import asyncio
from typing import Any

import pytest
from antiphon_shared.breakers.breaker import CLOSED, Allowed, RefusedCall
from antiphon_shared.events import ReasoningFailed, SummaryFailed

from reasoning_engine.call_guard import CallGuard, Permit
from reasoning_engine.engine import summarize
from reasoning_engine.model import messages_model
from tests.bus.builders import eventually
from tests.clock import DAY_S, Clock
from tests.messages_server import Scripted, serving
from tests.reasoning_engine.builders import CONNECTION_S, Asked, ask, ask_at, the_settings
from tests.reasoning_engine.fake_breakers import HALF_OPEN, FakeBreakers
from tests.reasoning_engine.test_engine import travels
from tests.reasoning_engine.test_summarize import SOURCE
from tests.reasoning_engine.test_summarize import a_request as a_summary_request

NAME = "model:claude-sonnet-5-5"
ANSWER = Scripted(text="Because.")
PROBE = Allowed(HALF_OPEN)


class Observed:
    """The outcome of one request, and the reports to the breakers."""

    def __init__(self, asked: Asked, breakers: FakeBreakers) -> None:
        self.asked = asked
        assert not breakers.is_probed, "no other call is let through until the probe's result is known"
        assert all(name == NAME for name, _ in breakers.noted)
        self.failures = [is_failure for _, is_failure in breakers.noted]

    @property
    def failed(self) -> ReasoningFailed:
        travels(self.asked.failed)
        return self.asked.failed


async def observed(
    *script: Scripted, answers: tuple[Any, ...] = (), slow_s: float | None = None, **more: Any
) -> Observed:
    breakers = FakeBreakers(*answers)
    asked = await ask(*script, guard=CallGuard(breakers=breakers, slow_s=slow_s), **more)
    return Observed(asked, breakers)


async def test_a_reply_is_a_success() -> None:
    assert (await observed(ANSWER)).failures == [False]


async def test_an_open_circuit_prevents_calls_of_the_model() -> None:
    one = await observed(answers=(RefusedCall(12.5),))
    failed = one.failed
    assert (failed.error.code, failed.error.retryable, failed.retry_after_s) == ("circuit_open", True, 12.5)
    assert (failed.attempts, one.asked.requests, one.failures) == (0, [], [])
    assert "claude-sonnet-5-5" in failed.error.message
    assert "ANTIPHON_MODELS" in failed.error.message


async def test_a_circuit_that_opens_between_two_attempts_ends_the_exchange() -> None:
    one = await observed(
        Scripted(status=529, error="overloaded_error"), answers=(Allowed(HALF_OPEN), RefusedCall(3.0))
    )
    assert (one.failed.error.code, one.failed.attempts, one.failures) == ("circuit_open", 1, [True])


@pytest.mark.parametrize(
    "trouble",
    [
        Scripted(status=529, error="overloaded_error"),
        Scripted(status=500),
        Scripted(status=504, body=""),
        Scripted(wait_s=30),
        Scripted(text="Half of", break_after=4),
        Scripted(body="garbage"),
    ],
)
async def test_an_error_of_the_model_counts_as_a_failure(trouble: Scripted) -> None:
    one = await observed(trouble, max_attempts=1, request_timeout_s=0.3)
    assert (one.failures, one.failed.attempts) == ([True], 1)


@pytest.mark.parametrize(
    "reply",
    [
        Scripted(status=400, error="invalid_request_error", text="tools.0: bad"),
        Scripted(status=413, error="request_too_large"),
        Scripted(status=401, error="authentication_error"),
        Scripted(status=403, error="permission_error"),
        Scripted(status=404, error="not_found_error"),
        Scripted(text="No.", stop_reason="refusal"),
    ],
)
async def test_an_error_that_waiting_does_not_fix_opens_no_breaker(reply: Scripted) -> None:
    """Otherwise the next sessions would wait for the breaker to close before they get the error."""
    assert (await observed(reply)).failures == [False]


async def test_an_empty_reply_is_one_too_each_time() -> None:
    assert (await observed(Scripted(text=" ", repeat=True))).failures == [False, False]


async def test_every_attempt_is_reported_separately() -> None:
    busy = Scripted(status=529, error="overloaded_error")
    assert (await observed(busy, busy, ANSWER)).failures == [True, True, False]


LIMITED = Scripted(status=429, error="rate_limit_error", headers={"retry-after": "7"})


async def test_a_reached_rate_limit_does_not_count_as_a_failure() -> None:
    one = await observed(LIMITED, max_attempts=1)
    assert (one.failed.error.code, one.failed.retry_after_s, one.failures) == ("rate_limited", 7.0, [])


async def test_a_probe_that_reaches_a_limit_has_found_the_model_alive() -> None:
    assert (await observed(LIMITED, answers=(PROBE,), max_attempts=1)).failures == [False]


async def test_a_reply_that_is_slow_is_used_and_counts_as_failed() -> None:
    one = await observed(Scripted(text="At last.", wait_s=0.2), slow_s=0.1)
    assert (one.asked.completed.text, one.failures) == ("At last.", [True])
    assert (await observed(ANSWER, slow_s=60)).failures == [False]


@pytest.mark.parametrize(("slow_s", "failures"), [(None, []), (30, [True])], ids=["not slow", "slow"])
async def test_a_call_cut_off_by_the_sessions_own_deadline_is_a_failure_of_the_model_only_if_it_was_slow(
    clock: Clock, slow_s: float | None, failures: list[bool]
) -> None:
    breakers = FakeBreakers()
    async with serving(Scripted(wait_s=DAY_S)) as server:
        guard = CallGuard(breakers=breakers, slow_s=slow_s)
        asking = asyncio.ensure_future(ask_at(server.url, server.requests, seconds_left=60, guard=guard))
        await eventually(lambda: server.under_way == 1)
        clock.forward(60)
        one = Observed(await asyncio.wait_for(asking, 60), breakers)
    assert (one.failed.error.code, one.failures) == ("timeout", failures)


@pytest.mark.parametrize(
    ("late", "answer", "noted"),
    [
        (Scripted(text="late", stall_after=3), PROBE, [False]),
        (Scripted(text="late", stall_after=3), Allowed(CLOSED), [False]),
        (Scripted(text="never", wait_s=30), PROBE, [True]),
        (Scripted(text="never", wait_s=30), Allowed(CLOSED), []),
    ],
)
async def test_a_cancelled_call_reports_whether_a_reply_had_begun_and_releases_the_probe(
    late: Scripted, answer: Allowed, noted: list[bool]
) -> None:
    breakers = FakeBreakers(answer)
    async with serving(late) as server:
        guard = ObservedGuard(breakers=breakers)
        asking = asyncio.ensure_future(asked_at(server.url, guard))
        await eventually(lambda: server.under_way > 0 and (guard.has_received or late.stall_after is None))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert breakers.noted == [("model:claude-haiku-5-5", is_failure) for is_failure in noted]


class ObservedGuard(CallGuard):
    """One that knows when the first reply has begun."""

    permit: Permit | None = None

    async def enter(self, *call: Any) -> Permit:
        self.permit = await super().enter(*call)
        return self.permit

    @property
    def has_received(self) -> bool:
        return self.permit is not None and self.permit.has_received


async def asked_at(url: str, guard: CallGuard) -> object:
    model = messages_model(None, url, CONNECTION_S)
    try:
        return await summarize(
            a_summary_request(),
            SOURCE,
            model,
            the_settings(),
            seconds_left=20.0,
            guard=guard,
        )
    finally:
        await model.close()


async def test_a_summary_is_guarded_by_the_breaker_of_its_own_model() -> None:
    async with serving() as server:
        failed = await asked_at(server.url, CallGuard(breakers=FakeBreakers(RefusedCall(5.0))))
        assert isinstance(failed, SummaryFailed)
        assert (failed.error.code, server.requests) == ("circuit_open", [])
