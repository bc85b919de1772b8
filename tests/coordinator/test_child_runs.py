"""Calls of a session that are runs of workflows."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    AssemblyRequested,
    CancellationRequested,
    ChildBegun,
    ChildEnded,
    ChildWaiting,
    ComponentFailed,
    DeadlineReached,
    InputGiven,
    QuerySubmitted,
    QuestionAnswered,
    QuestionAsked,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.session import NodeOutcome, Response, RunOutcome, RunStatus
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import Catalogue, ToolCall, ToolDefinition, ToolResult
from antiphon_shared.workflows.as_tool import as_tool
from antiphon_shared.workflows.specification import Specification

from coordinator.child_questions import questions_of_runs, values_in
from coordinator.decide import decide
from coordinator.decision import Decision, Inputs, LoggedEvent
from coordinator.session import Session
from tests.coordinator.builders import (
    ENTRY,
    a_briefing,
    a_catalogue,
    a_reply,
    a_tool,
    an_opened_session,
    answered,
)
from tests.envelopes import START, an_event

BOOKING = Specification.model_validate(
    {
        "domain": "trips",
        "version": "1",
        "workflows": {
            "book": {
                "description": "Book a trip.",
                "params": {"to": {"type": "str", "required": True}},
                "graph": {
                    "look": {"call": "search", "args": {"q": "$to"}},
                    "seat": {
                        "call": "reserve",
                        "depends_on": ["look"],
                        "args": {"q": "$to"},
                        "compensate": {"call": "reserve"},
                    },
                },
            }
        },
    }
)
TOOLS = a_catalogue("search", a_tool("reserve", "write", mode="sequential-only", scopes=["trips:book"]))


def with_workflow() -> Catalogue:
    tool = as_tool(BOOKING, "book", TOOLS)
    assert tool is not None
    return Catalogue(tools=(*TOOLS.tools, tool), default_scopes=("read", "write", "trips:book"))


CATALOGUE = with_workflow()
BOOK = ToolCall(id="b1", name="w_book", arguments={"to": "Lisbon"})
SEARCH = ToolCall(id="s1", name="search", arguments={"q": "Lisbon"})


def after_calls(*calls: ToolCall, **options: Any) -> Decision:
    opened = an_opened_session(catalogue=CATALOGUE, **options).session
    reasoning = answered(opened, a_briefing(), catalogue=CATALOGUE).session
    return answered(reasoning, a_reply(calls=calls), catalogue=CATALOGUE)


def ended(session: Session, status: RunStatus = "completed", call: str = "b1", **outcome: Any) -> ChildEnded:
    child = next(run.id for run in session.children.runs if run.call.id == call)
    run = RunOutcome(
        workflow="book",
        specification="0" * 32,
        status=status,
        nodes=(NodeOutcome(path="look", status="done"),),
        **outcome,
    )
    response = Response(
        session_id=child,
        status="complete" if status == "completed" else "failed",
        answer=f"The workflow `book` {status}.",
        result={"seat": "3A"} if status == "completed" else None,
        run=run,
        termination_reason="natural_completion",
        rounds_used=0,
        tool_calls_used=2,
        duration_ms=9,
    )
    return ChildEnded(round=session.round, call_id=call, response=response)


def next_step(session: Session, data: Any, named: LoggedEvent | None = None) -> Decision:
    return decide(session, an_event(data), ENTRY, Inputs(CATALOGUE, needed=named))


def results_of(decision: Decision) -> tuple[ToolResult, ...]:
    (completed,) = decision.commands
    assert isinstance(completed, ToolsCompleted)
    return completed.results


def test_a_workflow_is_a_tool_whose_contract_comes_from_its_nodes() -> None:
    tool: ToolDefinition = CATALOGUE.by_name["w_book"]
    assert (tool.effect, tool.contract.mode) == ("write", "sequential-only")
    assert tool.contract.scopes == ("trips:book",)
    assert tool.input_schema["required"] == ["to"]
    assert "- seat: call reserve after look, undone by reserve" in tool.description


def test_a_workflow_that_calls_a_missing_tool_is_not_offered_as_a_tool() -> None:
    assert as_tool(BOOKING, "book", a_catalogue("search")) is None


def test_a_call_of_a_workflow_begins_a_run_with_its_arguments() -> None:
    decision = after_calls(BOOK)
    (begun,), (send,) = decision.commands, decision.sends
    assert isinstance(begun, ChildBegun)
    assert isinstance(send.event, QuerySubmitted)
    assert send.opens
    assert begun.child == send.session_id
    call, parent = send.event.options.workflow, send.event.parent
    assert call is not None
    assert parent is not None
    assert (call.name, call.params) == ("book", {"to": "Lisbon"})
    assert (parent.session, parent.round, parent.call_id) == (decision.session.id, 1, "b1")


def test_calls_run_concurrently_with_a_child_run_and_results_keep_their_order() -> None:
    decision = after_calls(BOOK, SEARCH)
    request, begun = decision.commands
    assert isinstance(request, ToolsRequested)
    assert isinstance(begun, ChildBegun)
    assert [call.id for call in request.calls] == ["s1"]
    found = ToolResult(index=0, call_id="s1", tool="search", status="ok", data=["x"])
    batch = an_event(ToolsCompleted.of(1, (found,)), answers=decision.session.pending_request)
    waiting = decide(decision.session, batch, ENTRY, Inputs(CATALOGUE))
    assert waiting.commands == ()
    done = next_step(waiting.session, ended(waiting.session), LoggedEvent(ENTRY, batch))
    assert [(one.index, one.call_id, one.data) for one in results_of(done)] == [
        (0, "b1", {"seat": "3A"}),
        (1, "s1", ["x"]),
    ]


def test_results_come_together_when_the_run_ends_first() -> None:
    session = after_calls(SEARCH, BOOK).session
    waiting = next_step(session, ended(session))
    assert waiting.commands == ()
    found = ToolResult(index=0, call_id="s1", tool="search", status="ok", data=["x"])
    batch = an_event(ToolsCompleted.of(1, (found,)), answers=waiting.session.pending_request)
    assert [one.call_id for one in results_of(decide(waiting.session, batch, ENTRY, Inputs(CATALOGUE)))] == [
        "s1",
        "b1",
    ]


def test_the_round_continues_with_the_combined_results() -> None:
    session = after_calls(BOOK).session
    event = an_event(ended(session))
    done = decide(session, event, ENTRY, Inputs(CATALOGUE))
    (completed,) = done.commands
    following = decide(done.session, an_event(completed, answers=event.id), "9-0", Inputs(CATALOGUE))
    assert following.session.round == 2
    assert following.session.material.results == "9-0"
    assert following.session.writes.in_doubt == ()


@pytest.mark.parametrize(
    ("status", "outcome", "kind"),
    [
        ("failed", {}, "api_failure"),
        ("timed_out", {}, "timeout"),
        ("cancelled", {}, "cancelled"),
        ("needs_review", {"unknown": ("seat",)}, "outcome_unknown"),
        ("compensation_failed", {"standing": ("seat",)}, "outcome_unknown"),
    ],
)
def test_a_run_that_did_not_complete_is_an_error_for_the_model(
    status: RunStatus, outcome: dict[str, Any], kind: str
) -> None:
    session = after_calls(BOOK).session
    (result,) = results_of(next_step(session, ended(session, status, **outcome)))
    assert result.error is not None
    assert result.error.error_type == kind


def test_the_end_of_another_run_changes_nothing() -> None:
    session = after_calls(BOOK).session
    late = ended(session).model_copy(update={"round": 7})
    assert next_step(session, late).session is session


def test_an_end_reported_twice_counts_once() -> None:
    session = after_calls(BOOK).session
    done = next_step(session, ended(session))
    assert next_step(done.session, ended(session)).session is done.session


def second_round(first: Decision, status: RunStatus, **outcome: Any) -> Decision:
    """Return the decision when the model calls the same workflow again in the next round."""
    event = an_event(ended(first.session, status, **outcome))
    done = decide(first.session, event, ENTRY, Inputs(CATALOGUE))
    (completed,) = done.commands
    briefing = decide(done.session, an_event(completed, answers=event.id), ENTRY, Inputs(CATALOGUE)).session
    reasoning = answered(briefing, a_briefing(2), catalogue=CATALOGUE).session
    again = BOOK.model_copy(update={"id": "b2"})
    return answered(reasoning, a_reply(calls=(again,), round=2), catalogue=CATALOGUE)


def test_a_workflow_called_again_with_the_same_arguments_is_not_run_again() -> None:
    again = second_round(after_calls(BOOK), "completed")
    assert again.sends == ()
    (result,) = results_of(again)
    assert result.repeated is not None
    assert result.repeated.call_id == "b1"


def test_a_workflow_without_remaining_effects_may_be_run_again() -> None:
    first = after_calls(BOOK)
    again = second_round(first, "failed")
    (send,) = again.sends
    assert send.session_id != first.sends[0].session_id


def test_a_workflow_with_writes_in_effect_is_not_run_again() -> None:
    assert second_round(after_calls(BOOK), "failed", standing=("seat",)).sends == ()


def test_the_child_runs_of_a_session_are_cancelled_with_it() -> None:
    session = after_calls(BOOK).session
    decision = next_step(session, DeadlineReached())
    assert [type(one) for one in decision.commands] == [AssemblyRequested]
    (send,) = decision.sends
    assert isinstance(send.event, CancellationRequested)
    assert not send.opens


def a_wait(session: Session, call: str = "b1", because: str = "") -> ChildWaiting:
    child = next(run.id for run in session.children.runs if run.call.id == call)
    return ChildWaiting(
        round=session.round,
        call_id=call,
        child=child,
        request=4,
        message="Book it for 80?",
        expects={"agreed": {"type": "bool", "required": True}},
        because=because,
        until=START + timedelta(days=7),
    )


def test_a_run_that_waits_for_a_person_answers_its_call_and_continues_independently() -> None:
    session = after_calls(BOOK).session
    done = next_step(session, a_wait(session))
    (result,) = results_of(done)
    assert result.data["status"] == "waiting"
    assert result.data["message"] == "Book it for 80?"
    assert "token" not in str(result.data)
    assert next_step(done.session, DeadlineReached()).sends == ()


def test_a_session_with_a_user_asks_for_a_run() -> None:
    session = after_calls(BOOK, interactive=True).session
    asked = next_step(session, a_wait(session))
    (question,) = asked.commands
    assert isinstance(question, QuestionAsked)
    assert question.questions[0].question.startswith("Book it for 80?")
    given = next_step(asked.session, QuestionAnswered(round=1, answer="yes", by="Ann"))
    (send,) = given.sends
    assert send.event == InputGiven(round=4, values={"agreed": True}, by="Ann")
    again = next_step(given.session, a_wait(session, because="it is no bool"))
    (question,) = again.commands
    assert isinstance(question, QuestionAsked)
    assert question.questions[0].question.startswith("it is no bool. ")


@pytest.mark.parametrize(
    ("text", "expects", "values"),
    [
        ("yes", {"ok": {"type": "bool"}}, {"ok": True}),
        ("No.", {"ok": "bool"}, {"ok": False}),
        ("12", {"n": {"type": "int"}}, {"n": 12}),
        ("12", {"n": {"type": "str"}}, {"n": "12"}),
        ("a window", {"seat": {"type": "str"}}, {"seat": "a window"}),
        ('{"ok": true, "n": 1}', {"ok": {"type": "bool"}, "n": {"type": "int"}}, {"ok": True, "n": 1}),
        ("both", {"ok": {"type": "bool"}, "n": {"type": "int"}}, {"answer": "both"}),
    ],
)
def test_an_answer_of_a_user_becomes_the_values_that_a_run_expects(
    text: str, expects: dict[str, Any], values: dict[str, Any]
) -> None:
    assert values_in(text, expects) == values


def test_arguments_of_a_refused_call_begin_no_run() -> None:
    opened = an_opened_session(catalogue=CATALOGUE, max_tool_calls=0)
    reasoning = answered(opened.session, a_briefing(), catalogue=CATALOGUE).session
    assert answered(reasoning, a_reply(calls=(BOOK,)), catalogue=CATALOGUE).sends == ()


def test_exclusive_child_runs_run_one_at_a_time() -> None:
    other = BOOK.model_copy(update={"id": "b2", "arguments": {"to": "Porto"}})
    first = after_calls(BOOK, other)
    assert [
        send.event.parent.call_id
        for send in first.sends
        if isinstance(send.event, QuerySubmitted) and send.event.parent
    ] == ["b1"]
    second = next_step(first.session, ended(first.session))
    (send,) = second.sends
    assert isinstance(send.event, QuerySubmitted)
    assert send.event.options.workflow is not None
    assert send.event.options.workflow.params == {"to": "Porto"}
    done = next_step(second.session, ended(second.session, call="b2"))
    assert [one.call_id for one in results_of(done)] == ["b1", "b2"]


def waiting_for_user(*calls: ToolCall) -> Session:
    """Return an interactive session whose runs of `calls` all wait for its user."""
    session = after_calls(*calls, interactive=True).session
    for run in session.children.runs:
        session = next_step(session, a_wait(session, run.call.id)).session
    return session


def test_a_late_user_leaves_the_model_time_to_conclude() -> None:
    session = after_calls(BOOK, interactive=True).session
    asked = next_step(session, a_wait(session, "b1"))
    (timer,) = asked.timers
    assert isinstance(timer, SetTimer)
    assert isinstance(timer.due, datetime)
    assert timer.due < session.deadline
    overdue = next_step(asked.session, timer.event)
    (result,) = results_of(overdue)
    assert result.data["status"] == "waiting"
    assert not overdue.sends, "the run waits on by itself"


def test_a_queued_run_starts_when_the_user_of_the_previous_one_is_late() -> None:
    other = BOOK.model_copy(update={"id": "b2", "arguments": {"to": "Porto"}})
    session = after_calls(BOOK, other, interactive=True).session
    asked = next_step(session, a_wait(session, "b1"))
    (timer,) = asked.timers
    assert isinstance(timer, SetTimer)
    overdue = next_step(asked.session, timer.event)
    assert [event.call_id for event in overdue.commands if isinstance(event, ChildBegun)] == ["b2"]
    done = next_step(overdue.session, ended(overdue.session, call="b2"))
    assert [one.call_id for one in results_of(done)] == ["b1", "b2"]


def test_an_answer_to_all_questions_is_sent_to_every_asking_run() -> None:
    other = ToolCall(id="b2", name="w_book", arguments={"to": "Porto"})
    session = waiting_for_user(BOOK, other)
    assert [one.id for one in questions_of_runs(session)] == ["b1", "b2"]
    answered = next_step(session, QuestionAnswered(round=session.round, answer="yes", calls=("b1", "b2")))
    assert len(answered.sends) == 2
    assert not questions_of_runs(answered.session)


def test_a_lost_batch_cancels_its_runs() -> None:
    session = after_calls(SEARCH, BOOK).session
    lost = ComponentFailed(
        component="tool_dispatcher",
        failed_event=session.awaiting[0],
        error=ErrorInfo(code="lost", message="Lost."),
    )
    after = next_step(session, lost)
    assert [type(send.event) for send in after.sends] == [CancellationRequested]
    assert after.session.phase != "tools"
    assert not after.session.children.runs, "the next batch does not wait for them"
