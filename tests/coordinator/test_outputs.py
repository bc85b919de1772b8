"""Answers that must fit a schema."""

from typing import Any

from antiphon_shared.events import AnswerRefused, AssemblyRequested, BriefingRequested, ReasoningRequested
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.output.validation import Validation, content_digest
from antiphon_shared.tools.calls import Catalogue, ToolResult
from antiphon_shared.values import Usage
from hypothesis import given
from hypothesis import strategies as st

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs, OfferBounds
from coordinator.session import Session
from coordinator.session_parts import replace
from tests.coordinator.builders import (
    ENTRY,
    SEARCH,
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_result,
    an_opened_session,
    answered,
    ending,
    only,
    some_results,
    the_results,
)
from tests.envelopes import an_event

SCHEMA = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
FITS, MISFITS = '{"level": 3}', '{"level": "3"}'


def opened(**options: Any) -> Session:
    return an_opened_session(output_schema=SCHEMA, **options).session


def replied(session: Session, text: str = "", catalogue: Catalogue = SEARCH, **reply: Any) -> Decision:
    """Return the session's next step after the reply to its request."""
    asked = answered(session, a_briefing(session.round), catalogue).session
    event = an_event(a_reply(text, round=asked.round, **reply), answers=asked.pending_request)
    return decide(asked, event, ENTRY, Inputs(catalogue, schema=OutputSchema(SCHEMA)))


def uncertainties(decision: Decision) -> dict[str, str]:
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


def test_an_unfit_answer_is_refused_and_the_next_round_names_the_reason() -> None:
    decision = replied(opened(), MISFITS)
    refused = next(one for one in decision.commands if isinstance(one, AnswerRefused))
    assert refused.because == ('Property: level, Message: "3" is not of type "integer"',)
    briefing = next(one for one in decision.commands if isinstance(one, BriefingRequested))
    assert (briefing.round, briefing.reasoning) == (2, ENTRY), "the model sees its own reply"
    request = only(answered(decision.session, a_briefing(2)), ReasoningRequested)
    assert "Validation Errors Found: 1. Property: level" in request.notice
    assert request.tools, "it may still look something up"


def test_a_refused_answer_may_be_mended() -> None:
    request = ending(replied(replied(opened(), "It is the third.").session, FITS))
    assert (request.status, request.has_result, request.rounds_used) == ("complete", True, 2)


def test_the_last_attempt_is_reported_with_its_errors_when_no_round_is_left() -> None:
    decision = replied(opened(max_rounds=1), MISFITS)
    request = ending(decision)
    assert (request.status, request.termination_reason) == ("partial", "output_invalid")
    assert not request.has_result
    assert MISFITS in uncertainties(decision)["output_missing"]
    assert "is not of type" in uncertainties(decision)["output_missing"]
    assert any(isinstance(one, AnswerRefused) for one in decision.commands)


def test_a_budget_exhausted_after_a_refusal_ends_as_invalid() -> None:
    refused = replied(opened(max_tokens=5_000), MISFITS, usage=Usage(input_tokens=4_900)).session
    request = ending(answered(refused, a_briefing(2)))
    assert (request.status, request.termination_reason) == ("partial", "output_invalid")


def test_any_other_ending_keeps_its_reason_and_reports_the_missing_result() -> None:
    decision = replied(opened(), "I will not.", stop_reason="refusal")
    assert ending(decision).termination_reason == "model_refused"
    assert "output_missing" in uncertainties(decision)


def test_a_truncated_answer_is_refused_as_invalid_json() -> None:
    decision = replied(opened(), '{"level": ', stop_reason="max_tokens")
    assert next(one for one in decision.commands if isinstance(one, AnswerRefused)).because


def test_a_whole_answer_that_filled_its_last_token_counts() -> None:
    assert ending(replied(opened(), FITS, stop_reason="max_tokens")).has_result


