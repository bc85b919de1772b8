"""The steps of a query: their order, their tools, their attempts and their end."""

from collections.abc import Iterable
from typing import Any

import pytest
from antiphon_shared.events import (
    AnswerRefused,
    AssemblyRequested,
    BriefingRequested,
    ReasoningRequested,
    StepBegun,
    ToolsRequested,
)
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.output.steps import Step
from antiphon_shared.output.validation import Validation, content_digest
from antiphon_shared.tools.calls import ToolResult
from hypothesis import given
from hypothesis import strategies as st

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.session import Session
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_result,
    an_opened_session,
    answered,
    ending,
    only,
    the_results,
)
from tests.envelopes import an_event

SCHEMA = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
FITS, MISFITS, PROSE = '{"level": 3}', '{"level": "3"}', "It is three."
CATALOGUE = a_catalogue("search", "read", "validate", "deploy", "other")
STEPS = (
    Step(name="discovery", instructions="Find it.", tools=("search", "read"), max_rounds=5, attempts=2),
    Step(
        name="configuration",
        instructions="Set it up.",
        tools=("read", "validate"),
        output=SCHEMA,
        validation_tools=("validate",),
        max_rounds=5,
        attempts=2,
    ),
    Step(
        name="assembly", instructions="Build it.", tools=("deploy",), output=SCHEMA, max_rounds=6, attempts=1
    ),
)


def opened(*steps: Step, **options: Any) -> Decision:
    return an_opened_session(CATALOGUE, steps=steps or STEPS, **options)


def briefed(session: Session) -> Decision:
    """Return the session's next step once its briefing is ready."""
    return answered(session, a_briefing(session.round), CATALOGUE)


def replied(session: Session, text: str = PROSE, entry: str = "1795244309110-0", **reply: Any) -> Decision:
    """Return the session's next step after the reply to its request, with the schema of its step."""
    asked = briefed(session).session
    schema = STEPS[session.steps.number - 1].output
    event = an_event(a_reply(text, round=asked.round, **reply), answers=asked.pending_request)
    return decide(asked, event, entry, Inputs(CATALOGUE, schema=OutputSchema(schema) if schema else None))


def called(session: Session, *tools: str) -> Decision:
    """Return the session's next step on a reply that calls tools."""
    return replied(session, calls=[a_call(name) for name in tools])


def ran(session: Session, *results: ToolResult) -> Session:
    """Return the session after the results of its pending batch."""
    return answered(session, the_results(*results, round=session.round), CATALOGUE).session


def validated(session: Session, has_passed: bool = True, level: int = 3) -> Session:
    errors = () if has_passed else ("no",)
    run = Validation(of=content_digest({"level": level}), has_passed=has_passed, errors=errors)
    return ran(called(session, "validate").session, a_result("validate", validation=run))


def in_step(number: int, **options: Any) -> Session:
    """Return a session whose steps before that one are done."""
    session = opened(**options).session
    if number > 1:
        session = replied(session, entry="1-1").session
    if number > 2:
        session = replied(validated(session), FITS, entry="2-1").session
    assert session.steps.number == number
    return session


def begins(decision: Decision) -> list[StepBegun]:
    return [one for one in decision.commands if isinstance(one, StepBegun)]


def refusals(decision: Decision) -> list[str | None]:
    return [call.refused for call in only(decision, ToolsRequested).calls]


def test_the_first_step_begins_with_the_session() -> None:
    decision = opened()
    (begun,) = begins(decision)
    assert (begun.step, begun.number, begun.attempt, begun.round) == ("discovery", 1, 1, 1)
    briefing = next(one for one in decision.commands if isinstance(one, BriefingRequested))
    assert briefing.step is not None
    assert (briefing.step.number, briefing.step.begun, briefing.step.input) == (1, 1, None)
    assert decision.session.limits.max_rounds == 5 * 2 + 5 * 2 + 6


def test_a_step_is_offered_only_its_own_tools_and_only_its_own_shape() -> None:
    offers = [only(briefed(in_step(number)), ReasoningRequested) for number in (1, 2, 3)]
    assert [offer.tools for offer in offers] == [("read", "search"), ("read", "validate"), ("deploy",)]
    assert [offer.output is not None for offer in offers] == [False, True, True]
    assert [offer.step for offer in offers] == [1, 2, 3]


