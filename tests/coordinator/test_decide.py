"""The next step, decided from values alone."""

from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import (
    AssemblyOverdue,
    AssemblyRequested,
    BriefingRequested,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    SessionOpened,
    ToolsRequested,
)
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.process.ids import new_id
from antiphon_shared.values import Usage

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs, LoggedEvent
from coordinator.fallbacks import LEVELS
from coordinator.requests import DEADLINE, MODEL, OVERDUE, assembly_of
from coordinator.session import Session
from coordinator.session_parts import Summaries, replace
from tests.coordinator.builders import (
    ENTRY,
    SEARCH,
    a_briefing,
    a_catalogue,
    a_reply,
    a_response,
    an_opened_session,
    answered,
    ending,
    met,
    only,
    some_results,
)
from tests.envelopes import START, an_event


def a_session_reasoning(**options: object) -> Session:
    return answered(an_opened_session(**options).session, a_briefing()).session  # type: ignore[arg-type]  # options of any kind


def a_session_running_tools(calls: int = 1, **options: object) -> Session:
    return answered(a_session_reasoning(**options), a_reply(calls=calls)).session


def a_failure(component: str, session: Session) -> ComponentFailed:
    error = ErrorInfo(code="internal_error", message="it broke")
    return ComponentFailed.model_validate(
        {"component": component, "failed_event": session.pending_request or new_id(), "error": error}
    )


class TestOpening:
    def test_a_query_fixes_its_bounds_and_asks_for_the_first_briefing(self) -> None:
        decision = an_opened_session(max_rounds=2, deadline_s=10)
        opened, request = decision.commands
        assert isinstance(opened, SessionOpened)
        assert (opened.limits.max_rounds, opened.limits.max_tool_calls) == (2, 20)
        assert isinstance(request, BriefingRequested)
        assert request.round == 1
        assert request.question == ENTRY

    def test_the_deadline_is_counted_from_submission(self) -> None:
        (timer,) = an_opened_session(deadline_s=10).timers
        assert isinstance(timer, SetTimer)
        assert timer.due == START + timedelta(seconds=10)

    def test_only_the_tools_named_by_a_query_are_used_and_missing_ones_are_reported(self) -> None:
        session = an_opened_session(a_catalogue("search", "fetch"), named_tools=("fetch", "fly")).session
        assert session.tools.usable == ("fetch",)
        assert [(uncertainty.kind, uncertainty.about) for uncertainty in session.uncertainty] == [
            ("tools_unavailable", "fly")
        ]


class TestRounds:
    def test_a_briefing_leads_to_one_call_of_the_model_with_the_tools(self) -> None:
        decision = answered(an_opened_session().session, a_briefing())
        request = only(decision, ReasoningRequested)
        assert request.tools == ("search",)
        assert request.briefing == "d1"

    def test_a_reply_without_calls_is_the_answer(self) -> None:
        request = ending(answered(a_session_reasoning(), a_reply()))
        assert (request.status, request.termination_reason) == ("complete", "natural_completion")
        assert request.reply == ENTRY

    def test_calls_go_out_without_keys_which_the_dispatcher_mints(self) -> None:
        request = only(answered(a_session_reasoning(), a_reply(calls=2)), ToolsRequested)
        assert [call.idempotency_key for call in request.calls] == [None, None]

    def test_results_start_the_next_round_which_files_them(self) -> None:
        decision = answered(a_session_running_tools(), some_results())
        request = only(decision, BriefingRequested)
        assert (request.round, request.reasoning, request.results) == (2, ENTRY, ENTRY)

    def test_the_last_round_has_no_tools_and_states_the_reason(self) -> None:
        request = only(answered(an_opened_session(max_rounds=1).session, a_briefing()), ReasoningRequested)
        assert request.tools == ()
        assert "limit of 1 round is" in request.last_round_because

    def test_the_answer_of_a_forced_last_round_is_partial(self) -> None:
        request = ending(answered(a_session_reasoning(max_rounds=1), a_reply()))
        assert (request.status, request.termination_reason) == ("partial", "max_rounds_reached")
        assert request.reply == ENTRY

    def test_calls_in_a_last_round_are_not_run(self) -> None:
        assert ending(answered(a_session_reasoning(max_rounds=1), a_reply(calls=3))).reply == ENTRY

    def test_without_any_tools_the_first_answer_is_complete(self) -> None:
        session = answered(an_opened_session(a_catalogue(), max_rounds=1).session, a_briefing()).session
        assert ending(answered(session, a_reply())).status == "complete"


