"""The arithmetic of the scripts, on a Redis in memory whose clock is ours: no test of it waits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import fakeredis
import pytest
from antiphon_shared.bus.scripts import script_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reasoning_engine.limits.meters import METERS

SECOND, MINUTE = 1_000_000, 60_000_000
RESERVE, LEARN, SETTLE = (
    script_of("reasoning_engine.limits.limiter", name).text for name in ("reserve", "learn", "settle")
)


class Clock:
    """The clock that TIME reads."""

    now = 1_700_000_000.0

    def time(self) -> float:
        return self.now


@dataclass
class Turn:
    """The turn that a call was granted."""

    start: int
    wait: int
    limits: tuple[int, ...]


class Account:
    """One model's limiter: times in microseconds, amounts by meter."""

    def __init__(self, clock: Clock, limits: tuple[int, ...] = (0, 0, 0, 0), burst: int = 0) -> None:
        self.redis = fakeredis.FakeStrictRedis(server=fakeredis.FakeServer())
        self.limits, self.burst, self._clock = limits, burst, clock

    @property
    def now(self) -> int:
        return round(self._clock.now * SECOND)

    def later(self, microseconds: int) -> None:
        self._clock.now = (self.now + microseconds) / SECOND

    def reserve(self, *units: int, wait: int = 10 * MINUTE) -> Turn | None:
        """Return the call's turn; None when it is later than in `wait`."""
        pairs = [one for pair in zip(self.limits, units, strict=True) for one in pair]
        answer: list[Any] = self.redis.eval(RESERVE, 1, "k", wait, self.burst, *pairs)
        return Turn(int(answer[2]), answer[1], tuple(answer[3:])) if answer[0] else None

    def reserved(self, *units: int) -> Turn:
        turn = self.reserve(*units)
        assert turn is not None
        return turn

    def learn(self, pause: int = 0, **limits: tuple[int, int]) -> None:
        words = []
        for meter, limit in zip(METERS, self.limits, strict=True):
            words += [limit, *limits.get(meter, (0, -1))]
        self.redis.eval(LEARN, 1, "k", pause, self.burst, *words)

    def settle(self, turn: Turn, *units: int) -> None:
        changes = [
            round(more * MINUTE / limit) if limit else 0
            for more, limit in zip(units, turn.limits, strict=True)
        ]
        self.redis.eval(SETTLE, 1, "k", turn.start, *changes)

    def starts(self, count: int, *units: int) -> list[float]:
        """Return when that many calls start that all ask now, in seconds from now."""
        return [(self.reserved(*units).start - self.now) / SECOND for _ in range(count)]


@pytest.fixture(scope="module")
def clock() -> Iterator[Clock]:
    """Yield the clock of TIME; other clocks of fakeredis, for expiry, stay real."""
    ours = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fakeredis.commands_mixins.server_mixin.time", ours)
        yield ours


def test_calls_start_evenly_after_the_burst(clock: Clock) -> None:
    account = Account(clock, (60, 0, 0, 0), burst=3 * SECOND)
    assert account.starts(6, 1, 0, 0, 0) == [0, 0, 0, 1, 2, 3]
    account.later(MINUTE)
    assert account.starts(5, 1, 0, 0, 0) == [0, 0, 0, 1, 2]


def test_sixty_calls_a_minute_are_sixty_calls_a_minute(clock: Clock) -> None:
    account = Account(clock, (60, 0, 0, 0))
    starts = account.starts(180, 1, 0, 0, 0)
    assert [sum(minute <= start / 60 < minute + 1 for start in starts) for minute in range(3)] == [60] * 3


def test_tokens_are_counted_per_call(clock: Clock) -> None:
    account = Account(clock, (0, 0, 6_000, 0), burst=10 * SECOND)
    assert account.starts(4, 1, 0, 1_000, 0) == [0, 10, 20, 30]


def test_the_scarcest_meter_decides(clock: Clock) -> None:
    account = Account(clock, (60, 600_000, 0, 600), burst=5 * SECOND)
    assert account.starts(4, 1, 100, 0, 20) == [0, 0, 1, 3]


def test_a_call_larger_than_a_bucket_waits_until_it_is_full_and_others_wait_the_longer(
    clock: Clock,
) -> None:
    account = Account(clock, (0, 6_000, 0, 0), burst=10 * SECOND)
    assert account.starts(2, 1, 3_000, 0, 0) == [0, 30]
    assert account.starts(1, 1, 1, 0, 0) == [pytest.approx(50.01)]


