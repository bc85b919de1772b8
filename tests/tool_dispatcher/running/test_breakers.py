"""The breakers of tools: what keeps failing is answered for, and tried again later."""

from typing import Any

import pytest
from antiphon_shared.breakers.breaker import Breaker
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import ErrorType, ToolError

from tool_dispatcher.authoring.failures import WHAT_TO_DO, tool_error
from tool_dispatcher.running.breakers import ToolBreakers

FAILURES: tuple[ErrorType, ...] = ("api_failure", "timeout", "outcome_unknown")
ANSWERS: tuple[ErrorType, ...] = (
    "validation_error",
    "not_found",
    "permission_denied",
    "rate_limit",
    "internal_error",
)
NEVER_RAN: tuple[ErrorType, ...] = ("unknown_tool", "dependency_failed", "cancelled", "circuit_open")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(clock: Clock) -> ToolBreakers:
    """Those of a process that has not reached Redis yet."""
    bus = Bus(Connections("redis://nowhere"), Keys(), BusSettings())
    return ToolBreakers(SharedBreakers(bus, Breaker(failures_min=3, failure_share=0.5, open_s=20), clock))


def note(breakers: ToolBreakers, *kinds: ErrorType | None) -> None:
    for kind in kinds:
        breakers.note("look", tool_error(kind, "It went as it went.") if kind else {"found": 1})


async def refusal(breakers: ToolBreakers, tool: str = "look") -> ToolError:
    error = await breakers.ask(tool)
    assert error is not None
    return error


@pytest.mark.parametrize("kind", FAILURES)
async def test_failures_open_it(breakers: ToolBreakers, kind: ErrorType) -> None:
    note(breakers, kind, kind)
    assert await breakers.ask("look") is None
    note(breakers, kind)
    assert (await refusal(breakers)).error_type == "circuit_open"


@pytest.mark.parametrize("kind", ANSWERS)
async def test_an_answer_that_is_an_error_is_a_success(breakers: ToolBreakers, kind: ErrorType) -> None:
    note(breakers, *(kind,) * 10)
    assert await breakers.ask("look") is None
    note(breakers, *("timeout",) * 3)
    assert await breakers.ask("look") is None  # 3 of 13


@pytest.mark.parametrize("kind", NEVER_RAN)
async def test_a_call_that_never_ran_says_nothing_of_its_tool(
    breakers: ToolBreakers, kind: ErrorType
) -> None:
    note(breakers, "timeout", "timeout", *(kind,) * 10)
    assert await breakers.ask("look") is None
    note(breakers, "timeout")
    assert await breakers.ask("look") is not None


def test_every_type_of_error_is_one_or_the_other() -> None:
    assert sorted((*FAILURES, *ANSWERS, *NEVER_RAN)) == sorted(WHAT_TO_DO)


async def test_the_refusal_says_what_happened_and_what_to_do(breakers: ToolBreakers, clock: Clock) -> None:
    note(breakers, None, *("timeout",) * 3)
    clock.now += 4.5
    error = await refusal(breakers)
    assert error.message == (
        "look is not called at the moment: 3 of its last 4 calls failed. This call was not run."
    )
    assert error.suggested_action == (
        "Use another tool, or go on without look and say so. It is tried again in about 16 s."
    )
    assert error.retry_after_s == pytest.approx(15.5)


async def test_one_tool_does_not_stand_for_another(breakers: ToolBreakers) -> None:
    note(breakers, *("timeout",) * 3)
    assert await breakers.ask("fetch") is None


@pytest.mark.parametrize(
    ("outcome", "is_open"),
    [
        ("data", False),
        (None, False),
        (tool_error("not_found", "No."), False),
        (tool_error("timeout", "Slow."), True),
    ],
)
async def test_one_probe_decides(breakers: ToolBreakers, clock: Clock, outcome: Any, is_open: bool) -> None:
    note(breakers, *("timeout",) * 3)
    clock.now += 20
    assert await breakers.ask("look") is None
    assert await breakers.ask("look") is not None  # one at a time
    breakers.note("look", outcome)
    assert (await breakers.ask("look") is not None) is is_open


@pytest.mark.parametrize("outcome", ["data", tool_error("not_found", "No.")])
async def test_an_answer_that_took_too_long_is_a_failure(breakers: ToolBreakers, outcome: Any) -> None:
    for _ in range(3):
        assert await breakers.ask("look") is None
        breakers.note("look", outcome, is_slow=True)
    assert (await refusal(breakers)).error_type == "circuit_open"
