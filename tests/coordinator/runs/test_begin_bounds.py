"""Any result of a tool may fail a node, but never the step."""

from typing import Any

import pytest
from antiphon_shared.events import InputRequested, NodesSettled, QuerySubmitted

from tests.coordinator.runs.live import Live, a_pinned
from tests.coordinator.workflows.world import a_plan, call

LONG = "x" * 5_000_000


def reached(node: dict[str, Any], data: Any) -> Live:
    """Return a run whose node `then` begins with the result of a call."""
    graph = {"a": call("look"), "then": {**node, "depends_on": ["a"]}}
    live = Live(a_pinned(a_plan(graph))).begin()
    live.happens(live.answer_to(live.state.open["a"].number, data=data))
    return live


def test_a_long_message_of_an_error_is_cut() -> None:
    live = reached({"type": "error", "message": "There is $a.text"}, {"text": LONG})
    (answer,) = live.answers
    assert len(answer.model_dump_json()) < 10_000
    assert all(
        len(event.model_dump_json()) < 10_000 for event in live.events if isinstance(event, NodesSettled)
    )


def test_a_long_message_to_a_person_is_cut() -> None:
    live = reached({"type": "yield", "message": "$a.text?", "expects": {"yes": "bool"}}, {"text": LONG})
    (asked,) = (event for event in live.events if isinstance(event, InputRequested))
    assert len(asked.message) < 100_000


def test_a_person_reads_a_result_as_json() -> None:
    live = reached({"type": "yield", "message": "$a", "expects": {"yes": "bool"}}, {"is": None})
    (asked,) = (event for event in live.events if isinstance(event, InputRequested))
    assert asked.message == '{"is":null}'


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_question_fails_its_node(text: str) -> None:
    live = reached({"type": "reason", "question": "$a.text"}, {"text": text})
    assert "its question is empty" in live.answers[0].answer


def test_a_long_question_is_cut() -> None:
    live = reached({"type": "reason", "question": "$a.text", "instructions": "$a.text"}, {"text": LONG})
    assert live.state.open["then"].kind == "reason"
    assert not any(isinstance(event, QuerySubmitted) for event in live.events), (
        "the event belongs to another session"
    )


@pytest.mark.parametrize("until", ["2026-12-31T23:59:60Z", "0000-01-01T00:00:00Z"])
def test_a_date_time_that_is_not_a_moment_fails_its_node(until: str) -> None:
    live = reached({"type": "wait", "until": "$a.at"}, {"at": until})
    assert "is not a date-time of the calendar" in live.answers[0].answer
