"""The model's questions to the user, the effect of an answer, and how long a session waits."""

from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import (
    ApprovalDecided,
    ApprovalRequested,
    AssemblyRequested,
    BriefingRequested,
    CancellationRequested,
    DeadlineReached,
    EventData,
    PersonOverdue,
    QuestionAnswered,
    QuestionAsked,
    ReasoningRequested,
    ToolsRequested,
)
from antiphon_shared.tools.calls import RequestedCall, ToolCall
from hypothesis import given
from hypothesis import strategies as st

from coordinator.decision import Decision
from coordinator.session import Session
from coordinator.session_parts import replace
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_decision,
    a_question,
    a_reply,
    a_result,
    a_tool,
    an_answer,
    an_opened_session,
    answered,
    met,
    only,
    the_results,
)
from tests.rows import each_row

TOOLS = a_catalogue("ask_user", a_tool("book", "write", approval="always"), "search")
SUBMITTED = "1795244309999-0"
BOOK = a_call("book", "b1", arguments={"room": 7})
IN_TIME = "the user has not answered; go on without, and say in the answer what you assumed"


def a_session(**options: Any) -> Session:
    return an_opened_session(TOOLS, **{"interactive": True, **options}).session


def called(session: Session, *calls: ToolCall) -> Decision:
    """Return the step after a reply with those calls, in the session's round."""
    reasoning = answered(session, a_briefing(session.round), TOOLS).session
    return answered(reasoning, a_reply(calls=calls, round=session.round), TOOLS)


def waiting(*calls: ToolCall, **options: Any) -> Session:
    decision = called(a_session(**options), *(calls or (a_question(),)))
    assert decision.session.phase == "approval"
    return decision.session


def after(session: Session, *data: EventData) -> Decision:
    decision = Decision(session)
    for one in data:
        decision = met(decision.session, one, TOOLS, SUBMITTED)
    return decision


def batch(decision: Decision) -> dict[str, RequestedCall]:
    return {call.id: call for call in only(decision, ToolsRequested).calls}


class TestOffer:
    def test_the_user_can_be_asked_only_in_an_interactive_session(self) -> None:
        for interactive, tools in ((True, ("ask_user", "search")), (False, ("search",)), (None, ("search",))):
            session = an_opened_session(TOOLS, ("search",), interactive=interactive).session
            assert only(answered(session, a_briefing(), TOOLS), ReasoningRequested).tools == tools

    def test_a_round_without_tools_has_no_questions_either(self) -> None:
        assert only(answered(a_session(max_rounds=1), a_briefing(), TOOLS), ReasoningRequested).tools == ()
        bare = an_opened_session(a_catalogue("ask_user"), interactive=True).session
        assert only(answered(bare, a_briefing(), TOOLS), ReasoningRequested).tools == ()

    def test_a_question_that_was_not_offered_is_left_to_the_dispatcher_to_refuse(self) -> None:
        request = only(called(a_session(interactive=False), a_question()), ToolsRequested)
        assert "ask_user" not in request.allowed