BOTH = a_catalogue("search", "validate_full", "validate_minimal")
THING, OTHER = {"level": 3}, {"level": 4}


def validating(*tools: str, **options: Any) -> Session:
    return an_opened_session(BOTH, output_schema=SCHEMA, validation_tools=tools, **options).session


def a_validation(tool: str, of: Any, has_passed: bool = True, *errors: str) -> ToolResult:
    return a_result(tool, validation=Validation(of=content_digest(of), has_passed=has_passed, errors=errors))


def validated(session: Session, *results: ToolResult) -> Session:
    """Return the session after a round of calls with these results."""
    calls = [a_call(result.tool) for result in results]
    asked = replied(session, calls=calls, catalogue=BOTH).session
    return answered(asked, the_results(*results, round=asked.round), BOTH).session


def refusal(decision: Decision) -> str:
    return " ".join(next(one for one in decision.commands if isinstance(one, AnswerRefused)).because)


def test_an_answer_counts_only_after_every_validation_passed() -> None:
    session = validating("validate_full", "validate_minimal")
    session = validated(
        session, a_validation("validate_full", THING), a_validation("validate_minimal", THING)
    )
    assert ending(replied(session, FITS, catalogue=BOTH)).has_result


def test_a_result_without_validation_is_refused_with_the_missing_tool() -> None:
    decision = replied(validating("validate_full"), FITS, catalogue=BOTH)
    assert "`validate_full` has not been called on what you returned" in refusal(decision)


def test_a_validation_of_something_else_does_not_count() -> None:
    session = validated(validating("validate_full"), a_validation("validate_full", OTHER))
    assert "has not been called on what" in refusal(replied(session, FITS, catalogue=BOTH))


def test_a_failed_answer_is_reported_with_every_open_error() -> None:
    fault = "Property: level, Message: it must be even"
    session = validated(validating("validate_full"), a_validation("validate_full", THING, False, fault))
    decision = replied(session, FITS, catalogue=BOTH)
    assert refusal(decision) == f"`validate_full`: {fault}"
    notice = only(answered(decision.session, a_briefing(3), BOTH), ReasoningRequested).notice
    assert fault in notice


def test_the_newest_run_on_the_content_counts_and_runs_on_other_content_do_not_matter() -> None:
    session = validating("validate_full", max_rounds=9)
    session = validated(session, a_validation("validate_full", THING, False, "no"))
    session = validated(session, a_validation("validate_full", THING))
    session = validated(session, a_validation("validate_full", OTHER, False, "no"))
    assert ending(replied(session, FITS, catalogue=BOTH)).has_result
    broken = validated(session, a_validation("validate_full", THING, False, "no"))
    assert refusal(replied(broken, FITS, catalogue=BOTH)) == "`validate_full`: no"


def test_a_budget_exhausted_after_an_unvalidated_answer_ends_as_not_validated() -> None:
    request = ending(replied(validating("validate_full", max_rounds=1), FITS, catalogue=BOTH))
    assert (request.status, request.termination_reason) == ("partial", "validation_incomplete")
    assert not request.has_result


def test_a_tool_that_the_session_cannot_use_ends_it_at_once_and_is_named() -> None:
    """It ends when it is opened, or at its next briefing if a fork has other tools."""
    opened = an_opened_session(BOTH, output_schema=SCHEMA, validation_tools=("validate_all",))
    session = validating("validate_full")
    forked = replace(session, tools=replace(session.tools, usable=("validate_minimal",)))
    briefed = answered(forked, a_briefing(), BOTH)
    for decision, tool in ((opened, "validate_all"), (briefed, "validate_full")):
        request = decision.commands[-1]
        assert isinstance(request, AssemblyRequested)
        assert (request.status, request.termination_reason) == ("failed", "validation_incomplete")
        (why,) = [one.message for one in request.uncertainty if one.about == "validation_tools"]
        assert f"`{tool}`, which this session cannot use" in why


