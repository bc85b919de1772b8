"""Summaries are requested in parallel to the session, and do not change it."""

from typing import Any

import pytest
from antiphon_shared.events import (
    BriefingRequested,
    CancellationRequested,
    ComponentFailed,
    EventData,
    ReasoningRequested,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
)
from antiphon_shared.events.session import Limits
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.process.ids import child_id
from antiphon_shared.values import Usage

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.session import Session
from coordinator.session_parts import Spent, replace
from coordinator.settings import CoordinatorSettings
from tests.coordinator.builders import (
    SEARCH,
    a_briefing,
    a_reply,
    an_opened_session,
    answered,
    met,
    only,
    some_results,
    too_much,
)
from tests.envelopes import an_event

OTHER_ENTRY = "1795244309222-0"
WRITTEN = SummaryCompleted(
    round=1, text="F20: Six.", facts=("F20",), model="m", usage=Usage(input_tokens=900, output_tokens=50)
)
FAILED = SummaryFailed(
    round=1, error=ErrorInfo(code="timeout", message="Late."), model="m", usage=Usage(input_tokens=7)
)


def asked(**options: Any) -> Decision:
    """Return a briefing that leaves many facts out, and the step after it."""
    return answered(an_opened_session(**options).session, a_briefing(to_summarize=too_much()))


def after(session: Session, data: EventData) -> Session:
    """Return the session after its pending summary has come."""
    decision = met_by(session, data)
    assert (decision.commands, decision.timers) == ((), ())
    return decision.session


def met_by(session: Session, data: EventData) -> Decision:
    return decide(session, an_event(data, answers=session.summaries.awaiting), OTHER_ENTRY, Inputs(SEARCH))


def next_briefing(session: Session) -> tuple[Session, BriefingRequested]:
    """Return the session and its briefing request one round later, from the model's turn."""
    batch = answered(session, a_reply(calls=1, round=session.round)).session
    decision = answered(batch, some_results(round=session.round))
    return decision.session, only(decision, BriefingRequested)


def test_a_summary_is_requested_after_the_model() -> None:
    decision = asked()
    first, second = decision.commands
    assert isinstance(first, ReasoningRequested)
    assert isinstance(second, SummaryRequested)
    assert (second.source, second.facts, second.tokens_max) == ("5eed", ("F20-F31",), 100)
    assert second.tokens_left == 200_000
    assert decision.session.phase == "reasoning"


def test_a_summary_is_filed_with_the_next_briefing_and_only_with_that() -> None:
    session = after(asked().session, WRITTEN)
    briefing, request = next_briefing(session)
    assert (request.summary, request.may_summarize) == (OTHER_ENTRY, True)
    _, later = next_briefing(answered(briefing, a_briefing(2)).session)
    assert later.summary is None


def test_a_summary_that_comes_while_the_session_is_briefed_waits_for_the_next_briefing() -> None:
    briefing, request = next_briefing(asked().session)
    assert (request.summary, request.may_summarize) == (None, False), "one is under way"
    session = answered(after(briefing, WRITTEN), a_briefing(2)).session
    _, later = next_briefing(session)
    assert later.summary == OTHER_ENTRY


def test_the_usage_of_summaries_counts() -> None:
    session = asked().session
    assert after(session, WRITTEN).spent.usage.total_tokens == 950
    assert after(session, FAILED).spent.usage.total_tokens == 7


def test_the_tokens_of_summaries_reduce_those_of_the_model() -> None:
    briefing, _ = next_briefing(after(asked().session, WRITTEN))
    request = only(answered(briefing, a_briefing(2)), ReasoningRequested)
    assert request.tokens_left == 200_000 - 120 - 950


def again(session: Session) -> tuple[Session, bool]:
    """Return the session after another round that leaves many facts out, and whether it requests a summary."""
    briefing, request = next_briefing(session)
    decision = answered(briefing, a_briefing(session.round + 1, to_summarize=too_much()))
    is_asked = any(isinstance(command, SummaryRequested) for command in decision.commands)
    assert request.may_summarize is is_asked, "the request for the briefing announces the summary"
    return decision.session, is_asked