class TestAsking:
    def test_a_question_waits_with_its_whole_batch(self) -> None:
        decision = called(a_session(), a_call("search"), a_question(choices=["red", "blue"]))
        asked = only(decision, QuestionAsked)
        (question,) = asked.questions
        assert (question.id, question.question, question.choices) == ("q1", "Which one?", ("red", "blue"))
        session = decision.session
        assert (session.phase, session.awaiting, session.people.unanswered) == ("approval", (), ("q1",))
        assert session.spent.tool_calls == 0, "nothing has run yet"
        due = session.deadline - timedelta(seconds=60)
        assert (asked.round, asked.until) == (1, due)
        assert decision.timers == (SetTimer("person", due, PersonOverdue(round=1)),)

    def test_the_batch_is_sent_with_the_entry_of_the_answer(self) -> None:
        decision = after(waiting(a_call("search", "s"), a_question()), an_answer())
        calls = batch(decision)
        assert (calls["s"].answer, calls["q1"].answer) == (None, SUBMITTED)
        assert (calls["s"].refused, calls["q1"].refused) == (None, None)
        assert "ask_user" in only(decision, ToolsRequested).allowed
        assert decision.session.spent.tool_calls == 2, "a question is a call like others"
        assert decision.timers == (CancelTimer("person"),)
        assert (decision.session.people.pending, decision.session.people.unanswered) == ((), ())

    def test_an_answer_of_the_user_is_trusted(self) -> None:
        session = after(waiting(), an_answer()).session
        done = answered(session, the_results(a_result("ask_user", data={"answer": "Red."})), TOOLS)
        assert only(done, BriefingRequested).untrusted == ()
        assert not done.session.material.has_untrusted

    def test_answers_may_arrive_one_by_one(self) -> None:
        session = waiting(a_question("q1"), a_question("q2"))
        first = after(session, an_answer("Blue.", "q2"))
        assert (first.commands, first.timers, first.session.people.unanswered) == ((), (), ("q1",))
        last = met(first.session, an_answer("Red."), TOOLS, "1795244309999-7")
        assert {id: call.answer for id, call in batch(last).items()} == {
            "q1": "1795244309999-7",
            "q2": SUBMITTED,
        }

    def test_a_late_duplicate_or_unrelated_answer_changes_nothing(self) -> None:
        session = waiting(a_question("q1"), a_question("q2"), BOOK)
        for foreign in (
            an_answer("?", "q9"),
            an_answer("?", round=2),
            an_answer("?", "b1"),
            a_decision(True, "q1"),
        ):
            assert after(session, foreign) == Decision(session)
        half = after(session, an_answer("Red.", "q1")).session
        assert met(half, an_answer("Blue.", "q1"), TOOLS, "9-9") == Decision(half), "the first answer stays"
        out = after(half, an_answer(), a_decision(True)).session
        for late in (an_answer(), a_decision(False), PersonOverdue(round=1)):
            assert after(out, late) == Decision(out)
        for other in (a_session(), after(session, CancellationRequested()).session):
            for data in (an_answer(), PersonOverdue(round=1)):
                assert after(other, data) == Decision(other)

    def test_questions_and_approvals_of_a_batch_are_waited_for_together(self) -> None:
        decision = called(a_session(), BOOK, a_question())
        assert [command.type for command in decision.commands] == [ApprovalRequested.type, QuestionAsked.type]
        half = after(decision.session, a_decision(True))
        assert (half.commands, half.session.people.unanswered) == ((), ("q1",))
        calls = batch(after(half.session, an_answer()))
        assert (calls["b1"].approval, calls["b1"].answer) == (SUBMITTED, None)
        assert (calls["q1"].approval, calls["q1"].answer) == (None, SUBMITTED)

    def test_more_than_three_questions_are_too_many(self) -> None:
        decision = called(a_session(), *(a_question(f"q{n}") for n in range(5)))
        assert [question.id for question in only(decision, QuestionAsked).questions] == ["q0", "q1", "q2"]
        refused = [call.refused for call in decision.session.people.pending]
        assert refused[:3] == [None] * 3
        assert all("at most 3 questions" in (why or "") for why in refused[3:])
        assert after(decision.session, an_answer()).session.spent.tool_calls == 3

    def test_a_call_id_used_twice_asks_once(self) -> None:
        decision = called(a_session(), a_question("q", "This?"), a_question("q", "That?"))
        assert [question.question for question in only(decision, QuestionAsked).questions] == ["This?"]
        only(after(decision.session, an_answer()), ToolsRequested)

    def test_the_limit_of_calls_holds_for_questions(self) -> None:
        decision = called(a_session(max_tool_calls=1), a_question("q1"), a_question("q2"))
        assert [question.id for question in only(decision, QuestionAsked).questions] == ["q1"]
        only(called(a_session(max_tool_calls=1), a_call("search"), a_question()), ToolsRequested)

    def test_a_question_with_a_placeholder_is_refused(self) -> None:
        (call,) = only(called(a_session(), a_question(question="${calls[0].title}")), ToolsRequested).calls
        assert "no placeholder" in (call.refused or "")

    @each_row(
        "call",
        [
            a_question(question=""),
            a_question(question="x" * 2_001),
            a_question(choices=["x"] * 11),
            a_question(choices=["x" * 201]),
            a_question(choices="red"),
            a_question(hint="none"),
            a_call("ask_user", "q1"),
            a_call("ask_user", "q1", problem="The arguments came as a list."),
        ],
    )
    def test_an_invalid_question_is_not_forwarded_to_the_user(self, call: ToolCall) -> None:
        (sent,) = only(called(a_session(), call), ToolsRequested).calls
        assert (sent.refused, sent.answer) == (None, None), "the dispatcher reports the error"


