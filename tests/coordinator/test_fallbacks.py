"""The fallback steps: each is taken in its turn, is in the log, and is reported to the reader."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    BriefingRequested,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    ModelDue,
    OutagesSeen,
    ReasoningFailed,
    ReasoningRequested,
)
from antiphon_shared.process.errors import ErrorInfo

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from tests.coordinator.builders import (
    ENTRY,
    SEARCH,
    a_reply,
    an_opened_session,
    answered,
    ending,
    fallback_steps,
    met,
    only,
    some_results,
)
from tests.coordinator.fallbacks import asked, kinds
from tests.envelopes import START, an_event

MODELS = ("own", "second", "third")


def a_failed_reply(code: str = "overloaded", model: str = "own", **fields: Any) -> ReasoningFailed:
    return ReasoningFailed(round=1, error=ErrorInfo(code=code, message="It said no."), model=model, **fields)


def out(model: str, for_s: float = 30) -> ModelOutage:
    return ModelOutage(model=model, until=START + timedelta(seconds=for_s))


class TestAModelThatFails:
    def test_a_failing_model_is_asked_with_shorter_briefings_then_without_tools_then_not_at_all(self) -> None:
        session = asked(an_opened_session().session).session
        decisions = []
        for level in ("simplified", "minimal", "minimal"):
            decisions.append(answered(session, a_failed_reply()))
            assert only(decisions[-1], BriefingRequested).level == level
            request = only(asked(decisions[-1].session), ReasoningRequested)
            session = asked(decisions[-1].session).session
        assert request.tools == ()
        assert request.last_round_because == "Earlier attempts at a reply have failed."
        decisions.append(answered(session, a_failed_reply()))
        assert ending(decisions[-1]).termination_reason == "model_unavailable"
        assert fallback_steps(*decisions) == [
            "simplified_briefing",
            "minimal_briefing",
            "answer_without_tools",
            "facts_without_model",
        ]

    def test_an_answer_of_the_last_attempt_is_partial_with_the_reason(self) -> None:
        session = an_opened_session().session
        for _ in range(3):
            session = answered(asked(session).session, a_failed_reply()).session
        request = ending(answered(asked(session).session, a_reply()))
        assert (request.status, request.termination_reason) == ("partial", "model_failing")
        assert request.reply == ENTRY

    def test_failures_of_several_rounds_add_up_to_the_last_call(self) -> None:
        """Each round recovers with a shorter briefing, and the session still gives up in the end."""
        session = an_opened_session(max_rounds=9).session
        taken: list[str] = []
        for round in range(1, 5):
            failed = answered(asked(session).session, a_failed_reply())
            taken += fallback_steps(failed)
            session = asked(failed.session).session
            if round < 4:
                session = answered(session, a_reply(calls=1, round=round)).session
                session = answered(session, some_results(round=round)).session
        assert taken == ["simplified_briefing"] * 3 + ["answer_without_tools"]
        assert session.last_round == "model_failing"

    @pytest.mark.parametrize(
        ("code", "message"),
        [
            ("overloaded", "The model was overloaded in round 1; it was asked again with a shorter briefing."),
            ("timeout", "The model did not reply in time in round 1; it was asked again with a shorter briefing."),
            ("unheard_of", "The model could not be asked in round 1; it was asked "
             "again with a shorter briefing."),
        ],
    )  # fmt: skip  # one case a row
    def test_the_reader_receives_an_explanation_in_everyday_words(self, code: str, message: str) -> None:
        session = answered(asked(an_opened_session().session).session, a_failed_reply(code)).session
        assert [(one.message, one.severity) for one in session.uncertainty] == [(message, "note")]

    def test_a_request_that_is_not_taken_is_made_without_tools(self) -> None:
        session = answered(
            asked(an_opened_session().session).session, a_failed_reply("invalid_request")
        ).session
        assert only(asked(session), ReasoningRequested).tools == ()

    def test_a_request_that_killed_its_workers_counts_as_a_failed_reply(self) -> None:
        session = asked(an_opened_session(models=MODELS).session).session
        assert session.pending_request is not None
        lost = ComponentFailed(
            component="reasoning_engine",
            failed_event=session.pending_request,
            error=ErrorInfo(code="workers_lost", message="5 workers stopped"),
        )
        decision = met(session, lost)
        assert fallback_steps(decision) == ["simplified_briefing"]
        assert decision.session.models.unusable == ()


class TestAModelThatIsOutOfOrder:
    def test_the_first_available_model_is_asked(self) -> None:
        decision = asked(an_opened_session(models=MODELS).session, out("own"), out("second"))
        assert only(decision, ReasoningRequested).model == "third"
        assert fallback_steps(decision) == ["other_model"]
        assert kinds(decision.session) == ["other_model"]

    def test_the_model_of_the_query_comes_first_and_the_others_are_its_fallbacks(self) -> None:
        session = an_opened_session(models=MODELS, model="wanted").session
        assert only(asked(session), ReasoningRequested).model == "wanted"
        assert only(asked(session, out("wanted")), ReasoningRequested).model == "own"

    def test_a_recovered_model_is_asked_again_and_the_change_is_reported_once(self) -> None:
        session = an_opened_session(models=MODELS).session
        first = asked(session, out("own", 5))
        batch = answered(first.session, a_reply(calls=1)).session
        second = asked(answered(batch, some_results()).session, out("own", 5), at_s=6)
        assert only(second, ReasoningRequested).model == "own"
        assert fallback_steps(second) == []
        assert kinds(second.session) == ["other_model"]

    def test_a_change_of_the_outages_is_logged(self) -> None:
        decision = asked(
            an_opened_session(models=MODELS).session, out("own"), tools_out=("search", "foreign")
        )
        seen = [one for one in decision.commands if isinstance(one, OutagesSeen)]
        assert seen == [OutagesSeen(outages=Outages(tools=("search",), models=(out("own"),)))]
        batch = answered(asked(an_opened_session().session).session, a_reply(calls=1)).session
        assert not [
            one
            for one in asked(answered(batch, some_results()).session).commands
            if isinstance(one, OutagesSeen)
        ]

    def test_a_session_waits_for_the_first_due_model_when_all_are_out(self) -> None:
        session = an_opened_session(models=("own", "second")).session
        decision = asked(session, out("own", 60), out("second", 20))
        assert decision.timers == (SetTimer("model", START + timedelta(seconds=20), ModelDue(round=1)),)
        assert (decision.session.phase, decision.session.awaiting) == ("resting", ())
        assert fallback_steps(decision) == ["waiting_for_model"]
        woken = decide(
            decision.session,
            an_event(ModelDue(round=1), at_s=20),
            ENTRY,
            Inputs(SEARCH, outages=NO_OUTAGES),
        )
        request = only(asked(woken.session, out("own", 60), out("second", 20), at_s=21), ReasoningRequested)
        assert request.model == "second"

    def test_each_wait_is_longer_than_the_one_before(self) -> None:
        """A session does not spin until its deadline, even if the models ask for a very short delay."""
        session, dues = an_opened_session(models=("own",)).session, []
        for _ in range(4):
            decision = asked(session, out("own", 1.5))
            (timer,) = decision.timers
            assert isinstance(timer, SetTimer)
            dues.append(timer.due)
            assert isinstance(timer.event, ModelDue)
            session = met(decision.session, timer.event).session
        assert dues == [START + timedelta(seconds=s) for s in (2, 3, 5, 9)]

    def test_a_session_that_waits_for_a_model_ends_by_deadline_or_cancellation(self) -> None:
        resting = asked(an_opened_session(models=MODELS[:1]).session, out("own")).session
        assert ending(met(resting, DeadlineReached())).termination_reason == "deadline_exceeded"
        assert ending(met(resting, CancellationRequested())).status == "cancelled"

    def test_a_wake_up_of_an_earlier_rest_changes_nothing(self) -> None:
        """Otherwise its request would have an id that was answered before, and would not be answered again."""
        resting = asked(an_opened_session(models=MODELS[:1]).session, out("own")).session
        woken = met(resting, due := ModelDue(round=1)).session
        again = asked(woken, out("own")).session
        assert again.phase == "resting"
        assert met(again, due) == Decision(again)
        only(met(again, ModelDue(round=1, wait=2)), BriefingRequested)

    def test_a_model_due_after_the_deadline_is_not_waited_for(self) -> None:
        decision = asked(an_opened_session(models=MODELS[:1]).session, out("own", 299))
        assert ending(decision).termination_reason == "model_unavailable"
        assert fallback_steps(decision) == ["facts_without_model"]

    @pytest.mark.parametrize("code", ["circuit_open", "rate_limited"])
    def test_a_model_that_requests_a_delay_does_not_count_as_failed(self, code: str) -> None:
        session = asked(an_opened_session(models=MODELS).session).session
        decision = answered(session, a_failed_reply(code, retry_after_s=40.0))
        assert only(decision, BriefingRequested).level == "full"
        assert (decision.session.models.failures, fallback_steps(decision)) == (0, [])
        assert only(asked(decision.session), ReasoningRequested).model == "second"
        assert only(asked(decision.session, at_s=42), ReasoningRequested).model == "own"

    def test_models_that_alternately_ask_for_a_delay_get_longer_and_longer_cooldowns(self) -> None:
        """Each is in order again when the other asks for its pause, so that the session itself never rests."""
        session, at_s, calls = an_opened_session(models=("own", "second")).session, 0.0, 0
        while session.phase == "briefing" and at_s < 290:
            decision = asked(session, at_s=at_s)
            at_s += 2
            session = decision.session
            if session.phase == "reasoning":
                calls += 1
                reply = a_failed_reply("rate_limited", session.models.asked, retry_after_s=0.0)
                session = answered(session, reply, at_s=at_s).session
            elif session.phase == "resting":
                (timer,) = decision.timers
                assert isinstance(timer, SetTimer)
                assert isinstance(timer.due, datetime)
                at_s = (timer.due - START).total_seconds()
                woken = decide(
                    session, an_event(timer.event, at_s=at_s), ENTRY, Inputs(SEARCH, outages=NO_OUTAGES)
                )
                session = woken.session
        assert calls < 20

    def test_a_reply_makes_good_for_the_pauses_of_its_round(self) -> None:
        session = asked(an_opened_session(models=MODELS).session).session
        for model in ("own", "second"):
            failed = a_failed_reply("rate_limited", model, retry_after_s=1.0)
            session = asked(answered(session, failed).session).session
        assert session.models.pauses == 2
        assert answered(session, a_reply(calls=1)).session.models.pauses == 0

    @pytest.mark.parametrize("code", ["authentication_failed", "permission_denied", "model_not_found"])
    def test_a_model_that_refuses_every_request_is_not_asked_again(self, code: str) -> None:
        session = asked(an_opened_session(models=("own", "second")).session).session
        session = answered(session, a_failed_reply(code)).session
        session = asked(session, at_s=200).session
        assert session.models.asked == "second"
        decision = asked(answered(session, a_failed_reply(code, "second")).session)
        assert ending(decision).termination_reason == "model_unavailable"

    def test_a_model_that_refuses_the_request_is_replaced_at_once(self) -> None:
        session = asked(an_opened_session(models=("own", "second")).session).session
        failed = answered(session, a_failed_reply("invalid_request"))
        assert only(failed, BriefingRequested).level == "full"
        session = asked(failed.session).session
        assert (session.models.asked, session.models.is_last_call) == ("second", False)
        last = answered(session, a_failed_reply("invalid_request", "second"))
        assert fallback_steps(last) == ["answer_without_tools"], "perhaps it was a tool that it did not take"
        over = answered(asked(last.session).session, a_failed_reply("invalid_request", "second"))
        assert ending(over).termination_reason == "model_unavailable"

    @pytest.mark.parametrize("code", ["authentication_failed", "model_not_found", "invalid_request"])
    def test_the_reader_sees_the_servers_error_when_no_model_is_left(self, code: str) -> None:
        session = an_opened_session(models=("own",)).session
        for _ in range(2):
            decision = asked(session)
            if decision.session.phase == "reasoning":
                session = answered(decision.session, a_failed_reply(code, "own")).session
        ended = session if session.phase == "assembling" else asked(session).session
        assert ended.phase == "assembling"
        messages = [one.message for one in ended.uncertainty if one.kind == "model_failed"]
        assert "It said no." in messages[-1]

    def test_a_model_that_fails_twice_in_a_round_is_replaced(self) -> None:
        """One session's failures do not open a breaker; it need not wait for others to fail too."""
        session = asked(an_opened_session(models=("own", "second")).session).session
        session = asked(answered(session, a_failed_reply()).session).session
        assert session.models.asked == "own"
        session = asked(answered(session, a_failed_reply()).session).session
        assert session.models.asked == "second"
        last = asked(answered(session, a_failed_reply(model="second")).session)
        assert only(last, ReasoningRequested).model == "second", "the other is left alone for a while"

    def test_a_model_whose_context_was_too_long_is_asked_again(self) -> None:
        session = asked(an_opened_session(models=("own", "second")).session).session
        for _ in range(2):
            session = asked(answered(session, a_failed_reply("context_too_long")).session).session
        assert session.models.asked == "own"

    def test_without_a_list_the_model_of_the_engine_is_asked(self) -> None:
        decision = asked(an_opened_session().session, out("whatever"))
        assert only(decision, ReasoningRequested).model == ""


def test_work_in_flight_is_stopped_when_a_session_ends_before_the_reply() -> None:
    reasoning = asked(an_opened_session().session).session
    assert met(reasoning, CancellationRequested()).stops_work
    assert not answered(reasoning, a_reply()).stops_work
    batch = answered(reasoning, a_reply(calls=1)).session
    assert met(batch, CancellationRequested()).stops_work
    assert not met(an_opened_session().session, CancellationRequested()).stops_work
