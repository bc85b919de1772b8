"""The verdict on two source trees depends only on the ratios of their pairs."""

import pytest

from benchmarks.cpu import LIMIT, Interval, Pair, changed, interval, sum_by_process, verdict


def test_the_interval_is_made_of_ranks() -> None:
    """With 20 pairs the 6th and the 15th enclose the median with 95.9 %, the 7th and the 14th with 88 %."""
    ratios = [1 + n / 100 for n in range(20)]
    found = interval(ratios)
    assert (found.lower, found.upper) == (ratios[5], ratios[14])
    assert found.median == pytest.approx(1.095)
    assert interval(list(reversed(ratios))) == interval(ratios)


def test_the_interval_of_six_pairs_spans_all_of_them() -> None:
    found = interval([1.0, 1.1, 0.9, 1.2, 0.8, 1.05])
    assert (found.lower, found.upper) == (0.8, 1.2)


def test_one_pair_in_disorder_changes_little() -> None:
    steady = [1.0] * 20
    assert interval([*steady[1:], 9.0]) == Interval(1.0, 1.0, 1.0)


def test_a_pair_is_compared_over_all_processes() -> None:
    assert Pair({"a": 3.0, "redis": 1.0}, {"a": 1.0, "redis": 1.0}).ratio == 2


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Interval(LIMIT + 0.01, 1.1, 1.2), "too dear"),
        (Interval(0.99, 1.0, LIMIT), "within the limit"),
        (Interval(0.99, 1.02, 1.2), "not shown to be too dear: run more pairs to be sure"),
    ],
)
def test_a_cost_is_too_high_only_if_the_whole_interval_is(found: Interval, words: str) -> None:
    assert verdict(found) == words


def test_calls_are_compared_by_place_and_shown_by_process() -> None:
    ours = {"coordinator a.py: f": 3.0, "coordinator b.py: g": 4.0, "redis": 1.0}
    theirs = {"coordinator a.py: f": 5.0, "coordinator c.py: h": 1.0, "redis": 1.0}
    assert sum_by_process(ours) == {"coordinator": 7.0, "redis": 1.0}
    pairs = [Pair(ours, theirs)]
    assert changed(pairs, 2) == [("coordinator b.py: g", 4.0), ("coordinator a.py: f", -2.0)]
