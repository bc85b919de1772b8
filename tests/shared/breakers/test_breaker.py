"""The circuit breaker: opens when enough fails, lets one probe through, and closes when that one succeeds."""

from dataclasses import dataclass, field

import pytest
from antiphon_shared.breakers.breaker import (
    CLOSED,
    HELD_RETRY_S,
    Allowed,
    Breaker,
    BreakerState,
    Ending,
    ForcedOpen,
    RefusedCall,
)
from antiphon_shared.process.breaker_settings import BreakerSettings
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.rows import each_row

BREAKER = Breaker(calls_min=3, failure_rate=0.5, window_s=60, window_calls=10, open_s=20)


def after(*endings: bool, state: BreakerState = CLOSED, start: float = 0.0) -> BreakerState:
    """Return the state after calls that failed (True) or succeeded, one a second."""
    for second, is_failure in enumerate(endings):
        state = BREAKER.after(state, is_failure, start + second)
    return state


def probing(state: BreakerState, now: float) -> BreakerState:
    allowed = BREAKER.ask(state, now)
    assert isinstance(allowed, Allowed)
    return allowed.state


OPEN = after(True, True, True)
"""Since second 2."""


@each_row(
    ("endings", "opens"),
    [
        ((), False),
        ((True, True), False),
        ((True, True, True), True),
        ((False, False, False, True, True), False),
        ((False, False, False, True, True, True), True),
        ((False,) * 5 + (True,) * 4, False),
        ((False,) * 9 + (True,) * 4, False),
        ((False,) * 9 + (True,) * 5, True),
    ],
)
def test_a_circuit_opens_on_enough_failures_among_the_latest_calls(
    endings: tuple[bool, ...], opens: bool
) -> None:
    assert (after(*endings).opened is not None) is opens


def test_a_circuit_opens_by_rate_and_never_below_a_minimum_of_calls() -> None:
    breaker = Breaker()
    few = few_calls(breaker, failures=9, successes=0)
    assert few.opened is None, "nine calls are too few to judge by, whatever their rate"
    assert breaker.after(few, True, 9).opened == 9
    assert few_calls(breaker, failures=4, successes=6).opened is None
    assert few_calls(breaker, failures=6, successes=5).opened is not None


def test_two_timeouts_among_ten_calls_leave_it_closed_whichever_come_first() -> None:
    for first in range(9):
        endings = [place in (first, first + 1) for place in range(10)]
        state = CLOSED
        for second, is_failure in enumerate(endings):
            state = Breaker().after(state, is_failure, second)
        assert state.opened is None


def few_calls(breaker: Breaker, failures: int, successes: int) -> BreakerState:
    state = CLOSED
    for second in range(failures + successes):
        state = breaker.after(state, second >= successes, second)
    return state


def test_failures_of_long_ago_are_forgotten() -> None:
    state = after(True, True)
    assert after(True, state=state, start=62).opened is None
    assert after(True, state=state, start=60).opened == 60


def test_an_open_circuit_refuses_calls_until_its_time_is_over() -> None:
    assert (BREAKER.ask(OPEN, 2), BREAKER.ask(OPEN, 12)) == (RefusedCall(20), RefusedCall(10))
    assert [BREAKER.phase(OPEN, now) for now in (2, 21.9, 22, 100)] == [
        "open",
        "open",
        "half_open",
        "half_open",
    ]
    assert isinstance(BREAKER.ask(OPEN, 22), Allowed)


def test_half_open_lets_one_call_through() -> None:
    state = probing(OPEN, 22)
    assert BREAKER.ask(state, 23) == RefusedCall(19)


def test_a_successful_probe_closes_the_circuit() -> None:
    assert BREAKER.after(probing(OPEN, 22), False, 23) == CLOSED


def test_a_probe_that_fails_opens_it_for_as_long_again() -> None:
    state = BREAKER.after(probing(OPEN, 22), True, 30)
    assert (BREAKER.ask(state, 30), BREAKER.phase(state, 49)) == (RefusedCall(20), "open")
    assert isinstance(BREAKER.ask(state, 50), Allowed)


def test_a_lost_probe_is_replaced() -> None:
    state = probing(probing(OPEN, 22), 42)
    assert state.probed == 42


def test_a_call_that_began_before_the_circuit_opened_changes_nothing() -> None:
    assert BREAKER.after(OPEN, True, 5) == BREAKER.after(OPEN, False, 5) == OPEN