class TestLimits:
    def test_calls_beyond_the_limit_are_refused_but_answered(self) -> None:
        request = only(answered(a_session_reasoning(max_tool_calls=1), a_reply(calls=3)), ToolsRequested)
        assert [call.refused is None for call in request.calls] == [True, False, False]

    def test_the_call_limit_counts_over_all_batches(self) -> None:
        session = answered(a_session_running_tools(calls=2, max_tool_calls=3), some_results(2)).session
        session = answered(session, a_briefing(round=2)).session
        request = only(answered(session, a_reply(calls=2, round=2)), ToolsRequested)
        assert [call.refused is None for call in request.calls] == [True, False]

    def test_after_the_call_limit_the_model_answers_without_tools(self) -> None:
        session = answered(a_session_running_tools(max_tool_calls=1), some_results()).session
        request = only(answered(session, a_briefing(round=2)), ReasoningRequested)
        assert request.tools == ()

    def test_a_spent_token_budget_ends_in_a_partial_answer_not_in_another_call(self) -> None:
        spent = a_reply(calls=1, usage=Usage(input_tokens=5000))
        request = ending(answered(a_session_reasoning(max_tokens=5000), spent))
        assert (request.status, request.termination_reason) == ("partial", "token_budget_exhausted")

    def test_a_briefing_beyond_the_budget_is_not_sent(self) -> None:
        session = an_opened_session(max_tokens=1000).session
        assert (
            ending(answered(session, a_briefing(tokens=1000))).termination_reason == "token_budget_exhausted"
        )

    def test_two_barren_rounds_force_an_answer(self) -> None:
        session = an_opened_session(max_rounds=10).session
        for n in (1, 2):
            session = answered(session, a_briefing(n)).session
            session = answered(session, a_reply(calls=1, round=n)).session
            session = answered(session, some_results(status="error", round=n)).session
        request = only(answered(session, a_briefing(3)), ReasoningRequested)
        assert "failed" in request.last_round_because

    def test_the_deadline_ends_a_session_in_any_phase(self) -> None:
        for session in (an_opened_session().session, a_session_reasoning(), a_session_running_tools()):
            request = ending(met(session, DeadlineReached()))
            assert request.termination_reason == "deadline_exceeded"

    def test_a_batch_in_flight_at_the_deadline_is_named_for_its_journal(self) -> None:
        request = ending(met(a_session_running_tools(), DeadlineReached()))
        assert request.batch == 1
        assert request.reasoning == ENTRY


