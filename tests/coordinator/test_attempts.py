"""The steps after an attempt: at the session's limits, after failed calls, and after a stop."""

import pytest
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    AssemblyRequested,
    CancellationRequested,
    DeadlineReached,
    EventData,
    ReasoningRequested,
    SessionOpened,
)

from coordinator.decide import decide
from coordinator.decision import Inputs
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_response,
    a_result,
    a_tool,
    an_opened_session,
    answered,
    ending,
    met,
    only,
    the_results,
)
from tests.coordinator.test_steps import (
    CATALOGUE,
    FITS,
    MISFITS,
    STEPS,
    begins,
    briefed,
    called,
    in_step,
    opened,
    ran,
    refusals,
    replied,
    validated,
)
from tests.envelopes import an_event


def test_the_output_accepted_at_a_limit_of_the_session_is_reported() -> None:
    """An earlier answer was refused, and the next step cannot begin."""
    for limit, reason in (
        ({"max_tool_calls": 1}, "max_tool_calls_reached"),
        ({"max_rounds": 4}, "max_rounds_reached"),
    ):
        refused = replied(in_step(2, **limit), MISFITS).session
        request = ending(replied(validated(refused), FITS, entry="2-1"))
        assert (request.status, request.termination_reason) == ("partial", reason)
        assert [(one.step, one.reply) for one in request.steps] == [
            ("discovery", "1-1"),
            ("configuration", "2-1"),
        ]
        assert (request.reply, request.has_result) == (None, False)
        assert "output_missing" not in [one.kind for one in request.uncertainty]


def test_calls_that_all_fail_end_the_attempt_and_not_the_session() -> None:
    session = in_step(2)
    for _ in range(2):
        session = ran(called(session, "read").session, a_result("read", status="error"))
    asked = briefed(session)
    assert asked.session.last_round == "all_tools_failed"
    (begun,) = begins(replied(session, FITS))
    assert (begun.step, begun.attempt) == ("configuration", 2)
    afresh = replied(session, FITS).session
    assert only(briefed(afresh), ReasoningRequested).tools == ("read", "validate")


def test_a_text_given_when_every_call_has_failed_ends_no_step() -> None:
    session = in_step(1)
    for _ in range(2):
        session = ran(called(session, "search").session, a_result("search", status="error"))
    (begun,) = begins(replied(session))
    assert (begun.step, begun.attempt) == ("discovery", 2)
    assert begun.because == ("Every tool call of the last 2 rounds failed.",)


def test_a_refused_call_of_another_steps_tool_does_not_count_towards_the_limit() -> None:
    session = opened(max_tool_calls=1).session
    foreign, own, beyond = refusals(called(session, "deploy", "search", "read"))
    assert "is for step `assembly`" in (foreign or "")
    assert own is None
    assert "the session's limit of 1 tool calls is reached" in (beyond or "")


def test_a_write_of_another_step_is_not_repeated_on_purpose() -> None:
    steps = (STEPS[0].model_copy(update={"tools": ("deploy",)}), STEPS[1])
    catalogue = a_catalogue("read", "validate", a_tool("deploy", effect="write"), a_tool("repeat_call"))
    session = an_opened_session(catalogue, steps=steps).session
    write, entry = a_call("deploy", "w1", arguments={"x": 1}), "1795244309110-0"
    for data in (
        a_briefing(),
        a_reply("", [write]),
        the_results(a_result("deploy", call_id="w1")),
        a_briefing(2),
        a_reply("Done.", round=2),
        a_briefing(3),
    ):
        session = answered(session, data, catalogue).session
    assert session.steps.number == 2
    again = a_call("repeat_call", arguments={"call_id": "w1", "reason": "once more"})
    event = an_event(a_reply("", [again], round=3), answers=session.pending_request)
    decision = decide(session, event, entry, Inputs(catalogue, earlier={"w1": write}))
    (why,) = refusals(decision)
    assert "`deploy` was its tool" in (why or "")
    assert decision.session.spent.tool_calls == session.spent.tool_calls


@pytest.mark.parametrize(
    ("data", "reason"),
    [(CancellationRequested(), "cancelled"), (DeadlineReached(), "deadline_exceeded")],
)
def test_a_session_stopped_in_a_step_reports_the_results_of_finished_steps(
    data: EventData, reason: str
) -> None:
    request = ending(met(briefed(in_step(3)).session, data, CATALOGUE))
    assert request.termination_reason == reason
    assert [one.reply for one in request.steps] == ["1-1", "2-1"]
    assert not request.has_result


def test_a_step_with_missing_tools_ends_the_session_on_opening() -> None:
    absent = STEPS[2].model_copy(update={"tools": ("deploy", "deplyo")})
    decision = opened(*STEPS[:2], absent)
    session_opened, request = decision.commands
    assert isinstance(session_opened, SessionOpened)
    assert isinstance(request, AssemblyRequested)
    assert (request.status, request.termination_reason) == ("failed", "step_failed")
    (why,) = [one.message for one in request.uncertainty if one.about == "steps"]
    assert "The steps need `deplyo`, which this session cannot use" in why
    assert decision.session.phase == "assembling"
    closed = answered(decision.session, a_response(), CATALOGUE)
    assert closed.session.phase == "closed"
    assert [timer.name for timer in decision.timers if isinstance(timer, SetTimer)] == ["assembly"]