def test_the_output_of_a_step_is_the_input_of_the_next() -> None:
    session = in_step(2)
    assert session.steps.replies == ("1-1",)
    decision = replied(validated(session), FITS, entry="2-1")
    (begun,) = begins(decision)
    assert (begun.step, begun.number) == ("assembly", 3)
    briefing = next(one for one in decision.commands if isinstance(one, BriefingRequested))
    assert briefing.step is not None
    assert briefing.step.input == "2-1"
    assert briefing.step.begun == decision.session.round


def test_the_output_of_the_last_step_is_the_answer() -> None:
    request = ending(replied(in_step(3), FITS))
    assert (request.status, request.termination_reason) == ("complete", "natural_completion")
    assert request.has_result
    assert not request.steps


@pytest.mark.parametrize(
    ("number", "tool", "why"),
    [
        (2, "search", "step `discovery` is done, and `search` was its tool"),
        (1, "deploy", "`deploy` is for step `assembly`, which begins when step `discovery` is done"),
        (3, "read", "step `configuration` is done"),
        (2, "read", None),
    ],
)
def test_a_call_of_another_steps_tool_is_refused_with_the_reason(
    number: int, tool: str, why: str | None
) -> None:
    decision = called(in_step(number), tool)
    (refused,) = refusals(decision)
    assert refused is None if why is None else why in (refused or "")
    assert (tool in only(decision, ToolsRequested).allowed) is (why is None)
    assert decision.session.spent.tool_calls == in_step(number).spent.tool_calls + (why is None)


def test_a_refused_output_continues_the_same_attempt() -> None:
    decision = replied(in_step(2), FITS)
    assert any(isinstance(one, AnswerRefused) for one in decision.commands)
    assert not begins(decision)
    assert decision.session.steps.number == 2
    assert "`validate` has not been called" in only(briefed(decision.session), ReasoningRequested).notice


def test_an_empty_or_truncated_text_does_not_end_a_step() -> None:
    for reply in (replied(in_step(1), " "), replied(in_step(1), stop_reason="max_tokens")):
        assert reply.session.steps.number == 1
        assert any(isinstance(one, AnswerRefused) for one in reply.commands)


def spent_attempt(session: Session) -> Decision:
    """Return the decision that ends an attempt whose every reply is refused."""
    attempt = session.steps.attempt, session.steps.number
    while True:
        decision = replied(session, MISFITS)
        session = decision.session
        if session.phase == "assembling" or (session.steps.attempt, session.steps.number) != attempt:
            return decision


def test_an_attempt_out_of_rounds_is_followed_by_another_that_begins_afresh() -> None:
    decision = spent_attempt(validated(in_step(2), has_passed=False))
    (begun,) = begins(decision)
    assert (begun.step, begun.attempt) == ("configuration", 2)
    assert begun.because == ('Property: level, Message: "3" is not of type "integer"',)
    session = decision.session
    assert session.round == session.steps.begun == 2 + 5
    assert not session.output.validations
    asked = only(briefed(session), ReasoningRequested)
    assert "The last attempt at this step failed: 1. Property: level" in asked.notice
    assert asked.tools == ("read", "validate")
    second = only(briefed(replied(session, MISFITS).session), ReasoningRequested)
    assert "The last attempt" not in second.notice


def test_in_the_last_round_of_an_attempt_the_model_has_to_answer() -> None:
    session = in_step(3)
    for _ in range(5):
        session = replied(session, MISFITS).session
    asked = only(briefed(session), ReasoningRequested)
    assert asked.tools == ()
    assert "last round of this attempt" in asked.last_round_because
    assert ending(replied(session, FITS)).status == "complete"


