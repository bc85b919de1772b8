"""SIGTERM under load: out soon with 0, and nothing is left lying."""

import pytest
from antiphon_shared.events import Component
from antiphon_shared.events.base import COMPONENTS

from tests.flows.pipeline import FORMS, PONDERS, SLOW_AT_FIRST, Pipeline, pipeline
from tests.flows.promises import assert_each_answered_once, assert_results_are_true, assert_undisturbed

STOP_LIMIT_S = 60
"""Within ten seconds it is out, if the machine has time for it; in any case long before a slow call ends."""
LONG_LEASE_S = "600"
"""Longer than any test waits: whatever waits for a lease to run out fails it."""


@pytest.mark.parametrize(
    ("component", "processes"),
    [*((component, 5) for component in COMPONENTS), ("coordinator", 1), ("tool_dispatcher", 1)],
)
def test_a_component_that_receives_a_stop_leaves_nothing_unserved(
    component: Component, processes: int
) -> None:
    with pipeline(
        wait_s=0.05, processes=processes, ANTIPHON_BUS_LEASE_S=LONG_LEASE_S, LEDGER_WAIT_S="0.05"
    ) as five:
        sessions: list[str] = []

        def has_work_in_flight() -> bool:
            while len(sessions) < five.response_count() + 20:
                sessions.append(f"s{len(sessions)}")
                five.submit("Will it be served?", session_id=sessions[-1])
            return five.in_flight(component) > 0

        five.hold_when(has_work_in_flight, f"{component} has a delivery in flight", component)
        assert five.terminate(component, STOP_LIMIT_S) == 0
        five.start(component)
        five.wait_for_responses(len(sessions))
        five.wait_until_idle()
        assert_each_answered_once(five.responses(), sessions)
        for response in five.responses():
            assert assert_undisturbed(five, response) == 0


@pytest.mark.parametrize(
    ("component", "question"), [("reasoning_engine", SLOW_AT_FIRST), ("tool_dispatcher", PONDERS)]
)
@FORMS
def test_work_that_outlasts_a_stop_is_handed_back_and_resumed_at_once(
    component: Component, question: str, processes: int
) -> None:
    """The model, and the tool, would take ten minutes the first time."""
    with pipeline(processes=processes, ANTIPHON_BUS_LEASE_S=LONG_LEASE_S) as five:
        five.submit(question, session_id="s1")
        five.until(
            lambda: is_at_it(five, component), f"nothing but the slow call of the {component} is under way"
        )
        assert five.terminate(component, STOP_LIMIT_S) == 0
        five.start(component)
        response = five.response_to("s1")
        assert response.status == "complete"
        five.wait_until_idle()
        assert_results_are_true(five, response, five.log("s1"))
        run_again = [key for key, runs in five.ledger.runs.items() if len(runs) > 1]
        assert len(run_again) == (question == PONDERS), f"settled calls ran again: {run_again}"


def is_at_it(five: Pipeline, component: Component) -> bool:
    """Return whether only the slow call is in flight: the other tools and replies are quick."""
    model, dispatcher = five.model.under_way(), five.running["tool_dispatcher"].pid
    tools, slow = five.ledger.under_way(dispatcher), five.ledger.under_way(dispatcher, "ponder")
    expected = (1, 0, 0) if component == "reasoning_engine" else (0, 1, 1)
    return (model, tools, slow) == expected and five.pending("coordinator") == 0
