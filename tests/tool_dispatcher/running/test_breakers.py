"""The breakers of tools: calls of a failing tool are refused, and tried again later."""

from typing import Any

import pytest
from antiphon_shared.breakers.breaker import Breaker
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import ErrorType, ToolError

from tool_dispatcher.authoring.failures import WHAT_TO_DO, error_of, tool_error
from tool_dispatcher.running.breakers import GuardedCall

FAILURES: tuple[ErrorType, ...] = ("api_failure", "timeout", "outcome_unknown")
ANSWERS: tuple[ErrorType, ...] = (
    "validation_error",
    "not_found",
    "permission_denied",
    "rate_limit",
    "internal_error",
)
NEVER_RAN: tuple[ErrorType, ...] = (
    "unknown_tool",
    "dependency_failed",
    "cancelled",
    "circuit_open",
    "repeated_write",
)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(clock: Clock) -> SharedBreakers:
    """Return the breakers of a process that has not reached Redis yet."""
    bus = Bus(Connections("redis://nowhere"), Keys(), BusSettings())
    return SharedBreakers(bus, Breaker(calls_min=3, open_s=20), clock)


def note(breakers: SharedBreakers, *kinds: ErrorType | None) -> None:
    for kind in kinds:
        end(breakers, tool_error(kind, "It went as it went.") if kind else {"found": 1})


def end(breakers: SharedBreakers, *attempts: Any, is_slow: bool = False) -> None:
    """Make one call with these attempts."""
    with GuardedCall(breakers, "look") as call:
        for outcome in attempts:
            call.attempted(outcome, is_slow)


async def asked(breakers: SharedBreakers, tool: str = "look") -> ToolError | None:
    with GuardedCall(breakers, tool) as call:
        return await call.ask()


async def refusal(breakers: SharedBreakers, tool: str = "look") -> ToolError:
    error = await asked(breakers, tool)
    assert error is not None
    return error


@pytest.mark.parametrize("kind", FAILURES)
async def test_failures_open_the_circuit(breakers: SharedBreakers, kind: ErrorType) -> None:
    note(breakers, kind, kind)
    assert await asked(breakers) is None
    note(breakers, kind)
    assert (await refusal(breakers)).error_type == "circuit_open"


@pytest.mark.parametrize("kind", ANSWERS)
async def test_an_answer_that_is_an_error_is_a_success(breakers: SharedBreakers, kind: ErrorType) -> None:
    note(breakers, *(kind,) * 10)
    assert await asked(breakers) is None
    note(breakers, *("timeout",) * 3)
    assert await asked(breakers) is None  # 3 of 13


@pytest.mark.parametrize("kind", NEVER_RAN)
async def test_a_call_that_never_ran_does_not_count_for_its_tool(
    breakers: SharedBreakers, kind: ErrorType
) -> None:
    note(breakers, "timeout", "timeout", *(kind,) * 10)
    assert await asked(breakers) is None
    note(breakers, "timeout")
    assert await asked(breakers) is not None


def test_every_type_of_error_is_one_or_the_other() -> None:
    assert sorted((*FAILURES, *ANSWERS, *NEVER_RAN)) == sorted(WHAT_TO_DO)


async def test_the_refusal_states_the_failures_and_the_advice(breakers: SharedBreakers, clock: Clock) -> None:
    note(breakers, None, *("timeout",) * 2)
    clock.now += 4.5
    error = await refusal(breakers)
    assert error.message == (
        "look is not called at the moment: 2 of its last 3 calls failed. This call was not run."
    )
    assert error.suggested_action == (
        "Use another tool, or go on without look and say so. It is tried again in about 16 s."
    )
    assert error.retry_after_s == pytest.approx(15.5)


async def test_a_breaker_of_one_tool_does_not_affect_another(breakers: SharedBreakers) -> None:
    note(breakers, *("timeout",) * 3)
    assert await asked(breakers, "fetch") is None


@pytest.mark.parametrize(
    ("outcome", "is_open"),
    [
        ("data", False),
        (None, False),
        (tool_error("not_found", "No."), False),
        (tool_error("timeout", "Slow."), True),
    ],
)
async def test_one_probe_decides_whether_the_circuit_closes(
    breakers: SharedBreakers, clock: Clock, outcome: Any, is_open: bool
) -> None:
    note(breakers, *("timeout",) * 3)
    clock.now += 20
    assert await asked(breakers) is None
    assert await asked(breakers) is not None  # one at a time
    end(breakers, outcome)
    assert (await asked(breakers) is not None) is is_open


@pytest.mark.parametrize("outcome", ["data", tool_error("not_found", "No.")])
async def test_an_answer_that_took_too_long_is_a_failure(breakers: SharedBreakers, outcome: Any) -> None:
    for _ in range(3):
        assert await asked(breakers) is None
        end(breakers, outcome, is_slow=True)
    assert (await refusal(breakers)).error_type == "circuit_open"


TIMEOUT = tool_error("timeout", "Slow.")


async def test_a_retried_call_counts_once(breakers: SharedBreakers) -> None:
    for _ in range(2):
        end(breakers, TIMEOUT, TIMEOUT, TIMEOUT)
    assert await asked(breakers) is None
    end(breakers, TIMEOUT, TIMEOUT, TIMEOUT)
    assert (await refusal(breakers)).message.startswith(
        "look is not called at the moment: 3 of its last 3 calls"
    )


async def test_a_call_that_succeeds_in_the_end_is_a_success(breakers: SharedBreakers) -> None:
    for _ in range(9):
        end(breakers, TIMEOUT, TIMEOUT, {"found": 1})
    assert await asked(breakers) is None


async def test_a_call_whose_next_attempt_is_refused_counts_by_the_one_that_ran(
    breakers: SharedBreakers,
) -> None:
    for _ in range(3):
        end(breakers, TIMEOUT, tool_error("circuit_open", "This call was not run."))
    assert await asked(breakers) is not None


async def test_the_probe_may_make_all_of_its_attempts(breakers: SharedBreakers, clock: Clock) -> None:
    note(breakers, *("timeout",) * 3)
    clock.now += 20
    with GuardedCall(breakers, "look") as probe:
        assert await probe.ask() is None
        probe.attempted(TIMEOUT)
        assert await probe.ask() is None
        assert await asked(breakers) is not None
        probe.attempted({"found": 1})
    assert await asked(breakers) is None


@pytest.mark.parametrize(
    ("error", "opens"),
    [(KeyError("month"), False), (ConnectionResetError("gone"), True), (TimeoutError(), True)],
)
async def test_a_fault_of_a_writing_tool_itself_does_not_close_it_for_all_others(
    breakers: SharedBreakers, error: BaseException, opens: bool
) -> None:
    """Its outcome is still unknown."""
    for _ in range(3):
        with GuardedCall(breakers, "look") as call:
            call.raised(error)
            call.attempted(error_of(error, "write"))
    assert error_of(error, "write").error_type == "outcome_unknown"
    assert (await asked(breakers) is not None) is opens