class TestFailures:
    def test_a_failed_round_is_retried_with_smaller_and_smaller_briefings(self) -> None:
        error = ErrorInfo(code="overloaded", message="529")
        session = a_session_reasoning()
        for level in ("simplified", "minimal"):
            decision = answered(session, ReasoningFailed(round=1, error=error, model="m"))
            request = only(decision, BriefingRequested)
            assert (request.level, request.round) == (level, 1)
            session = answered(decision.session, a_briefing()).session

    def test_a_reply_brings_the_next_round_back_to_the_full_briefing(self) -> None:
        error = ErrorInfo(code="overloaded", message="529")
        failed = answered(a_session_reasoning(), ReasoningFailed(round=1, error=error, model="m")).session
        replied = answered(answered(failed, a_briefing()).session, a_reply(calls=1)).session
        assert only(answered(replied, some_results()), BriefingRequested).level == "full"

    def test_a_model_that_keeps_failing_ends_with_facts_and_the_reason(self) -> None:
        error = ErrorInfo(code="overloaded", message="529")
        session = a_session_reasoning()
        for _ in range(len(LEVELS)):
            session = answered(session, ReasoningFailed(round=1, error=error, model="m")).session
            session = answered(session, a_briefing()).session
        request = ending(answered(session, ReasoningFailed(round=1, error=error, model="m")))
        assert request.termination_reason == "model_unavailable"
        assert [uncertainty.kind for uncertainty in request.uncertainty] == ["model_failed"] * (
            len(LEVELS) + 1
        )

    def test_a_model_that_ran_out_of_the_sessions_time_has_not_failed(self) -> None:
        """The engine times out at the deadline, a moment before the timer for it arrives."""
        session = a_session_reasoning()
        at_s = (session.deadline - START).total_seconds()
        failed = ReasoningFailed(round=1, error=ErrorInfo(code="timeout", message="over"), model="m")
        late = an_event(failed, answers=session.pending_request, at_s=at_s)
        request = ending(decide(session, late, ENTRY, Inputs(SEARCH)))
        assert (request.status, request.termination_reason) == ("partial", "deadline_exceeded")
        assert "model_failed" not in [uncertainty.kind for uncertainty in request.uncertainty]
        early = an_event(failed, answers=session.pending_request, at_s=at_s - 1)
        assert only(decide(session, early, ENTRY, Inputs(SEARCH)), BriefingRequested).level == "simplified"

    def test_tokens_of_failed_attempts_count(self) -> None:
        failed = ReasoningFailed(
            round=1, error=ErrorInfo(code="x", message="y"), model="m", usage=Usage(output_tokens=7)
        )
        assert answered(a_session_reasoning(), failed).session.spent.usage.output_tokens == 7

    def test_a_refusal_ends_the_session_as_failed(self) -> None:
        request = ending(answered(a_session_reasoning(), a_reply(stop_reason="refusal")))
        assert (request.status, request.termination_reason) == ("failed", "model_refused")

    def test_a_truncated_answer_is_partial(self) -> None:
        request = ending(answered(a_session_reasoning(), a_reply(stop_reason="max_tokens")))
        assert (request.status, request.termination_reason) == ("partial", "reply_truncated")

    @pytest.mark.parametrize(
        ("component", "expected"),
        [
            ("context_synthesizer", AssemblyRequested),
            ("reasoning_engine", BriefingRequested),
            ("tool_dispatcher", BriefingRequested),
            ("coordinator", AssemblyRequested),
        ],
    )
    def test_a_dead_letter_of_any_component_moves_the_session_on(
        self, component: str, expected: type[EventData]
    ) -> None:
        session = a_session_running_tools()
        decision = met(session, a_failure(component, session))
        only(decision, expected)
        assert decision.session.uncertainty

    def test_a_dead_letter_of_an_earlier_step_changes_nothing(self) -> None:
        session = a_session_running_tools()
        old = a_failure("reasoning_engine", a_session_reasoning())
        assert met(session, old) == Decision(session)