def test_no_summary_is_requested_after_two_failures() -> None:
    session, is_asked = again(after(asked(max_rounds=9).session, FAILED))
    assert is_asked
    session, is_asked = again(after(session, FAILED))
    assert not is_asked


def test_a_refused_summary_counts_as_a_failure() -> None:
    session = after(asked(max_rounds=9).session, FAILED)
    briefing, _ = next_briefing(session)
    refused = a_briefing(2, to_summarize=too_much(), summary_refused="It lost the number 42.")
    decision = answered(briefing, refused)
    only(decision, ReasoningRequested)
    assert decision.session.uncertainty == (), "the rules have taken its place"


@pytest.mark.parametrize("fed", ["the request", "the reply"])
def test_a_dead_lettered_summary_counts_as_a_failure_and_the_session_continues(fed: str) -> None:
    session = asked().session
    assert session.summaries.awaiting is not None
    component, failed = "reasoning_engine", session.summaries.awaiting
    if fed == "the reply":
        component, failed = "coordinator", child_id(session.summaries.awaiting, 0)
    error = ErrorInfo(code="internal_error", message="it broke")
    event = ComponentFailed.model_validate({"component": component, "failed_event": failed, "error": error})
    decision = met(session, event)
    assert decision.commands == ()
    assert (decision.session.summaries.awaiting, decision.session.summaries.failures) == (None, 1)
    assert decision.session.phase == "reasoning"


def test_no_more_are_asked_for_than_the_limits_allow() -> None:
    session, count = after(asked(max_rounds=9).session, WRITTEN), 1
    for _ in range(6):
        session, is_asked = again(session)
        count += is_asked
        session = after(session, WRITTEN) if is_asked else session
    assert count == Limits.model_fields["summaries_max"].default == 4


def test_a_limit_of_none_turns_them_off() -> None:
    limits = CoordinatorSettings(summaries_max=0).limits(lease_s=5, deadline_max_s=1_800)
    opened = replace(an_opened_session().session, limits=limits)
    only(answered(opened, a_briefing(to_summarize=too_much())), ReasoningRequested)
    _, request = next_briefing(answered(opened, a_briefing()).session)
    assert not request.may_summarize


def test_summaries_take_a_fifth_of_the_token_budget_at_most() -> None:
    thirsty = WRITTEN.model_copy(update={"usage": Usage(input_tokens=1_900)})
    session, is_asked = again(after(asked(max_rounds=9, max_tokens=20_000).session, thirsty))
    assert is_asked
    session = after(session, thirsty)
    briefing, request = next_briefing(session)
    assert request.may_summarize, "there is something left"
    only(answered(briefing, a_briefing(3, to_summarize=too_much())), ReasoningRequested)


@pytest.mark.parametrize(
    "options",
    [
        {"max_rounds": 1},
        {"max_tool_calls": 0},
        {"named_tools": ()},
        {"max_tokens": 5_000},
    ],
    ids=["last round", "no calls left", "no tools", "few tokens"],
)
def test_no_summary_is_requested_when_it_is_of_no_use(options: dict[str, Any]) -> None:
    only(asked(**options), ReasoningRequested)


def test_no_summary_is_requested_when_the_session_needs_its_tokens() -> None:
    session = an_opened_session().session
    for spent, is_asked in ((190_000, True), (195_000, False)):
        spending = replace(session, spent=Spent(usage=Usage(input_tokens=spent)))
        decision = answered(spending, a_briefing(to_summarize=too_much()))
        reasoning, *summary = decision.commands
        assert isinstance(reasoning, ReasoningRequested)
        assert reasoning.tools, "there is enough for a round"
        assert bool(summary) is is_asked


def test_a_summary_that_is_not_awaited_changes_nothing() -> None:
    session = asked().session
    for stranger in (WRITTEN, FAILED):
        assert answered(session, stranger).session is session, "it answers the model's request"
        assert met(session, stranger).session is session
    opened = an_opened_session().session
    assert met(opened, WRITTEN).session is opened


def test_a_summary_that_is_late_changes_nothing() -> None:
    ended = met(asked().session, CancellationRequested()).session
    assert met_by(ended, WRITTEN).session is ended