def test_a_turn_later_than_the_caller_can_wait_for_changes_nothing(clock: Clock) -> None:
    account = Account(clock, (60, 0, 0, 0))
    account.reserved(1, 0, 0, 0)
    before = account.redis.hgetall("k")
    assert account.reserve(1, 0, 0, 0, wait=SECOND - 1) is None
    assert account.redis.hgetall("k") == before
    assert account.reserved(1, 0, 0, 0).wait == SECOND


def test_no_call_waits_longer_than_ten_minutes(clock: Clock) -> None:
    account = Account(clock, (1, 0, 0, 0))
    granted = [account.reserve(1, 0, 0, 0, wait=100 * MINUTE) for _ in range(20)]
    assert [turn is None for turn in granted] == [False] * 11 + [True] * 9


class TestReportedLimits:
    def test_a_lower_limit_is_adopted_and_a_higher_one_is_not(self, clock: Clock) -> None:
        account = Account(clock, (60, 0, 0, 0))
        account.learn(requests=(30, -1))
        assert account.starts(3, 1, 0, 0, 0) == [0, 2, 4]
        account.later(MINUTE)
        account.learn(requests=(120, -1))
        assert account.starts(3, 1, 0, 0, 0) == [0, 1, 2]

    def test_only_the_limits_of_servers_apply_without_settings(self, clock: Clock) -> None:
        account = Account(clock)
        assert account.starts(100, 1, 9_000, 9_000, 0) == [0] * 100
        account.learn(requests=(60, -1))
        assert account.starts(2, 1, 0, 0, 0) == [0, 1]

    def test_capacity_used_by_others_is_no_longer_available(self, clock: Clock) -> None:
        account = Account(clock, (60, 0, 0, 0), burst=10 * SECOND)
        account.learn(requests=(60, 2))
        assert account.starts(4, 1, 0, 0, 0) == [0, 0, 1, 2]

    def test_unused_reservations_are_not_forgotten(self, clock: Clock) -> None:
        account = Account(clock, (60, 0, 0, 0), burst=SECOND)
        account.starts(10, 1, 0, 0, 0)
        account.learn(requests=(60, 59))
        assert account.starts(1, 1, 0, 0, 0) == [10]


class TestAPause:
    def test_no_call_starts_before_a_pause_ends_and_then_one_by_one(self, clock: Clock) -> None:
        account = Account(clock)
        account.learn(pause=7 * SECOND)
        account.learn(pause=2 * SECOND)
        assert account.starts(3, 1, 0, 0, 0) == [7, 7.05, 7.1]
        assert account.reserve(1, 0, 0, 0, wait=6 * SECOND) is None

    def test_a_request_with_a_reservation_asks_again_at_no_cost(self, clock: Clock) -> None:
        account = Account(clock, (60, 0, 0, 0))
        turns = [account.reserved(1, 0, 0, 0) for _ in range(3)]
        account.learn(pause=7 * SECOND)
        assert [account.reserved(0, 0, 0, 0).wait for _ in turns] == [7 * SECOND, 7_050_000, 7_100_000]
        account.later(8 * SECOND)
        assert account.reserved(0, 0, 0, 0).wait == 0
        assert account.reserved(1, 0, 0, 0).wait == 0

    def test_an_endless_one_ends_after_ten_minutes(self, clock: Clock) -> None:
        account = Account(clock)
        account.learn(pause=10**18)
        assert account.reserved(1, 0, 0, 0).wait == 10 * MINUTE