def test_a_clock_set_back_does_not_keep_it_open() -> None:
    assert BREAKER.ask(OPEN, 1.5) == RefusedCall(20)  # another process's clock, a little behind
    assert isinstance(BREAKER.ask(OPEN, -3_600), Allowed)


def test_a_breaker_with_more_failures_than_calls_looked_at_can_still_open() -> None:
    breaker, state = Breaker(calls_min=50, window_calls=5), CLOSED
    for second in range(5):
        state = breaker.after(state, True, second)
    assert state.opened == 4


@dataclass
class Model:
    """The expected behaviour of the breaker, computed differently: from the whole history."""

    calls: list[tuple[float, bool]] = field(default_factory=list)
    opened: float | None = None

    def opens(self, now: float) -> bool:
        latest = [failed for at, failed in self.calls if now - at <= BREAKER.window_s][
            -BREAKER.window_calls :
        ]
        return latest[-1] and len(latest) >= 3 and sum(latest) / len(latest) >= 0.5


@given(st.lists(st.tuples(st.floats(0, 40), st.booleans()), max_size=60))
def test_the_breaker_agrees_with_a_model_over_any_history(steps: list[tuple[float, bool]]) -> None:
    """Calls one after the other, each made only when it is allowed."""
    state, model, now = CLOSED, Model(), 0.0
    for pause, is_failure in steps:
        now += pause
        answer = BREAKER.ask(state, now)
        if isinstance(answer, RefusedCall):
            assert model.opened is not None
            assert 0 < answer.retry_after_s <= BREAKER.open_s
            continue
        if model.opened is not None:
            assert now - model.opened >= BREAKER.open_s - 1e-6
        state = BREAKER.after(answer.state, is_failure, now)
        if model.opened is not None:
            model = Model(opened=now if is_failure else None)
        else:
            model.calls.append((now, is_failure))
            model.opened = now if model.opens(now) else None
        assert state.opened == model.opened
        assert len(state.endings) <= BREAKER.window_calls
        assert BreakerState.model_validate_json(state.model_dump_json()) == state


@given(st.lists(st.tuples(st.floats(0, 15), st.sampled_from(["ask", "failed", "went well"])), max_size=80))
def test_with_calls_that_overlap_no_two_probes_begin_within_its_time(steps: list[tuple[float, str]]) -> None:
    state, now, probe = OPEN, 2.0, None
    for pause, step in steps:
        now += pause
        if step != "ask":
            state = BREAKER.after(state, step == "failed", now)
            probe = None
        elif isinstance(answer := BREAKER.ask(state, now), Allowed) and state.opened is not None:
            assert probe is None or now - probe >= BREAKER.open_s - 1e-6
            state, probe = answer.state, now


@given(
    st.lists(st.tuples(st.floats(0.01, 40), st.booleans()), min_size=1, max_size=40),
    st.lists(st.integers(0, 3), min_size=40, max_size=40),
)
def test_the_order_in_which_processes_report_does_not_matter(
    calls: list[tuple[float, bool]], tellers: list[int]
) -> None:
    """Calls of four processes, reported completely and in any order; none knows the last one before it opens."""
    endings, now = [], 0.0
    for pause, is_failure in calls:
        now += pause
        endings.append(Ending(at=now, is_failure=is_failure))
    latest = [one for one in endings if now - one.at <= BREAKER.window_s][-BREAKER.window_calls :]
    of = {
        teller: [one for one, by in zip(latest, tellers, strict=False) if by == teller] for teller in range(4)
    }
    state = CLOSED
    for teller in range(4):
        state = BREAKER.after_all(state, of[teller], now)
    if state.opened is None:
        assert state.endings == tuple(latest)
        assert not opens_somewhere(latest)
    else:
        assert opens_somewhere([one for one in latest if one in state.endings])


def opens_somewhere(endings: list[Ending]) -> bool:
    state = CLOSED
    for ending in endings:
        state = BREAKER.after(state, ending.is_failure, ending.at)
    return state.opened is not None


def test_a_late_report_changes_the_judgement_of_earlier_ones() -> None:
    """Two failures count; a third was before them, in a process that was slow to report."""
    late = (Ending(at=3, is_failure=True),)
    assert BREAKER.after_all(after(True, True, start=5), late, 7).opened == 6


def test_a_report_that_is_too_late_is_not_counted() -> None:
    old = (Ending(at=0, is_failure=True),) * 9
    assert BREAKER.after_all(CLOSED, old, BREAKER.window_s + 1) == CLOSED