class TestEnding:
    def an_ending_session(self) -> Session:
        return answered(a_session_reasoning(), a_reply()).session

    def test_requesting_the_answer_sets_a_timer(self) -> None:
        decision = answered(a_session_reasoning(), a_reply())
        assert [type(timer) for timer in decision.timers] == [SetTimer, CancelTimer]

    def test_the_response_closes_the_session_and_its_timers(self) -> None:
        session = self.an_ending_session()
        decision = met(session, a_response())
        assert decision.closes
        assert decision.session.phase == "closed"
        assert decision.commands == ()
        assert decision.timers == (CancelTimer(DEADLINE), CancelTimer(OVERDUE), CancelTimer(MODEL))

    def the_request(self, session: Session, **fields: Any) -> LoggedEvent:
        """Return the logged request for the session's answer."""
        event = an_event(assembly_of(session, "complete", "natural_completion").model_copy(update=fields))
        return LoggedEvent("7-0", event)

    def test_the_coordinator_answers_when_the_assembler_fails(self) -> None:
        session = self.an_ending_session()
        decision = met(session, a_failure("response_assembler", session), named=self.the_request(session))
        assert decision.own_answer_reason
        assert decision.unless_answered

    def test_an_assembler_that_is_late_is_waited_for_as_long_as_the_deadline_allows(self) -> None:
        session = self.an_ending_session()
        waits = met(session, AssemblyOverdue(), named=self.the_request(session))
        assert waits == Decision(
            session,
            timers=(SetTimer(OVERDUE, session.deadline, AssemblyOverdue()),),
            unless_answered=True,
        )
        at_its_deadline = f"{round(session.deadline.timestamp() * 1000)}-0"
        over = met(session, AssemblyOverdue(), log_entry=at_its_deadline, named=self.the_request(session))
        assert (over.timers, bool(over.own_answer_reason)) == ((), True)

    def test_a_log_whose_ids_are_no_times_lets_an_ending_session_wait_by_the_event_alone(self) -> None:
        """A foreign entry far in the future makes Redis continue counting from there."""
        session, no_time = self.an_ending_session(), f"{2**64 - 2}-1"
        waits = met(session, AssemblyOverdue(), log_entry=no_time, named=self.the_request(session))
        assert [timer.due for timer in waits.timers if isinstance(timer, SetTimer)] == [session.deadline]

    def test_a_cancellation_does_not_wait_for_the_deadline(self) -> None:
        session = self.an_ending_session()
        cancelled = self.the_request(session, status="cancelled", termination_reason="cancelled")
        assert met(session, AssemblyOverdue(), named=cancelled).own_answer_reason

    def test_a_request_that_the_log_has_lost_is_waited_for_no_longer(self) -> None:
        assert met(self.an_ending_session(), AssemblyOverdue()).own_answer_reason

    @pytest.mark.parametrize("reply", [a_reply(), a_reply(calls=1)])
    def test_an_answer_includes_the_work_that_the_coordinator_failed_at(
        self, reply: ReasoningCompleted
    ) -> None:
        session = a_session_reasoning()
        failed = a_failure("coordinator", session)
        named = LoggedEvent("9-0", an_event(reply, answers=session.pending_request))
        request = ending(met(session, failed, named=named))
        assert (request.reply, request.reasoning) == ("9-0", "9-0")
        assert (request.rounds_used, request.usage.input_tokens) == (1, 100)
        assert request.termination_reason == "internal_error"

    def test_results_the_coordinator_has_failed_at_are_in_the_answer(self) -> None:
        session = a_session_running_tools()
        named = LoggedEvent("9-0", an_event(some_results(), answers=session.pending_request))
        request = ending(met(session, a_failure("coordinator", session), named=named))
        assert (request.results, request.batch, request.reasoning) == ("9-0", None, ENTRY)

    def test_an_event_that_changed_nothing_is_not_in_the_answer(self) -> None:
        session = a_session_reasoning()
        late = LoggedEvent("9-0", an_event(a_reply(), answers=new_id()))
        assert ending(met(session, a_failure("coordinator", session), named=late)).reply is None

    def test_a_step_of_its_end_that_failed_is_tried_again_a_few_times(self) -> None:
        """The dead letter may have been the notice of the answer, or of its delay; no other event would follow."""
        session, looks = self.an_ending_session(), []
        for _ in range(5):
            decision = met(session, a_failure("coordinator", session))
            looks.append([timer.name for timer in decision.timers])
            assert (decision.commands, decision.own_answer_reason) == ((), ""), (
                "the assembler may still answer"
            )
            session = decision.session
        assert looks == [[OVERDUE]] * 3 + [[]] * 2
        summarizing = replace(self.an_ending_session(), summaries=Summaries(awaiting=new_id()))
        lost = a_failure("coordinator", summarizing).model_copy(
            update={"failed_event": summarizing.summaries.awaiting}
        )
        assert met(summarizing, lost) == Decision(summarizing), "nothing of its end"

    def test_a_cancelled_session_ends_with_its_facts(self) -> None:
        decision = met(a_session_running_tools(), CancellationRequested())
        assert decision.stops_work
        request = ending(decision)
        assert (request.status, request.termination_reason) == ("cancelled", "cancelled")

    def test_cancelling_an_ending_session_ends_the_waiting(self) -> None:
        session = self.an_ending_session()
        assert met(session, CancellationRequested(), named=self.the_request(session)).own_answer_reason
        twice = self.the_request(session, status="cancelled")
        assert met(session, CancellationRequested(), named=twice) == Decision(session)


@pytest.mark.parametrize(
    ("asked", "expected"), [(None, "normal"), ("normal", "normal"), ("strict", "strict")]
)
def test_the_query_decides_how_strictly_citations_are_checked(asked: str | None, expected: str) -> None:
    session = an_opened_session(citations=asked).session
    assert ending(met(session, DeadlineReached())).citations == expected


def test_a_reply_to_another_request_changes_nothing() -> None:
    """Late, repeated and foreign events are harmless."""
    session = a_session_reasoning()
    for answers in (new_id(), None):
        event = an_event(a_reply(), answers=answers)
        assert decide(session, event, ENTRY, Inputs(SEARCH)) == Decision(session)
