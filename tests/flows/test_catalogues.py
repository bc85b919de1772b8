"""A session has the tools of a running dispatcher, not an empty catalogue that an earlier one has left in Redis."""

from collections.abc import Iterator

import pytest

from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.recorded import assert_recordings_verify

OTHERS = ("coordinator", "reasoning_engine", "context_synthesizer", "response_assembler")


@pytest.fixture
def five() -> Iterator[Pipeline]:
    """Return a pipeline that is not started, whose last dispatcher had no tools."""
    with pipeline(is_started=False) as five:
        five.start("tool_dispatcher", ANTIPHON_TOOLS="")
        five.until(lambda: five.client.exists(five.keys.catalogue()) == 1, "the empty catalogue")
        assert five.terminate("tool_dispatcher", 60) == 0
        yield five


def test_a_query_waits_for_the_tools_of_the_next_dispatcher(five: Pipeline) -> None:
    five.start(*OTHERS)
    five.submit("How high is it?", session_id="s1")
    five.until(lambda: bool(five.log("s1")), "the query to be read")
    five.start("tool_dispatcher")
    response = five.response_to("s1")
    assert response.tool_calls_used
    assert "tools_unavailable" not in {uncertainty.kind for uncertainty in response.uncertainty}


def test_an_answer_without_a_dispatcher_reports_missing_tools(five: Pipeline) -> None:
    five.start(*OTHERS, ANTIPHON_COORDINATOR_CATALOGUE_WAIT_S="0.5")
    five.submit("How high is it?", session_id="s1")
    (uncertainty,) = [
        uncertainty
        for uncertainty in five.response_to("s1").uncertainty
        if uncertainty.kind == "tools_unavailable"
    ]
    assert uncertainty.message.startswith("No tool dispatcher had published its tools")


def test_an_answer_whose_deadline_passes_without_a_dispatcher_names_that_and_replays(five: Pipeline) -> None:
    """Let one query wait until its deadline, and another one ask for tools before its deadline."""
    five.start(*OTHERS, "tool_dispatcher", ANTIPHON_COORDINATOR_CATALOGUE_WAIT_S="6")
    five.wait_until_ready(*OTHERS, "tool_dispatcher")
    assert five.terminate("tool_dispatcher", 60) == 0
    five.submit("How high is it?", session_id="s1", options='{"deadline_s": 4}')
    five.submit("How high is it?", session_id="s2", options='{"deadline_s": 12}')
    messages = {}
    for session_id in ("s1", "s2"):
        response = five.response_to(session_id)
        assert response.termination_reason == "deadline_exceeded"
        assert "Start a tool dispatcher" in response.answer
        (messages[session_id],) = (
            uncertainty.message
            for uncertainty in response.uncertainty
            if uncertainty.kind == "tools_unavailable"
        )
    assert messages == {
        "s1": "No tool dispatcher was running until the deadline, so no tool was called.",
        "s2": "No tool dispatcher was running when the time ran out, so calls of round 1 were not finished.",
    }
    assert_recordings_verify(five, ["s1", "s2"])
