"""Answers that must fit a schema."""

from typing import Any

from antiphon_shared.events import AnswerRefused, BriefingRequested, ReasoningRequested
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.values import Usage
from hypothesis import given
from hypothesis import strategies as st

from coordinator.decide import decide
from coordinator.decision import Decision
from coordinator.session import Session
from tests.coordinator.builders import (
    ENTRY,
    SEARCH,
    a_briefing,
    a_reply,
    an_opened_session,
    answered,
    ending,
    only,
    some_results,
)
from tests.envelopes import an_event

SCHEMA = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
FITS, MISFITS = '{"level": 3}', '{"level": "3"}'


def opened(**options: Any) -> Session:
    return an_opened_session(output_schema=SCHEMA, **options).session


def replied(session: Session, text: str = "", **reply: Any) -> Decision:
    """The session's next step on the reply to what it asks in its round."""
    asked = answered(session, a_briefing(session.round)).session
    event = an_event(a_reply(text, round=asked.round, **reply), answers=asked.awaited)
    return decide(asked, event, ENTRY, SEARCH, schema=OutputSchema(SCHEMA))


def doubts(decision: Decision) -> dict[str, str]:
    return {one.kind: one.message for one in ending(decision).uncertainty}


def test_the_model_is_asked_for_the_shape_in_every_round() -> None:
    session = opened()
    assert only(answered(session, a_briefing()), ReasoningRequested).output == session.query.question
    plain = an_opened_session().session
    assert only(answered(plain, a_briefing()), ReasoningRequested).output is None


def test_an_answer_that_fits_ends_the_session() -> None:
    request = ending(replied(opened(), f"Here it is: {FITS}"))
    assert (request.status, request.termination_reason) == ("complete", "natural_completion")
    assert request.has_result
    assert not request.uncertainty


def test_one_that_does_not_is_refused_and_the_model_told_why_in_the_next_round() -> None:
    decision = replied(opened(), MISFITS)
    refused = next(one for one in decision.commands if isinstance(one, AnswerRefused))
    assert refused.because == ('Property: level, Message: "3" is not of type "integer"',)
    briefing = next(one for one in decision.commands if isinstance(one, BriefingRequested))
    assert (briefing.round, briefing.reasoning) == (2, ENTRY), "the model sees what it has written"
    request = only(answered(decision.session, a_briefing(2)), ReasoningRequested)
    assert "Validation Errors Found: 1. Property: level" in request.notice
    assert request.tools, "it may still look something up"


def test_a_refused_answer_may_be_mended() -> None:
    request = ending(replied(replied(opened(), "It is the third.").session, FITS))
    assert (request.status, request.has_result, request.rounds_used) == ("complete", True, 2)


def test_without_any_round_left_the_last_attempt_is_told_with_what_is_wrong_with_it() -> None:
    decision = replied(opened(max_rounds=1), MISFITS)
    request = ending(decision)
    assert (request.status, request.termination_reason) == ("partial", "output_invalid")
    assert not request.has_result
    assert MISFITS in doubts(decision)["output_missing"]
    assert "is not of type" in doubts(decision)["output_missing"]
    assert any(isinstance(one, AnswerRefused) for one in decision.commands)


def test_a_budget_that_ends_behind_a_refusal_ends_as_invalid() -> None:
    refused = replied(opened(max_tokens=5_000), MISFITS, usage=Usage(input_tokens=4_900)).session
    request = ending(answered(refused, a_briefing(2)))
    assert (request.status, request.termination_reason) == ("partial", "output_invalid")


def test_what_ends_a_session_otherwise_keeps_its_reason_and_tells_that_there_is_no_result() -> None:
    decision = replied(opened(), "I will not.", stop_reason="refusal")
    assert ending(decision).termination_reason == "model_refused"
    assert "output_missing" in doubts(decision)


def test_an_answer_that_is_cut_off_is_told_back_as_any_that_is_no_json() -> None:
    decision = replied(opened(), '{"level": ', stop_reason="max_tokens")
    assert next(one for one in decision.commands if isinstance(one, AnswerRefused)).because


def test_a_whole_answer_that_filled_its_last_token_counts() -> None:
    assert ending(replied(opened(), FITS, stop_reason="max_tokens")).has_result


TEXTS = st.sampled_from([FITS, MISFITS, "Prose.", f"{FITS} {MISFITS}", "{", f"```json\n{FITS}\n```", "tools"])


@given(st.lists(TEXTS, min_size=1, max_size=8), st.integers(1, 5))
def test_in_any_order_of_replies_one_answer_comes_within_the_rounds_and_only_what_fits_is_a_result(
    texts: list[str], max_rounds: int
) -> None:
    session = opened(max_rounds=max_rounds)
    for text in [*texts, *["Prose."] * max_rounds]:
        calls = 1 if text == "tools" else 0
        decision = replied(session, text, calls=calls)
        if decision.session.phase == "tools":
            decision = answered(decision.session, some_results(1, round=decision.session.round))
        session = decision.session
        assert session.round <= max_rounds
        if session.phase == "assembling":
            request = ending(decision)
            assert request.has_result is (text in (FITS, f"```json\n{FITS}\n```"))
            assert request.has_result or request.termination_reason in (
                "output_invalid",
                "max_rounds_reached",
            )
            return
    raise AssertionError("the session has not ended")
