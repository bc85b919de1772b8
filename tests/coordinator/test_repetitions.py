"""A write that is repeated on purpose goes out as a call of its tool, and is approved by its tool's rules."""

from typing import Any

import pytest
from antiphon_shared.events import ApprovalRequested, BriefingRequested, ReasoningRequested, ToolsRequested
from antiphon_shared.tools.calls import (
    Catalogue,
    Repeated,
    RequestedCall,
    ToolCall,
    ToolError,
    ToolResult,
)

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.repetitions import calls_to_repeat
from coordinator.session import Session
from coordinator.session_parts import Writes, replace
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
from tests.envelopes import an_event

TOOLS = a_catalogue(
    a_tool("book", "write", approval="always"),
    a_tool("pay", "write"),
    a_tool("press", "write", repeat="ask"),
    "repeat_call",
    "search",
)
MAIL = a_call("pay", "c1", arguments={"to": "a"})
ENTRY = "1795244300001-0"
UNKNOWN = ToolError(error_type="outcome_unknown", message="?", suggested_action="!")


def a_repetition(of: str, id: str = "r1", **more: Any) -> ToolCall:
    return a_call("repeat_call", id, arguments={"call_id": of, "reason": "Twice is better.", **more})


def asked(session: Session, *calls: ToolCall, catalogue: Catalogue = TOOLS) -> Decision:
    """Return the step after a reply with those calls; the repeated ones are looked up as the shell does."""
    reasoning = answered(session, a_briefing(session.round), catalogue).session
    reply = a_reply(calls=calls, round=session.round)
    wanted = calls_to_repeat(reasoning, reply)
    earlier = {id: KNOWN[source] for id, (_, source) in wanted.items()}
    event = an_event(reply, answers=reasoning.pending_request, at_s=1)
    return decide(reasoning, event, ENTRY, Inputs(catalogue, earlier=earlier))


KNOWN = {call.id: call for call in (MAIL, a_call("book", "b1", arguments={"room": 7}), a_call("press", "p1"))}


def after(session: Session, *results: ToolResult) -> Session:
    return answered(session, the_results(*results, round=session.round), TOOLS).session


def made(call: ToolCall = MAIL, **result: Any) -> Session:
    """Return a session in its second round, which has made a call in the first."""
    session = asked(an_opened_session(TOOLS).session, call).session
    if session.phase == "approval":
        session = met(session, a_decision(), TOOLS).session
    return after(session, a_result(call.name, call_id=call.id, **result))


def sent(decision: Decision) -> tuple[RequestedCall, ...]:
    return only(decision, ToolsRequested).calls


def test_the_tool_is_offered_once_there_is_a_write_to_repeat() -> None:
    first = answered(an_opened_session(TOOLS).session, a_briefing(1), TOOLS)
    assert "repeat_call" not in only(first, ReasoningRequested).tools
    second = answered(made(), a_briefing(2), TOOLS)
    assert "repeat_call" in only(second, ReasoningRequested).tools


def test_a_session_of_format_1_mints_keys_and_repeats_nothing() -> None:
    session = replace(made(), format=1, writes=Writes())
    assert "repeat_call" not in only(answered(session, a_briefing(2), TOOLS), ReasoningRequested).tools
    (call,) = sent(asked(session, a_call("search", "s9")))
    assert call.idempotency_key == f"default/{session.id}/2/s9"


def test_a_repetition_is_sent_as_the_call_it_repeats() -> None:
    (call,) = sent(asked(made(), a_repetition("c1")))
    assert (call.id, call.name, call.arguments) == ("r1", "pay", {"to": "a"})
    assert (call.repeat_of, call.reason) == ("c1", "Twice is better.")


def test_a_repetition_can_be_repeated() -> None:
    session = after(asked(made(), a_repetition("c1")).session, a_result("pay", call_id="r1"))
    (call,) = sent(asked(session, a_repetition("r1", "r2")))
    assert (call.name, call.arguments, call.repeat_of) == ("pay", {"to": "a"}, "r1")


@pytest.mark.parametrize("id", ["nobody", "s1"])
def test_a_call_that_is_not_an_earlier_write_is_refused_and_those_that_are_named(id: str) -> None:
    (call,) = sent(asked(made(), a_repetition(id)))
    assert call.refused is not None
    assert "there are: c1" in call.refused


