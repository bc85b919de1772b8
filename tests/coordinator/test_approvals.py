"""The calls that a person must approve, and the effect of their decision."""

from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    ApprovalDecided,
    ApprovalRequested,
    AssemblyRequested,
    BriefingRequested,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    PersonOverdue,
    ToolsRequested,
)
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.process.ids import new_id
from antiphon_shared.tools.calls import Catalogue, ToolCall

from coordinator.decision import Decision
from coordinator.session import Session
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_decision,
    a_reply,
    a_result,
    a_tool,
    an_opened_session,
    answered,
    met,
    only,
    the_results,
)
from tests.rows import each_row

TOOLS = a_catalogue(
    a_tool("book", "write", approval="always"),
    a_tool("browse", open_world=True),
    a_tool("careful", alternatives=[{"tool": "browse"}]),
    a_tool("note", "write", approval="after_untrusted"),
    "read_result",
    "recall",
    "search",
)
BOOK, OTHER_BOOK = a_call("book", "b1", arguments={"room": 7}), a_call("book", "b2")
DECIDED = "1795244309999-0"


def called(session: Session, *calls: ToolCall, catalogue: Catalogue = TOOLS) -> Decision:
    """Return the step after a reply with those calls, in the session's round."""
    reasoning = answered(session, a_briefing(session.round), catalogue).session
    return answered(reasoning, a_reply(calls=calls, round=session.round), catalogue)


def a_session(**options: Any) -> Session:
    return an_opened_session(TOOLS, **options).session


def a_waiting_session(*calls: ToolCall, **options: Any) -> Session:
    decision = called(a_session(**options), *(calls or (BOOK,)))
    assert decision.session.phase == "approval"
    return decision.session


def after(session: Session, decision: ApprovalDecided, log_entry: str = DECIDED) -> Decision:
    return met(session, decision, TOOLS, log_entry)


def asked_about(decision: Decision) -> list[str]:
    return [call.tool for call in only(decision, ApprovalRequested).calls]


def test_a_call_that_a_person_has_to_approve_waits_with_its_whole_batch() -> None:
    decision = called(a_session(), a_call("search"), BOOK)
    (asked,) = only(decision, ApprovalRequested).calls
    assert (asked.id, asked.tool, asked.arguments) == ("b1", "book", {"room": 7})
    assert asked.because == "every call of book has to be approved"
    due = decision.session.deadline - timedelta(seconds=60)
    assert decision.timers == (SetTimer("person", due, PersonOverdue(round=1)),)
    assert only(decision, ApprovalRequested).until == due
    assert (decision.session.phase, decision.session.awaiting) == ("approval", ())
    assert decision.session.spent.tool_calls == 0, "nothing has run yet"


def test_an_approved_batch_is_sent_with_the_entry_of_the_decision() -> None:
    decision = after(a_waiting_session(a_call("search"), BOOK), a_decision(True))
    search, book = only(decision, ToolsRequested).calls
    assert (search.approval, book.approval) == (None, DECIDED)
    assert (search.refused, book.refused) == (None, None)
    assert book.idempotency_key is None
    assert decision.session.spent.tool_calls == 2
    assert (decision.session.people.pending, decision.session.people.undecided) == ((), ())
    done = answered(decision.session, the_results(a_result("book")), TOOLS)
    assert only(done, BriefingRequested).round == 2


@pytest.mark.parametrize(
    ("by", "reason", "says"),
    [
        ("", "", "a person denied it"),
        ("Ann", "", "Ann denied it"),
        ("Ann", "Too expensive.", "Ann denied it: Too expensive"),
        ("A\nB", "x " * 400, "A B denied it: x x"),
    ],
)
def test_a_denied_call_is_refused_with_the_person_and_the_reason(by: str, reason: str, says: str) -> None:
    decision = after(a_waiting_session(a_call("search"), BOOK), a_decision(False, by=by, reason=reason))
    search, book = only(decision, ToolsRequested).calls
    assert search.refused is None
    assert (book.refused or "").startswith(says)
    assert len(book.refused or "") < 450
    assert book.approval is None


def test_denied_calls_do_not_count_against_the_limit_of_calls() -> None:
    decision = after(a_waiting_session(a_call("search"), BOOK), a_decision(False))
    assert decision.session.spent.tool_calls == 1


def test_decisions_may_arrive_one_by_one() -> None:
    session = a_waiting_session(BOOK, OTHER_BOOK)
    first = after(session, a_decision(True, "b2"))
    assert first.commands == ()
    assert (first.session.phase, first.session.people.undecided) == ("approval", ("b1",))
    last = after(first.session, a_decision(False, "b1", by="Bo"), "1795244309999-7")
    b1, b2 = only(last, ToolsRequested).calls
    assert (b1.refused, b1.approval) == ("Bo denied it", None)
    assert (b2.refused, b2.approval) == (None, DECIDED)


