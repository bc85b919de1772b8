"""kill -9 in the middle of the work: a killed process loses no message and repeats no step."""

import os
import random
import time

import pytest
from antiphon_shared.events import Component
from antiphon_shared.events.base import COMPONENTS

from tests.chaos.kills import Killer, Moment
from tests.chaos.report import REPORT
from tests.chaos.traffic import Traffic
from tests.flows.pipeline import Pipeline
from tests.flows.promises import (
    OVERDUE,
    assert_each_answered_once,
    assert_late,
    assert_undisturbed,
    is_alone,
)
from tests.flows.recorded import assert_recordings_verify

pytestmark = [pytest.mark.chaos, pytest.mark.long]

KILLS = int(os.environ.get("CHAOS_KILLS", "27"))
"""Over all tests of this file."""
OF_EACH = max(2, KILLS // (len(COMPONENTS) + 1))
AT_RANDOM = max(2, KILLS - OF_EACH * len(COMPONENTS))
EVERYBODY_EVERY = 10
"""One in so many random kills ends all five at once."""
DRAIN_LIMIT_S = 120.0
OVERDUE_MAX = 1 + KILLS // 100
"""Sessions whose assembler was killed so often in a row that the coordinator ended them itself."""

MOMENTS: dict[Component, tuple[Moment, ...]] = {
    "coordinator": ("read to commit", "submission"),
    "reasoning_engine": ("model call", "read to commit"),
    "tool_dispatcher": ("tool call", "read to commit"),
    "context_synthesizer": ("read to commit",),
    "response_assembler": ("read to commit",),
}


@pytest.mark.parametrize("component", COMPONENTS)
def test_killing_a_component_in_the_middle_of_its_work_changes_nothing(
    five: Pipeline, component: Component
) -> None:
    killer = Killer(five, random.Random(component))
    traffic = Traffic(five, component)
    with traffic.flowing():
        for n in range(OF_EACH):
            killer.kill_in(component, MOMENTS[component][n % len(MOMENTS[component])])
            if n % 2:
                wait_for_progress(five)
    for moment in MOMENTS[component]:
        assert killer.landed[component, moment] >= OF_EACH // len(MOMENTS[component])
    assert_nothing_changed(five, killer, traffic)


def test_killing_any_component_at_any_moment_changes_nothing(five: Pipeline) -> None:
    choose = random.Random("at random")
    killer = Killer(five, choose)
    traffic = Traffic(five, "any")
    with traffic.flowing():
        for n in range(AT_RANDOM):
            time.sleep(choose.uniform(0, 0.8))
            is_everybody = n % EVERYBODY_EVERY == EVERYBODY_EVERY // 2
            for component in COMPONENTS if is_everybody else [choose.choice(COMPONENTS)]:
                killer.kill(component)
    assert killer.landed.total() >= AT_RANDOM
    assert_nothing_changed(five, killer, traffic)


def wait_for_progress(five: Pipeline) -> None:
    """Wait until another session has ended: the killed process works again."""
    before = five.response_count()
    five.until(lambda: five.response_count() > before, "the pipeline at work again")


def assert_nothing_changed(five: Pipeline, killer: Killer, traffic: Traffic) -> None:
    """Check that every session has the events of an undisturbed one, and ended in one response.

    The exception is one whose assembler did not come to answer in time: its log is whole all the same.
    """
    REPORT.landed += killer.landed
    REPORT.sessions += len(traffic.session_ids)
    REPORT.broken += 1  # until all of it holds
    five.until(lambda: traffic.is_answered, "all sessions answered", DRAIN_LIMIT_S)
    five.wait_until_idle()
    responses = [one for one in five.responses() if one.session_id in set(traffic.session_ids)]
    assert_each_answered_once(responses, traffic.session_ids)
    assert_recordings_verify(five, traffic.session_ids)
    overdue = 0
    for response in responses:
        log = five.log(response.session_id)
        if any(event["type"] == OVERDUE for event in log):
            overdue += is_alone(response)
            assert_late(response, log)
        else:
            REPORT.unknown_outcomes += assert_undisturbed(five, response)
    assert overdue <= OVERDUE_MAX, f"{overdue} sessions were answered without the assembler"
    REPORT.overdue += overdue
    REPORT.taken_up = sum(len(runs) - 1 for runs in five.ledger.runs.values())
    REPORT.broken -= 1