def test_arguments_that_are_not_valid_are_left_to_the_dispatcher() -> None:
    (call,) = sent(asked(made(), a_repetition("c1", more=1)))
    assert (call.name, call.refused, call.repeat_of) == ("repeat_call", None, None)


def test_a_call_with_placeholders_is_made_with_its_values_first() -> None:
    KNOWN["c3"] = placed = a_call("pay", "c3", arguments={"to": "${calls[0].id}"})
    (call,) = sent(asked(made(placed), a_repetition("c3")))
    assert call.refused is not None
    assert "with the values themselves" in call.refused


def test_the_approval_rules_of_the_tool_apply() -> None:
    decision = asked(made(KNOWN["b1"]), a_repetition("b1"))
    (to_approve,) = only(decision, ApprovalRequested).calls
    assert (to_approve.id, to_approve.tool, to_approve.arguments) == ("r1", "book", {"room": 7})


def test_a_repetition_of_a_write_with_unknown_outcome_needs_a_person() -> None:
    decision = asked(made(status="error", error=UNKNOWN), a_repetition("c1"))
    (to_approve,) = only(decision, ApprovalRequested).calls
    assert "it repeats call c1, and it is unknown whether that call took effect" in to_approve.because
    assert "Twice is better." in to_approve.because
    session = met(decision.session, a_decision(round=2), TOOLS)
    (call,) = sent(session)
    assert call.approval is not None


def test_without_a_reachable_person_a_repetition_is_refused_with_the_reason() -> None:
    session = made(status="error", error=UNKNOWN)
    hurried = replace(session, deadline=an_event(a_reply(), at_s=2).time)
    (call,) = sent(asked(hurried, a_repetition("c1")))
    assert call.refused is not None
    assert "a person has to approve it" in call.refused


def test_a_repetition_of_an_uncertain_repetition_needs_a_person() -> None:
    session = after(
        asked(made(), a_repetition("c1")).session,
        a_result("pay", call_id="r1", status="error", error=UNKNOWN),
    )
    assert only(asked(session, a_repetition("c1", "r2")), ApprovalRequested)


def test_a_call_settled_by_an_identical_one_needs_no_approval() -> None:
    session = asked(made(status="error", error=UNKNOWN), a_call("pay", "c2", arguments={"to": "a"})).session
    session = after(session, a_result("pay", call_id="c2", repeated=Repeated(call_id="c1", round=1)))
    assert session.writes.in_doubt == ()
    assert sent(asked(session, a_repetition("c1")))


def test_a_write_settled_by_its_replacement_may_be_repeated() -> None:
    session = asked(made(status="error", error=UNKNOWN), a_call("pay", "c2", arguments={"to": "a"})).session
    session = after(session, a_result("pay", call_id="c2", settles="c1"))
    assert session.writes.in_doubt == ()
    assert [write.state for write in session.writes.made] == ["done", "done"]
    assert sent(asked(session, a_repetition("c1")))


def test_identical_calls_of_unknown_outcome_are_reported_once() -> None:
    session = asked(made(status="error", error=UNKNOWN), a_call("pay", "c2", arguments={"to": "a"})).session
    result = a_result(
        "pay", call_id="c2", status="error", error=UNKNOWN, repeated=Repeated(call_id="c1", round=1)
    )
    assert after(session, result).writes.in_doubt == ("pay c1",)


def test_ask_has_a_person_decide_on_an_identical_call() -> None:
    decision = asked(made(KNOWN["p1"]), a_call("press", "p2"))
    (to_approve,) = only(decision, ApprovalRequested).calls
    assert to_approve.tool == "press"
    (call,) = sent(met(decision.session, a_decision(round=2), TOOLS))
    assert (call.repeat_of, call.refused) == ("p1", None)
    assert call.approval is not None


def test_the_session_continues_after_a_repetition() -> None:
    assert only(
        answered(
            asked(made(), a_repetition("c1")).session,
            the_results(a_result("pay", call_id="r1"), round=2),
            TOOLS,
        ),
        BriefingRequested,
    )
