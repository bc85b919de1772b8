"""A session has the tools of a running dispatcher, not an empty catalogue that an earlier one has left in Redis."""

from collections.abc import Iterator

import pytest

from tests.flows.pipeline import Pipeline, pipeline

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
    assert "tools_unavailable" not in {doubt.kind for doubt in response.uncertainty}


def test_an_answer_without_a_dispatcher_says_that_there_were_no_tools(five: Pipeline) -> None:
    five.start(*OTHERS, ANTIPHON_COORDINATOR_CATALOGUE_WAIT_S="0.5")
    five.submit("How high is it?", session_id="s1")
    (doubt,) = [doubt for doubt in five.response_to("s1").uncertainty if doubt.kind == "tools_unavailable"]
    assert doubt.message.startswith("No tool dispatcher had published its tools")