class TestSettling:
    def test_unused_capacity_is_available_to_the_next_request(self, clock: Clock) -> None:
        account = Account(clock, (0, 0, 0, 6_000), burst=10 * SECOND)
        turn = account.reserved(1, 0, 0, 1_000)
        account.settle(turn, 0, 0, 0, -1_000)
        assert account.starts(1, 1, 0, 0, 1_000) == [0]

    def test_excess_usage_delays_the_next_request(self, clock: Clock) -> None:
        account = Account(clock, (0, 0, 0, 6_000), burst=10 * SECOND)
        account.settle(account.reserved(1, 0, 0, 1_000), 0, 0, 0, 500)
        assert account.starts(1, 1, 0, 0, 1_000) == [15]

    def test_a_released_turn_with_later_ones_behind_it_is_lost(self, clock: Clock) -> None:
        """They keep theirs: if a new call got it, two would start at the time of the last."""
        account = Account(clock, (60, 0, 0, 0))
        first, *_ = [account.reserved(1, 0, 0, 0) for _ in range(3)]
        account.settle(first, -1, 0, 0, 0)
        assert account.starts(1, 1, 0, 0, 0) == [3]

    def test_capacity_refilled_long_ago_is_not_returned(self, clock: Clock) -> None:
        account = Account(clock, (0, 0, 0, 6_000), burst=10 * SECOND)
        turn = account.reserved(1, 0, 0, 1_000)
        account.later(MINUTE)
        account.reserved(1, 0, 0, 1_000)
        account.settle(turn, 0, 0, 0, -1_000)
        assert account.starts(1, 1, 0, 0, 1_000) == [10]


def test_a_clock_that_was_set_back_does_not_stop_a_model(clock: Clock) -> None:
    account = Account(clock, (60, 0, 0, 0))
    account.later(24 * 60 * MINUTE)
    account.learn(pause=MINUTE)
    account.reserved(1, 0, 0, 0)
    account.later(-24 * 60 * MINUTE)
    assert account.starts(3, 1, 0, 0, 0) == [0, 1, 2]
    account.learn(requests=(60, 0))
    assert account.starts(1, 1, 0, 0, 0) == [3]


def test_foreign_values_in_the_hash_stop_nothing(
    clock: Clock,
) -> None:
    account = Account(clock, (60, 0, 0, 0))
    account.redis.hset(
        "k", mapping={"requests:full": "x", "requests:limit": "y", "paused": "", "latest": "z"}
    )
    assert account.starts(2, 1, 0, 0, 0) == [0, 1]
    account.learn(pause=SECOND, requests=(60, 30))
    account.settle(account.reserved(1, 0, 0, 0), -1, 0, 0, 0)


def test_an_account_expires_an_hour_after_the_last_call(clock: Clock) -> None:
    account = Account(clock, (60, 0, 0, 0))
    account.reserved(1, 0, 0, 0)
    assert 3_590 < account.redis.ttl("k") <= 3_600


RESERVING = st.tuples(st.just("reserve"), st.integers(1, 20), st.integers(30, 120))
STEPS = st.one_of(
    RESERVING,
    RESERVING,
    RESERVING,
    st.tuples(st.just("later"), st.integers(0, 20), st.just(0)),
    st.tuples(st.just("settle"), st.integers(0, 50), st.sampled_from((0, 0, 10, 50, 100))),
    st.tuples(st.just("pause"), st.integers(1, 20), st.just(0)),
    st.tuples(st.just("learn"), st.integers(0, 60), st.just(0)),
)


@given(st.lists(STEPS, min_size=5, max_size=40), st.integers(0, 4))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_span_of_time_sees_more_than_its_share_and_one_bucket(
    clock: Clock, steps: list[tuple[str, int, int]], burst_s: int
) -> None:
    """Any reservations, cancelled before or after their turn, used in part, paused and reported by the server."""
    account = Account(clock, (30, 0, 0, 600), burst=burst_s * SECOND)
    calls: list[tuple[Turn, int]] = []
    open_calls: list[int] = []
    for what, number, more in steps:
        if what == "reserve":
            turn = account.reserve(1, 0, 0, number, wait=more * SECOND)
            if turn is not None:
                open_calls.append(len(calls))
                calls.append((turn, number))
        elif what == "later":
            account.later(number * SECOND)
        elif what == "pause":
            account.learn(pause=number * SECOND)
        elif what == "learn":
            account.learn(requests=(30, number), output_tokens=(600, number * 10))
        elif open_calls:
            index = open_calls.pop(number % len(open_calls))
            turn, expected = calls[index]
            used = expected * more // 100
            account.settle(turn, 0 if used else -1, 0, 0, used - expected)
            calls[index] = (turn, used)
    started = sorted((turn.start, used) for turn, used in calls if used)
    for limit, amounts in (
        (30, [(start, 1) for start, _ in started]),
        (600, started),
    ):
        bucket = max(burst_s / 60 * limit, 1)
        for i in range(len(amounts)):
            total = 0
            for start, amount in amounts[i:]:
                total += amount
                share = (start - amounts[i][0]) / MINUTE * limit
                assert total <= share + max(bucket, amount) + 0.01
