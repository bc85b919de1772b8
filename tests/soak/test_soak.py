"""The short form of the soak; `make soak` runs it for as long as you like."""

import pytest

from tests.redis_server import require_redis_server
from tests.soak.disturbances import KINDS, plan
from tests.soak.soak import Order, soak
from tests.soak.stage import ELDERS

LENGTH_S = 10.0
SESSIONS = 8
SEED = 7
FAULTS_MIN = 3


@pytest.mark.chaos
@pytest.mark.long
def test_every_promise_is_kept_under_all_disturbances() -> None:
    require_redis_server()
    order = Order(LENGTH_S, SEED, SESSIONS, faults_min=FAULTS_MIN, waits_for_retention=False)
    report = soak(order, report_progress=lambda line: None)
    assert report.broken == 0, "\n".join(report.lines())
    assert report.sessions >= SESSIONS
    assert report.faults.total() >= FAULTS_MIN


def test_one_seed_is_one_plan() -> None:
    assert plan(1, 600, has_clocks=True) == plan(1, 600, has_clocks=True)
    assert plan(1, 600, has_clocks=True) != plan(2, 600, has_clocks=True)


def test_a_long_plan_has_every_kind_of_disturbance() -> None:
    assert {planned.kind for planned in plan(1, 3_600, has_clocks=True)} == set(KINDS)


def test_without_a_compiler_no_clock_is_set() -> None:
    assert not [one for one in plan(1, 3_600, has_clocks=False) if one.kind.startswith("clock")]


def test_watched_processes_are_not_ended_after_the_first_third() -> None:
    ends = [
        one
        for one in plan(1, 3_600, has_clocks=True)
        if one.kind in ("kill", "kill all of a kind", "restart")
    ]
    assert {one.target for one in ends if one.at_s > 1_200}.isdisjoint(ELDERS)
    assert not {one.target for one in ends}.isdisjoint(ELDERS)