@given(st.floats(-1e9, 1e9), st.lists(st.booleans(), max_size=5))
def test_a_circuit_forced_open_has_no_probe_and_no_end(later_s: float, endings: list[bool]) -> None:
    forced_open = BREAKER.force_open(ForcedOpen(at=2e9, by="Ada", because="It costs too much."))
    state = forced_open
    for is_failure in endings:
        state = BREAKER.after(state, is_failure, 2e9 + later_s)
    assert state == forced_open
    assert BREAKER.ask(state, 2e9 + later_s) == RefusedCall(HELD_RETRY_S)
    assert BREAKER.phase(state, 2e9 + later_s) == "open"
    assert not BREAKER.is_droppable(state, 2e9 + later_s)


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from(["ask", "failed", "went well"])), max_size=60))
def test_the_circuit_closes_after_a_successful_probe_following_any_history(
    steps: list[tuple[float, str]],
) -> None:
    state, now = OPEN, 2.0
    for pause, step in steps:
        now += pause
        if step != "ask":
            state = BREAKER.after(state, step == "failed", now)
        elif isinstance(answer := BREAKER.ask(state, now), Allowed):
            state = answer.state
    now += 2 * BREAKER.open_s
    assert BREAKER.after(probing(state, now), False, now).opened is None


@each_row(
    ("state", "now", "is_empty"),
    [
        (CLOSED, 0, True),
        (after(False, False), 1, True),
        (after(False, True), 1, False),
        (after(False, True), 61, False),
        (after(False, True), 62, True),
        (after(False, True), -100, True),  # the clock was set back
        (OPEN, 2, False),
        (OPEN, 82, False),
        (OPEN, 83, True),  # half-open for a minute, without a call
        (probing(OPEN, 82), 83, False),
        (OPEN, -1e6, True),
    ],
)
def test_a_state_is_droppable_only_when_empty(state: BreakerState, now: float, is_empty: bool) -> None:
    assert BREAKER.is_droppable(state, now) is is_empty


LAST_SECOND = BREAKER.open_s + BREAKER.window_s


@each_row(
    ("state", "now", "is_empty"),
    [
        (CLOSED, 0, True),
        (after(False, False), 1, True),
        (after(True), 60, False),
        (after(True), 60.5, True),
        (after(True), -60, False),
        (after(True), -60.5, True),
        (OPEN, 2 + LAST_SECOND, False),
        (OPEN, 2.5 + LAST_SECOND, True),
        (probing(OPEN, 30), 30 + LAST_SECOND, False),
        (probing(OPEN, 30), 30.5 + LAST_SECOND, True),
        (BREAKER.force_open(ForcedOpen(at=2)), 1e9, False),
    ],
)
def test_a_state_is_droppable_after_its_failures_have_expired(
    state: BreakerState, now: float, is_empty: bool
) -> None:
    assert BREAKER.is_droppable(state, now) is is_empty


def test_a_circuit_forced_open_ignores_call_outcomes_and_suggests_a_retry_in_an_hour() -> None:
    forced_open = BREAKER.force_open(ForcedOpen(at=2, by="ann", because="It smokes."))
    assert (forced_open.opened, forced_open.endings, forced_open.probed) == (2, (), None)
    assert BREAKER.phase(forced_open, 1e9) == "open"
    assert BREAKER.ask(forced_open, 1e9) == RefusedCall(HELD_RETRY_S)
    assert BREAKER.after(forced_open, False, 1e9) == BREAKER.after(forced_open, True, 1e9) == forced_open


@pytest.mark.parametrize(
    ("name", "least", "most", "beyond"),
    [
        ("calls_min", 1, 1_000, (0, 1_001)),
        ("failure_rate", 0.001, 1, (0, 1.001)),
        ("window_s", 0.001, 86_400, (0, 86_400.5)),
        ("window_calls", 1, 1_000, (0, 1_001)),
        ("open_s", 0.001, 86_400, (0, 86_400.5)),
    ],
)
def test_breaker_settings_have_bounds(
    name: str, least: float, most: float, beyond: tuple[float, float]
) -> None:
    for value in (least, most):
        assert getattr(BreakerSettings.model_validate({name: value}).breaker, name) == value
    for value in beyond:
        with pytest.raises(ValidationError, match=name):
            BreakerSettings.model_validate({name: value})
