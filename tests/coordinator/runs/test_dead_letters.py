"""Messages of a run that became dead letters: the run continues without them, or ends, and never waits forever."""

from typing import Any

import pytest
from antiphon_shared.events import (
    ApprovalDecided,
    ComponentFailed,
    DeadlineReached,
    EventData,
    InputGiven,
    InputRefused,
    NodeDue,
    PersonOverdue,
)
from antiphon_shared.events.session import RunStatus
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.process.ids import new_id

from tests.coordinator.runs.live import Live, a_pinned
from tests.coordinator.workflows.world import a_plan, call


def set_aside(live: Live, message: EventData) -> None:
    """Let the coordinators set a message of a run aside."""
    error = ErrorInfo(code="event_too_large", message="It is too large.")
    live.happens(ComponentFailed(component="coordinator", failed_event=new_id(), error=error), named=message)


def begun(node: dict[str, Any], approve: str = "") -> Live:
    graph = {
        "first": call("book", compensate={"call": "drop", "args": {}}),
        "then": {**node, "depends_on": ["first"]},
    }
    live = Live(a_pinned(a_plan(graph), approve)).begin()
    live.happens(live.answer_to(live.state.open["first"].number))
    return live


def ends(live: Live) -> RunStatus:
    """Let all calls succeed; returns how the run ends."""
    while live.state.open:
        live.happens(live.answer_to(min(one.number for one in live.state.open.values())))
    (answer,) = live.answers
    assert answer.run is not None
    return answer.run.status


@pytest.mark.parametrize("kind", ["wait", "retry", "yield"])
def test_a_dead_lettered_timer_ends_the_run_and_undoes_its_writes(kind: str) -> None:
    nodes: dict[str, dict[str, Any]] = {
        "wait": {"type": "wait", "seconds": 5},
        "yield": {"type": "yield", "message": "Sure?", "expects": {"yes": "bool"}},
        "retry": call("look", on_error={"retry": 1}),
    }
    live = begun(nodes[kind])
    if kind == "retry":
        live.happens(live.answer_to(live.state.open["then"].number, "timeout"))
    set_aside(live, NodeDue(node="then", attempt=1))
    assert ends(live) == "compensated"
    assert "It is too large." in live.answers[0].answer


def test_the_deadline_stops_a_run_also_when_it_is_set_aside() -> None:
    live = begun(call("look"))
    set_aside(live, DeadlineReached())
    assert ends(live) == "compensated"


@pytest.mark.parametrize(
    "message",
    [ApprovalDecided(round=2, is_approved=True), PersonOverdue(round=2)],
    ids=["decided", "overdue"],
)
def test_a_decision_that_is_set_aside_ends_the_run(message: EventData) -> None:
    live = begun(call("pay"), approve="pay")
    assert live.state.open["then"].kind == "approval"
    set_aside(live, message)
    live.fire("node:then")
    assert ends(live) == "compensated"


def test_the_end_of_a_session_that_is_set_aside_fails_its_node() -> None:
    live = begun({"type": "reason", "question": "Which?"})
    set_aside(live, live.answer_to(live.state.open["then"].number))
    assert ends(live) == "compensated"


def test_values_that_are_set_aside_are_refused_and_waited_for_further() -> None:
    live = begun({"type": "yield", "message": "Sure?", "expects": {"yes": "bool"}})
    given = InputGiven(round=live.state.open["then"].number, values={"yes": True})
    set_aside(live, given)
    (refused,) = (event for event in live.events if isinstance(event, InputRefused))
    assert "It is too large." in refused.because
    live.happens(given)
    assert ends(live) == "completed"


@pytest.mark.parametrize(
    ("tool", "kind"),
    [("look", "internal_error"), ("sql_query", "internal_error"), ("book", "outcome_unknown")],
)
@pytest.mark.parametrize("is_answered", [False, True], ids=["request", "result"])
def test_only_a_write_that_is_set_aside_has_an_unknown_outcome(
    tool: str, kind: str, is_answered: bool
) -> None:
    live = begun(call(tool, args={"sql": "SELECT 1"}))
    number = live.state.open["then"].number
    set_aside(live, live.answer_to(number) if is_answered else live.asked[number])
    failed = live.state.run.nodes["then"].failure
    assert failed is not None
    assert failed.kind == kind


class Forgetful(Live):
    """A run of which no result can be read any more, so that nothing of it can be undone."""

    def _kept(self, key: str) -> Any:
        raise OSError(f"{key} cannot be read")


def forgetful(then: dict[str, Any]) -> Live:
    graph = {
        "first": call("book", compensate={"call": "drop", "args": {"id": "${first.of}"}}),
        "then": {**then, "depends_on": ["first"]},
        "rest": {"type": "reason", "question": "Which?", "depends_on": ["first"]},
    }
    live = Forgetful(a_pinned(a_plan(graph))).begin()
    live.happens(live.answer_to(live.state.open["first"].number))
    return live


def test_a_run_that_cannot_be_stopped_still_ends() -> None:
    live = forgetful({"type": "wait", "seconds": 5, "timeout_s": 9})
    set_aside(live, DeadlineReached())
    reasoned = live.answer_to(live.state.open["rest"].number)
    with pytest.raises(OSError, match="cannot be read"):
        live.happens(reasoned)
    assert live.answers == []
    set_aside(live, reasoned)
    (answer,) = live.answers
    assert answer.run is not None
    assert (answer.run.status, answer.run.standing, answer.run.unknown) == ("failed", ("first",), ())
    assert "It is too large." in answer.answer
    assert "cannot be read" in answer.answer


def test_writes_in_flight_of_a_run_that_cannot_be_stopped_have_an_unknown_outcome() -> None:
    live = forgetful(call("pay"))
    paid = live.answer_to(live.state.open["then"].number, "validation_error")
    live.happens(live.answer_to(live.state.open["rest"].number))
    with pytest.raises(OSError, match="cannot be read"):
        live.happens(paid)
    set_aside(live, paid)
    (answer,) = live.answers
    assert answer.run is not None
    assert (answer.run.status, answer.run.unknown) == ("needs_review", ("then",))
    live.happens(paid)
    assert len(live.answers) == 1