class TestWaiting:
    @each_row(
        ("deadline_s", "person_s", "waits_s"),
        [
            (300, 3_600, 239),  # a fifth is for the model
            (300, 100, 100),
            (10, 3_600, 4),  # and 5 s at least
            (86_400, 86_400, 86_099),  # and 5 minutes at most
            (3, 0.4, None),
            (30, 0.4, 0.4),
            (5, 3_600, None),
            (0.5, 3_600, None),
        ],
    )
    def test_no_person_is_waited_for_into_the_models_own_time(
        self, deadline_s: float, person_s: float, waits_s: float | None
    ) -> None:
        session = a_session(deadline_s=deadline_s)
        limits = session.limits.model_copy(update={"person_s": person_s})
        decision = called(replace(session, limits=limits), a_question())
        if waits_s is None:
            assert only(decision, ToolsRequested).calls[0].refused == IN_TIME
            assert [uncertainty.kind for uncertainty in decision.session.uncertainty] == [
                "question_unanswered"
            ]
            return
        end = only(decision, QuestionAsked).until
        assert end is not None
        assert (end - decision.session.opened).total_seconds() == waits_s + 1, "the model asks after a second"

    def test_after_the_wait_the_batch_is_sent_with_the_answers_received(self) -> None:
        session = waiting(
            a_call("search", "s"), a_question("q1", "Which?"), a_question("q2"), BOOK, a_call("book", "b2")
        )
        late = after(session, an_answer("Blue.", "q2"), a_decision(True, "b2"), PersonOverdue(round=1))
        calls = batch(late)
        assert {id: call.refused for id, call in calls.items() if call.refused} == {
            "q1": IN_TIME,
            "b1": "a person has to approve it, but no person decided in time",
        }
        assert (calls["q2"].answer, calls["b2"].approval) == (SUBMITTED, SUBMITTED)
        assert late.timers == (CancelTimer("person"),)
        assert late.session.spent.tool_calls == 3
        messages = {
            uncertainty.kind: (uncertainty.message, uncertainty.about)
            for uncertainty in late.session.uncertainty
        }
        assert messages == {
            "approval_missing": ("No person decided on `book` (b1) in time; it was not run.", "b1"),
            "question_unanswered": ("The user was asked “Which?” and did not answer in time.", "q1"),
        }

    def test_the_timer_of_an_earlier_round_ends_nothing(self) -> None:
        first = after(waiting(), an_answer()).session
        second = answered(first, the_results(a_result("ask_user", data={"answer": "Red."})), TOOLS).session
        again = called(second, a_question("q2")).session
        assert after(again, PersonOverdue(round=1)) == Decision(again)
        only(after(again, PersonOverdue(round=2)), ToolsRequested)

    def test_two_rounds_of_silence_force_an_answer(self) -> None:
        session = a_session(max_rounds=10)
        error = {"error_type": "cancelled", "message": "...", "suggested_action": "..."}
        for round in (1, 2):
            out = after(called(session, a_question()).session, PersonOverdue(round=round)).session
            failed = a_result("ask_user", status="error", error=error)
            session = answered(out, the_results(failed, round=round), TOOLS).session
        assert answered(session, a_briefing(3), TOOLS).session.last_round == "all_tools_failed"

    @pytest.mark.parametrize(
        ("end", "reason"), [(DeadlineReached(), "deadline_exceeded"), (CancellationRequested(), "cancelled")]
    )
    def test_a_session_that_ends_while_it_waits_reports_the_question(
        self, end: EventData, reason: str
    ) -> None:
        session = waiting(a_question("q1", "Which\x1b[2J\none?"), a_question("q2"), BOOK)
        decision = after(session, an_answer("Red.", "q2"), end)
        request = only(decision, AssemblyRequested)
        assert (request.termination_reason, request.batch) == (reason, None)
        messages = {uncertainty.kind: uncertainty.message for uncertainty in request.uncertainty}
        assert messages["question_unanswered"].endswith("one?” and did not answer before the session ended.")
        assert messages["approval_missing"].endswith("no call of that batch was run.")
        assert CancelTimer("person") in decision.timers
        assert (decision.session.people.unanswered, decision.session.people.undecided) == ((), ())


ids = st.sampled_from(["q0", "q1", "b0", "b1", "s"])
asking = (
    st.builds(a_question, ids)
    | st.builds(lambda id: a_call("book", id), ids)
    | st.just(a_call("search", "s"))
)
saying = st.one_of(
    st.builds(
        lambda some, round: an_answer("Red.", *some, round=round),
        st.lists(ids, max_size=2),
        st.integers(1, 2),
    ),
    st.builds(
        lambda yes, some, round: a_decision(yes, *some, round=round),
        st.booleans(),
        st.lists(ids, max_size=2),
        st.integers(1, 2),
    ),
    st.builds(lambda round: PersonOverdue(round=round), st.sampled_from([1, 1, 2])),
)


@given(calls=st.lists(asking, min_size=1, max_size=5), inputs=st.lists(saying, max_size=8))
def test_a_batch_is_sent_once_with_all_decisions_and_answers_in_any_order(
    calls: list[ToolCall], inputs: list[EventData]
) -> None:
    decision = called(a_session(), *calls)
    first_asked = {*decision.session.people.undecided, *decision.session.people.unanswered}
    sent = [command for command in decision.commands if isinstance(command, ToolsRequested)]
    for one in (*inputs, *inputs, PersonOverdue(round=1)):
        decision = met(decision.session, one, TOOLS, SUBMITTED)
        sent += [command for command in decision.commands if isinstance(command, ToolsRequested)]
        waits = bool(decision.session.people.undecided or decision.session.people.unanswered)
        assert waits is (decision.session.phase == "approval") is bool(decision.session.people.pending)
    assert len(sent) == 1
    assert [call.id for call in sent[0].calls] == [call.id for call in calls]
    answered = {id for one in inputs for id in of(one)}
    for call in sent[0].calls:
        if call.refused is None and call.name == "ask_user":
            assert call.answer == SUBMITTED
            assert call.id in answered
        if call.refused is None and call.name == "book":
            assert call.approval == SUBMITTED
            assert call.id in answered
        if call.id not in first_asked:
            assert (call.answer, call.approval) == (None, None)


def of(data: EventData) -> tuple[str, ...]:
    """Return the calls of round 1 that an answer may concern."""
    if not isinstance(data, QuestionAnswered | ApprovalDecided) or data.round != 1:
        return ()
    return data.calls or ("q0", "q1", "b0", "b1", "s")
