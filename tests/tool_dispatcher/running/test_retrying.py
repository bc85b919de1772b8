"""Retries: when, after which pause, and the error when they did not help."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from antiphon_shared.tools.calls import ErrorType, ToolError
from antiphon_shared.tools.contract import Backoff, Contract, Retry

from tests.rows import each_row
from tool_dispatcher.authoring.failures import WHAT_TO_DO, tool_error
from tool_dispatcher.running.retrying import RETRY_AFTER_S_MAX, Retries, backoff_s, final_error, pause_s

AT_ONCE = Backoff(initial_ms=1, max_ms=1)
READ = Contract(effect="read", retry=Retry(attempts=3), backoff=AT_ONCE)
WRITE = Contract(effect="write", retry=Retry(attempts=3), backoff=AT_ONCE)
IDEMPOTENT = Contract(effect="write", idempotent=True, retry=Retry(attempts=3), backoff=AT_ONCE)

TRIED_AGAIN: list[tuple[Contract, set[ErrorType]]] = [
    (READ, {"rate_limit", "api_failure", "timeout"}),
    (WRITE, {"rate_limit"}),
    (IDEMPOTENT, {"rate_limit", "api_failure", "timeout", "outcome_unknown"}),
]


@each_row(("contract", "tried_again"), TRIED_AGAIN, ids=["read", "write", "idempotent write"])
@each_row("kind", WHAT_TO_DO)
def test_a_failure_is_retried_when_that_can_help_and_is_safe(
    contract: Contract, tried_again: set[ErrorType], kind: ErrorType
) -> None:
    assert (pause_s(tool_error(kind, "It failed."), contract, 1) is not None) is (kind in tried_again)


@pytest.mark.parametrize(
    ("backoff", "pauses_s"),
    [
        (Backoff(strategy="constant", initial_ms=300), [0.3, 0.3, 0.3, 0.3]),
        (Backoff(strategy="linear", initial_ms=300, max_ms=1_000), [0.3, 0.6, 0.9, 1.0]),
        (Backoff(strategy="exponential", initial_ms=300, max_ms=2_000), [0.3, 0.6, 1.2, 2.0]),
        (Backoff(initial_ms=5_000, max_ms=1_000), [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_backoff_delays_grow_according_to_the_contract(backoff: Backoff, pauses_s: list[float]) -> None:
    contract = Contract(effect="read", backoff=backoff, retry=Retry(attempts=5))
    assert [backoff_s(contract, n) for n in (1, 2, 3, 4)] == pauses_s
    error = tool_error("timeout", "Slow.")
    assert [pause_s(error, contract, n) for n in (1, 2, 3, 4, 5)] == [*pauses_s, None]


@pytest.mark.parametrize(
    ("asked_s", "pause"),
    [(None, 0.2), (0, 0.2), (7.0, 7.2), (RETRY_AFTER_S_MAX, 30.2), (RETRY_AFTER_S_MAX + 1, None)],
)
def test_the_requested_delay_is_respected_up_to_a_limit(asked_s: float | None, pause: float | None) -> None:
    error = tool_error("rate_limit", "Busy.", retry_after_s=asked_s)
    assert pause_s(error, Contract(effect="read"), 1) == pause


class Attempts:
    """Ends as scripted, and counts."""

    def __init__(self, *outcomes: Any) -> None:
        self.made: list[int] = []
        self._outcomes = outcomes

    async def __call__(self, n: int) -> Any:
        self.made.append(n)
        assert len(self.made) <= len(self._outcomes), "one attempt too many"
        outcome = self._outcomes[len(self.made) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def failed(kind: ErrorType = "timeout", message: str = "Slow.", **more: Any) -> ToolError:
    return tool_error(kind, message, **more)


def always(seconds: float) -> Callable[[], float]:
    return lambda: seconds


async def with_retries(
    attempt: Callable[[int], Awaitable[Any]], contract: Contract, time_left: Callable[[], float]
) -> Any:
    retries, number = Retries(contract), 1
    while await retries.wait_before_retry(outcome := await attempt(number), time_left()):
        number += 1
    return retries.final_outcome(outcome)


@pytest.mark.parametrize("data", [None, "text", [], {"a": 1}])
async def test_a_success_of_any_attempt_is_returned(data: Any) -> None:
    for failures in range(3):
        attempts = Attempts(*[failed()] * failures, data)
        assert await with_retries(attempts, READ, always(60)) == data
        assert attempts.made == list(range(1, failures + 2))


async def test_the_last_error_is_returned_with_the_number_of_attempts() -> None:
    attempts = Attempts(failed(), failed("rate_limit", "Busy."), failed("api_failure", "Down."))
    error = await with_retries(attempts, READ, always(60))
    assert error == ToolError(
        error_type="api_failure",
        message="Down. (Tried 3 times)",
        suggested_action="It has been tried again already: go on without it and say so.",
    )


async def test_a_failure_without_a_retry_is_reported_unchanged() -> None:
    error = failed("not_found", "No such course.", suggested_action="Try Rust.")
    assert await with_retries(Attempts(error), READ, always(60)) is error


async def test_a_final_error_ends_the_retries_early() -> None:
    attempts = Attempts(failed(), failed("not_found", "Gone."))
    error = await with_retries(attempts, READ, always(60))
    assert (error.error_type, error.message) == ("not_found", "Gone. (Tried 2 times)")


async def test_no_attempt_begins_without_time_left() -> None:
    slow = Contract(effect="read", backoff=Backoff(initial_ms=60_000, max_ms=60_000))
    assert (await with_retries(Attempts(failed()), slow, always(30))).message == "Slow."


async def test_a_delay_longer_than_the_remaining_time_is_not_started() -> None:
    error = failed("rate_limit", "Busy.", retry_after_s=20)
    assert await with_retries(Attempts(error), READ, always(20)) == error


async def test_an_exception_of_an_attempt_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await with_retries(Attempts(ZeroDivisionError()), READ, always(60))
    with pytest.raises(ZeroDivisionError):
        await with_retries(Attempts(failed(), ZeroDivisionError()), READ, always(60))


async def test_delays_have_jitter_between_half_and_all_of_the_backoff_on_top_of_the_requested_delay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contract = Contract(effect="read", backoff=Backoff(initial_ms=1_000), retry=Retry(attempts=2))
    for asked_s in (0.0, 5.0):
        pauses: list[float] = []

        async def note(seconds: float, pauses: list[float] = pauses) -> None:
            pauses.append(seconds)

        monkeypatch.setattr("asyncio.sleep", note)
        for _ in range(200):
            error = failed("rate_limit", "Busy.", retry_after_s=asked_s)
            assert await with_retries(Attempts(error, "found"), contract, always(60)) == "found"
        assert asked_s + 0.5 <= min(pauses) < asked_s + 0.6
        assert asked_s + 0.9 < max(pauses) <= asked_s + 1.0


class TestAWriteThatMayHaveTakenEffect:
    async def test_an_unknown_outcome_is_retried_with_the_same_key_when_that_is_safe(self) -> None:
        attempts = Attempts(failed("outcome_unknown", "The line went dead."), {"id": 7})
        assert await with_retries(attempts, IDEMPOTENT, always(60)) == {"id": 7}

    async def test_an_unknown_outcome_is_not_retried_when_that_is_unsafe(self) -> None:
        error = failed("outcome_unknown", "The line went dead.")
        assert await with_retries(Attempts(error), WRITE, always(60)) is error

    async def test_an_unknown_outcome_stays_unknown_after_any_later_attempt(self) -> None:
        """Its refusal does not undo what the first attempt may have done."""
        attempts = Attempts(
            failed("outcome_unknown", "The line went dead."), failed("permission_denied", "No more.")
        )
        error = await with_retries(attempts, IDEMPOTENT, always(60))
        assert error.error_type == "outcome_unknown"
        assert error.message == (
            "The line went dead. (Tried 2 times; the last time: permission_denied, No more.)"
        )
        assert "do not repeat it" in error.suggested_action

    @pytest.mark.parametrize("refusal", ["rate_limit", "circuit_open"])
    @pytest.mark.parametrize("failure", ["outcome_unknown", "api_failure", "timeout"])
    async def test_the_failure_is_reported_rather_than_a_later_refusal(
        self, failure: ErrorType, refusal: ErrorType
    ) -> None:
        contract = IDEMPOTENT.model_copy(update={"retry": Retry(attempts=2)})
        attempts = Attempts(failed(failure), failed(refusal, "Not now."))
        error = await with_retries(attempts, contract, always(60))
        assert error.error_type == failure
        assert "Not now." in error.message


async def test_the_last_error_of_a_read_is_reported() -> None:
    error = await with_retries(Attempts(failed(), failed("circuit_open", "Not now.")), READ, always(60))
    assert (error.error_type, error.message) == ("circuit_open", "Not now. (Tried 2 times)")


def test_messages_stay_short_enough_to_travel() -> None:
    for first in (failed("outcome_unknown", "x" * 2_000), failed()):
        message = final_error([first, failed("timeout", "y" * 2_000)], IDEMPOTENT).message
        assert "ried 2 times" in message
        assert len(message) <= 2_000
