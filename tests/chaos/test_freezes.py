"""A process that is frozen for longer than a lease, and then continues with messages that it lost."""

import random
from collections.abc import Iterator

import pytest
from antiphon_shared.events import Component
from antiphon_shared.events.base import COMPONENTS

from tests.chaos.kills import Killer, Moment
from tests.chaos.traffic import Traffic
from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.promises import assert_each_answered_once, assert_undisturbed

pytestmark = [pytest.mark.chaos, pytest.mark.long]

FREEZES = 2
MOMENTS: dict[Component, Moment] = {"reasoning_engine": "model call", "tool_dispatcher": "tool call"}


@pytest.fixture(scope="module")
def ten() -> Iterator[Pipeline]:
    """Run two processes of each component, with short leases."""
    with pipeline(copies=2, wait_s=0.06, LEDGER_WAIT_S="0.06", ANTIPHON_BUS_LEASE_S="1.5") as pipeline_of_ten:
        yield pipeline_of_ten


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_worker_that_resumes_too_late_changes_nothing(ten: Pipeline, component: Component) -> None:
    killer = Killer(ten, random.Random(component))
    traffic = Traffic(ten, component)
    with traffic.flowing():
        for _ in range(FREEZES):
            killer.freeze_in(component, MOMENTS.get(component, "read to commit"))
    ten.until(lambda: traffic.is_answered, "all sessions answered")
    ten.wait_until_idle()
    responses = [one for one in ten.responses() if one.session_id in set(traffic.session_ids)]
    assert_each_answered_once(responses, traffic.session_ids)
    for response in responses:
        assert_undisturbed(ten, response, may_read_again=True)
