"""kill -9 inside writes: before, during and after the effect, and before it is settled.

The service that receives the writes keeps records of its own; write_promises.py states what must hold in them.
"""

import os
import random
import time
from collections.abc import Iterator

import pytest

from tests.chaos.traffic import Traffic
from tests.chaos.write_kills import WriteKiller
from tests.chaos.write_promises import assert_kept
from tests.chaos.write_report import WRITES
from tests.chaos.write_states import KINDS, Kind, State
from tests.chaos.writers import Writers, writers

pytestmark = [pytest.mark.chaos, pytest.mark.long]

KILLS = int(os.environ.get("CHAOS_WRITE_KILLS", "24"))
"""Over all tests of this file."""
AIMED_AT: tuple[State, ...] = ("read", "before", "during", "after", "settle", "commit")
OF_EACH = max(1, KILLS // ((len(AIMED_AT) + 1) * len(KINDS)))
"""The kills of each kind of write in each of its states."""
IS_LONG = "CHAOS_WRITE_KILLS" in os.environ
STATES: dict[Kind, tuple[State, ...]] = {
    kind: AIMED_AT if IS_LONG else AIMED_AT[n :: len(KINDS)] for n, kind in enumerate(KINDS)
}
"""Each state for each kind in the long form; in the short one each state once, shared out among the kinds."""
AT_RANDOM = max(2, KILLS - OF_EACH * len(AIMED_AT) * len(KINDS)) if IS_LONG else 4
FROZEN_IN: tuple[State, ...] = ("before", "during", "after")
FREEZES = max(2, KILLS // 40)
"""The number of each kind of write."""
OPEN_MAX = 6
DRAIN_LIMIT_S = 120.0
OVERRUN_MAX = OPEN_MAX + KILLS // 20
"""Plain writes whose process was alive and got no CPU time for a lease: their outcome is unknown too, rightly. One such
pause can concern as many writes as are open."""


@pytest.fixture(scope="module")
def two() -> Iterator[Writers]:
    with writers() as two_dispatchers:
        yield two_dispatchers


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_killed_at_any_point_has_at_most_one_effect_and_is_reported_truly(
    two: Writers, kind: Kind
) -> None:
    killer = WriteKiller(two, random.Random(kind))
    traffic = Traffic(two, kind, OPEN_MAX)
    with traffic.flowing():
        for n in range(OF_EACH * len(STATES[kind])):
            killer.kill_in(kind, STATES[kind][n % len(STATES[kind])])
            wait_for_progress(two)
    assert all(killer.landed[kind, state] >= OF_EACH for state in STATES[kind])
    assert_promises(two, killer, traffic)


def test_dispatchers_killed_at_any_moment_write_nothing_twice_and_report_truthfully(two: Writers) -> None:
    choose = random.Random("at random")
    killer = WriteKiller(two, choose)
    traffic = Traffic(two, "any", OPEN_MAX)
    with traffic.flowing():
        for _ in range(AT_RANDOM):
            time.sleep(choose.uniform(0, 1.2))
            killer.kill()
    assert_promises(two, killer, traffic)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dispatcher_that_wakes_up_when_others_have_taken_over_makes_no_second_effect(
    two: Writers, kind: Kind
) -> None:
    """The honoured key has its effect already; what can be asked has been fenced off, and is refused.

    The plain write that was frozen before its request sends it when it wakes up. That is its one effect: it was
    reported as unknown, and never run again.
    """
    killer = WriteKiller(two, random.Random(kind))
    traffic = Traffic(two, f"frozen-{kind}", OPEN_MAX)
    with traffic.flowing():
        for n in range(KINDS.index(kind), KINDS.index(kind) + FREEZES):
            killer.freeze_in(kind, FROZEN_IN[n % len(FROZEN_IN)])
            wait_for_progress(two)
    assert_promises(two, killer, traffic)


def wait_for_progress(two: Writers) -> None:
    """Wait until another batch has been answered: the killed process works again."""
    before = two.response_count()
    two.until(lambda: two.response_count() > before, "the dispatchers at work again")


def assert_promises(two: Writers, killer: WriteKiller, traffic: Traffic) -> None:
    """Check that each batch was answered once, and each write reported as in the service's records."""
    WRITES.landed += killer.landed
    WRITES.in_flight += killer.in_flight
    WRITES.frozen += killer.frozen
    WRITES.kills += killer.kills
    WRITES.batches += len(traffic.session_ids)
    WRITES.broken += 1  # until all of it holds
    two.until(lambda: traffic.is_answered, "all batches answered", DRAIN_LIMIT_S)
    two.wait_until_quiet()
    answers = assert_kept(two, traffic.session_ids)
    assert answers.overrun <= OVERRUN_MAX, (
        f"{answers.overrun} writes were taken over from processes that lived"
    )
    assert two.response_count() == len(two.asked), "a batch was answered twice"
    WRITES.writes += answers.writes
    WRITES.effects += answers.effects
    WRITES.unknown += answers.unknown
    WRITES.overrun += answers.overrun
    WRITES.broken -= 1