def test_a_decision_on_some_and_on_strangers_counts_for_those_that_wait() -> None:
    session = after(a_waiting_session(BOOK, OTHER_BOOK), a_decision(True, "b1", "stranger")).session
    assert session.people.undecided == ("b2",)


def test_a_late_duplicate_or_unrelated_decision_changes_nothing() -> None:
    waiting = a_waiting_session(BOOK, OTHER_BOOK)
    for foreign in (a_decision(True, "b9"), a_decision(True, round=2), a_decision(False, "search")):
        assert after(waiting, foreign) == Decision(waiting)
    half = after(waiting, a_decision(True, "b1")).session
    assert after(half, a_decision(False, "b1")) == Decision(half), "the first decision stays"
    out = after(half, a_decision(True)).session
    assert after(out, a_decision(False)) == Decision(out)
    for session in (a_session(), met(waiting, CancellationRequested(), TOOLS).session):
        assert after(session, a_decision(True)) == Decision(session)


def test_calls_beyond_the_limit_are_refused_without_an_approval_request() -> None:
    decision = called(a_session(max_tool_calls=1), BOOK, OTHER_BOOK)
    assert [call.id for call in only(decision, ApprovalRequested).calls] == ["b1"]
    b1, b2 = only(after(decision.session, a_decision(True)), ToolsRequested).calls
    assert b1.refused is None
    assert b2.refused == "the session's limit of 1 tool calls is reached"
    only(called(a_session(max_tool_calls=1), a_call("search"), BOOK), ToolsRequested)


@pytest.mark.parametrize(
    "call",
    [
        a_call("book", problem="The arguments came as a list; they must be one whole JSON object."),
        a_call("invented"),
    ],
)
def test_no_approval_is_requested_for_a_call_that_cannot_run(call: ToolCall) -> None:
    only(called(a_session(), call), ToolsRequested)


def test_no_approval_is_requested_for_a_tool_that_the_session_may_not_use() -> None:
    session = an_opened_session(TOOLS, ("search",)).session
    only(called(session, BOOK), ToolsRequested)
    scoped = a_catalogue(a_tool("book", approval="always", rounds=[2]), "search")
    only(called(an_opened_session(scoped).session, BOOK, catalogue=scoped), ToolsRequested)


class TestUntrusted:
    def round_with(self, *results: object, **fields: object) -> Session:
        """Return a session whose first batch had that outcome."""
        session = called(a_session(), a_call("browse"), a_call("search")).session
        result = a_result("browse", **fields)
        return answered(session, the_results(result, a_result("search", index=1)), TOOLS).session

    def test_a_write_after_untrusted_content_waits_for_approval(self) -> None:
        session = self.round_with(data="a page")
        assert session.material.has_untrusted
        decision = called(session, a_call("search"), a_call("note"))
        assert asked_about(decision) == ["note"]
        (asked,) = only(decision, ApprovalRequested).calls
        assert asked.because == "the session contains content from an untrusted source"
        request = only(after(decision.session, a_decision(True, round=2)), ToolsRequested)
        assert request.has_untrusted

    def test_before_that_it_does_not(self) -> None:
        request = only(called(a_session(), a_call("note"), a_call("browse")), ToolsRequested)
        assert not request.has_untrusted

    @each_row(
        ("error_type", "is_untrusted"),
        [
            ("not_found", True),
            ("api_failure", True),
            ("validation_error", True),
            ("permission_denied", True),
            ("timeout", True),
            ("cancelled", False),
            ("unknown_tool", False),
            ("dependency_failed", False),
            ("circuit_open", False),
        ],
    )
    def test_an_error_counts_unless_the_call_reached_no_service(
        self, error_type: str, is_untrusted: bool
    ) -> None:
        error = {"error_type": error_type, "message": "...", "suggested_action": "..."}
        assert self.round_with(status="error", error=error).material.has_untrusted is is_untrusted

    def test_trusted_tools_leave_the_session_trusted(self) -> None:
        session = answered(
            called(a_session(), a_call("search")).session, the_results(a_result("search")), TOOLS
        )
        assert not session.session.material.has_untrusted

    def test_a_substitutes_words_count_as_its_own(self) -> None:
        batch = called(a_session(), a_call("careful")).session
        result = a_result("careful", substitute="browse", substitute_because="It was down.")
        session = answered(batch, the_results(result), TOOLS).session
        assert session.material.has_untrusted
        assert session.tools.succeeded == ("careful", "browse")

    def test_the_briefing_request_names_the_untrusted_calls(self) -> None:
        decision = self.after(a_session(), "search", "browse")
        assert only(decision, BriefingRequested).untrusted == ("call_browse",)
        ended = met(decision.session, DeadlineReached())
        assert only(ended, AssemblyRequested).untrusted == ("call_browse",), "they are not filed yet"
        briefed = answered(decision.session, a_briefing(2), TOOLS).session
        assert only(met(briefed, DeadlineReached()), AssemblyRequested).untrusted == ()
        assert only(self.after(decision.session, "search"), BriefingRequested).untrusted == ()

    @pytest.mark.parametrize("name", ["recall", "read_result"])
    def test_a_tool_that_repeats_results_is_trusted_while_the_whole_session_is(self, name: str) -> None:
        trusted = self.after(a_session(), "search").session
        repeated = self.after(trusted, name)
        assert only(repeated, BriefingRequested).untrusted == ()
        assert not repeated.session.material.has_untrusted
        mixed = self.after(a_session(), "search", "browse").session
        assert only(self.after(mixed, name), BriefingRequested).untrusted == (f"call_{name}",)
        together = self.after(trusted, name, "browse")
        assert only(together, BriefingRequested).untrusted == (f"call_{name}", "call_browse")

    def after(self, session: Session, *names: str) -> Decision:
        """Return the decision one round later: the tools of those names have answered."""
        batch = called(session, *(a_call(name) for name in names)).session
        results = [a_result(name, index=n) for n, name in enumerate(names)]
        return answered(batch, the_results(*results, round=session.round), TOOLS)

    def test_untrusted_content_stays_in_the_session(self) -> None:
        session = self.round_with(data="a page")
        batch = called(session, a_call("search")).session
        assert answered(batch, the_results(a_result("search"), round=2), TOOLS).session.material.has_untrusted

    @pytest.mark.parametrize("source", ["browse", "careful"])
    def test_a_write_that_uses_an_untrusted_result_of_its_batch_is_postponed(self, source: str) -> None:
        """An untrusted alternative of that tool has the same effect: it may answer in its place.

        No person is asked: they would approve of a value that does not exist yet.
        """
        note = a_call("note", arguments={"text": ["${calls[0].title}"]})
        first, second = only(called(a_session(), a_call(source), note), ToolsRequested).calls
        assert (first.refused, "make it again in the next reply" in (second.refused or "")) == (None, True)
        trusted = only(called(a_session(), a_call("search"), note), ToolsRequested).calls
        assert [call.refused for call in trusted] == [None, None]

    def test_calls_with_placeholders_are_postponed_before_approval(self) -> None:
        blind = BOOK.model_copy(update={"id": "blind", "arguments": {"what": "${calls[0].id}"}})
        decision = called(a_session(), a_call("search"), blind, OTHER_BOOK)
        assert asked_about(decision) == ["book"]
        assert [bool(call.refused) for call in decision.session.people.pending] == [False, True, False]