def test_validating_tools_are_always_offered() -> None:
    many = a_catalogue(*(f"t{n}" for n in range(40)), "validate_full")
    session = an_opened_session(
        many, output_schema=SCHEMA, validation_tools=("validate_full",), query="t1", offer=OfferBounds(5, 2)
    ).session
    assert "validate_full" in only(answered(session, a_briefing(), many), ReasoningRequested).tools


RUNS = st.lists(
    st.tuples(
        st.sampled_from(["validate_full", "validate_minimal"]), st.sampled_from([THING, OTHER]), st.booleans()
    ),
    max_size=8,
)


@given(RUNS)
def test_only_the_last_validation_of_each_tool_counts(
    runs: list[tuple[str, dict[str, int], bool]],
) -> None:
    session = validating("validate_full", "validate_minimal", max_rounds=20)
    for tool, of, has_passed in runs:
        session = validated(session, a_validation(tool, of, has_passed, *([] if has_passed else ["no"])))
    last = {tool: has_passed for tool, of, has_passed in runs if of == THING}
    has_passed = all(last.get(tool, False) for tool in ("validate_full", "validate_minimal"))
    decision = replied(session, FITS, catalogue=BOTH)
    assert (decision.session.phase == "assembling") is has_passed


TEXTS = st.sampled_from([FITS, MISFITS, "Prose.", f"{FITS} {MISFITS}", "{", f"```json\n{FITS}\n```", "tools"])


@given(st.lists(TEXTS, min_size=1, max_size=8), st.integers(1, 5))
def test_only_a_fitting_answer_within_the_rounds_becomes_the_result(
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


def plainly_replied(session: Session, text: str = "", **reply: Any) -> Decision:
    """Return the next step of a session that demands no shape."""
    asked = answered(session, a_briefing(session.round), SEARCH).session
    event = an_event(a_reply(text, round=asked.round, **reply), answers=asked.pending_request)
    return decide(asked, event, ENTRY, Inputs(SEARCH))


def test_a_reply_that_breaks_the_form_is_refused_also_where_no_shape_is_demanded() -> None:
    because = ("`arguments` must be a JSON object.",)
    decision = plainly_replied(an_opened_session().session, refused=because)
    assert [one.because for one in decision.commands if isinstance(one, AnswerRefused)] == [because]
    session = decision.session
    assert (session.round, session.phase) == (2, "briefing")
    request = only(answered(session, a_briefing(2), SEARCH), ReasoningRequested)
    assert because[0] in request.notice
    assert "does not count" in request.notice


def test_the_reasons_of_a_refusal_are_cleared_after_further_calls() -> None:
    session = plainly_replied(an_opened_session().session, refused=("No.",)).session
    called = plainly_replied(session, calls=1).session
    assert called.output.because == ()


def test_the_last_round_ends_with_the_text_of_the_refused_reply() -> None:
    session = an_opened_session(max_rounds=1).session
    request = ending(plainly_replied(session, "Blue [F1].", refused=("There is one key too many.",)))
    assert (request.status, request.termination_reason) == ("partial", "max_rounds_reached")
    assert request.reply is not None
    assert "output_missing" not in {one.kind for one in request.uncertainty}


def test_a_budget_that_ends_a_session_without_a_shape_keeps_its_name() -> None:
    session = plainly_replied(an_opened_session(max_tokens=5_000).session, refused=("No.",)).session
    spent = plainly_replied(session, "Blue.", usage=Usage(input_tokens=6_000), calls=1)
    assert ending(spent).termination_reason == "token_budget_exhausted"


def test_a_shape_is_demanded_of_the_form_too() -> None:
    decision = replied(opened(), "{}", refused=("`result` is empty.",))
    assert [one.because for one in decision.commands if isinstance(one, AnswerRefused)] == [
        ("`result` is empty.",)
    ]
    last = opened(max_rounds=1)
    assert ending(replied(last, "{}", refused=("No.",))).termination_reason == "output_invalid"