def test_a_step_that_fails_in_every_attempt_ends_the_session_with_the_earlier_outputs() -> None:
    decision = spent_attempt(spent_attempt(in_step(2)).session)
    request = ending(decision)
    assert (request.status, request.termination_reason) == ("partial", "step_failed")
    assert [(one.step, one.reply) for one in request.steps] == [("discovery", "1-1")]
    (uncertainty,) = [one for one in request.uncertainty if one.kind == "step_failed"]
    assert "Step `configuration` (2 of 3) failed in 2 attempts of 5 rounds" in uncertainty.message
    assert "is not of type" in uncertainty.message
    assert not request.has_result


def refused(session: Session, tool: str) -> Session:
    """Return the session after a round whose one call was refused, as another step's."""
    return ran(called(session, tool).session, a_result(tool, status="error"))


def failed(session: Session) -> Session:
    """Return the session after a round whose one call failed."""
    return ran(called(session, "read").session, a_result("read", status="error"))


def test_calls_of_another_steps_tool_are_no_failures_of_the_tools() -> None:
    session = refused(refused(in_step(2), "deploy"), "deploy")
    asked = only(briefed(session), ReasoningRequested)
    assert asked.tools == ("read", "validate")
    assert "failed" not in asked.notice
    assert failed(refused(session, "search")).tools.barren_rounds == 1


def test_a_refused_answer_ends_the_reports_of_failed_rounds() -> None:
    session = failed(in_step(2))
    assert "Every tool call of the last round failed" in only(briefed(session), ReasoningRequested).notice
    after = replied(session, MISFITS).session
    assert "Every tool call" not in only(briefed(after), ReasoningRequested).notice
    assert failed(after).tools.barren_rounds == 1


def test_a_limit_of_the_session_ends_it_in_any_step() -> None:
    session = in_step(2, max_rounds=3)
    last = only(briefed(replied(session, MISFITS).session), ReasoningRequested)
    assert "The limit of 3 rounds is reached." in last.last_round_because
    request = ending(replied(replied(session, MISFITS).session, MISFITS))
    assert (request.status, request.termination_reason) == ("partial", "output_invalid")
    assert [one.step for one in request.steps] == ["discovery"]
    nearly = ending(replied(opened(max_rounds=1).session))
    assert (nearly.status, nearly.termination_reason) == ("partial", "max_rounds_reached")


ACTIONS = st.sampled_from(
    [FITS, MISFITS, PROSE, "search", "read", "validate", "validate!", "deploy", "deploy and validate"]
)


@given(st.lists(ACTIONS, max_size=40), st.integers(1, 30))
def test_in_any_order_of_replies_no_step_is_skipped_and_no_other_steps_tool_runs(
    actions: Iterable[str], max_rounds: int
) -> None:
    session, outputs = opened(max_rounds=max_rounds).session, list[int]()
    passed = False
    for action in [*actions, *[MISFITS] * 60]:
        before = session
        number, plan = before.steps.number, before.steps.plan
        assert plan is not None
        if action in (FITS, MISFITS, PROSE):
            decision = replied(session, action)
        else:
            names = action.removesuffix("!").split(" and ")
            decision = called(session, *names)
            if decision.session.phase == "tools":
                for name, refused in zip(names, refusals(decision), strict=True):
                    assert (refused is None) is (name in plan.tools)
                is_run = "validate" in names and "validate" in plan.tools
                passed = not action.endswith("!") if is_run else passed
                digest = content_digest({"level": 3})
                run = Validation(of=digest, has_passed=passed, errors=() if passed else ("no",))
                results = [
                    a_result(name, index=n, validation=run if is_run and name == "validate" else None)
                    for n, name in enumerate(names)
                ]
                done = the_results(*results, round=decision.session.round)
                decision = answered(decision.session, done, CATALOGUE)
        session = decision.session
        assert session.round <= max_rounds
        assert session.round - session.steps.begun < (session.steps.plan or plan).max_rounds
        if (session.steps.number, session.steps.attempt) != (number, before.steps.attempt):
            if session.steps.number == number + 1:
                outputs.append(number)
                assert action == (FITS if number > 1 else action)
                assert number != 2 or passed
            passed = False
        if session.phase == "assembling":
            request = ending(decision)
            assert not request.has_result or (action == FITS and outputs == [1, 2])
            assert isinstance(request, AssemblyRequested)
            return
    raise AssertionError("the session has not ended")