@pytest.mark.parametrize(
    ("end", "reason"), [(DeadlineReached(), "deadline_exceeded"), (CancellationRequested(), "cancelled")]
)
def test_a_session_that_ends_while_it_waits_names_the_calls_that_waited(end: EventData, reason: str) -> None:
    session = after(a_waiting_session(a_call("search"), BOOK, OTHER_BOOK), a_decision(True, "b2")).session
    decision = met(session, end, TOOLS)
    request = only(decision, AssemblyRequested)
    assert (request.termination_reason, request.tool_calls_used, request.batch) == (reason, 0, None)
    (uncertainty,) = request.uncertainty
    assert (uncertainty.kind, uncertainty.about) == ("approval_missing", "b1")
    assert uncertainty.message == (
        "No person decided on `book` (b1) before the session ended; no call of that batch was run."
    )
    assert (decision.session.people.pending, decision.session.people.undecided) == ((), ())


def test_a_single_waiting_call_is_reported_as_not_run() -> None:
    (uncertainty,) = only(met(a_waiting_session(), DeadlineReached(), TOOLS), AssemblyRequested).uncertainty
    assert uncertainty.message == "No person decided on `book` (b1) before the session ended; it was not run."


def test_a_dead_letter_of_another_session_does_not_end_the_waiting() -> None:
    session = a_waiting_session()
    error = ErrorInfo(code="internal_error", message="it broke")
    failed = ComponentFailed(component="tool_dispatcher", failed_event=new_id(), error=error)
    assert met(session, failed, TOOLS) == Decision(session)


def test_two_rounds_of_denials_force_an_answer() -> None:
    """A model cannot repeatedly ask a person for something they do not want."""
    session = a_session(max_rounds=10)
    cancelled = {"error_type": "cancelled", "message": "...", "suggested_action": "..."}
    for round in (1, 2):
        waiting = called(session, BOOK).session
        batch = after(waiting, a_decision(False, round=round)).session
        session = answered(
            batch, the_results(a_result("book", status="error", error=cancelled)), TOOLS
        ).session
    reasoning = answered(session, a_briefing(3), TOOLS)
    assert reasoning.session.last_round == "all_tools_failed"


def test_later_batches_name_each_tool_that_succeeded_once() -> None:
    session = a_session()
    for expected in ((), ("search",), ("search",)):
        decision = called(session, a_call("search"), a_call("invented"))
        assert only(decision, ToolsRequested).succeeded == expected
        results = the_results(
            a_result("search"), a_result("invented", index=1), a_result("book", status="error")
        )
        session = answered(decision.session, results, TOOLS).session
