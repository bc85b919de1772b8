"""The limit on rounds with tool calls, after which the model answers."""

from typing import Any

from antiphon_shared.events import AssemblyRequested, BriefingRequested, ReasoningRequested
from antiphon_shared.events.session import Limits, QueryOptions

from coordinator import limits
from coordinator.decision import Decision
from tests.coordinator.builders import (
    a_briefing,
    a_reply,
    a_result,
    an_opened_session,
    answered,
    only,
    the_results,
)

DEFAULTS = Limits(max_rounds=4, max_tool_calls=20, max_tokens=200_000, deadline_s=300)


def after_tool_rounds(number: int, **options: Any) -> Decision:
    """Return the decision to ask the model after a number of rounds with calls."""
    decision = an_opened_session(**options)
    for round in range(1, number + 1):
        reasoning = answered(decision.session, a_briefing(round)).session
        batch = answered(reasoning, a_reply(calls=1, round=round)).session
        decision = answered(batch, the_results(a_result("search"), round=round))
    return answered(decision.session, a_briefing(number + 1))


def test_a_bound_on_rounds_with_tools_is_one_on_rounds_too_unless_both_are_set() -> None:
    assert limits.resolve_limits(QueryOptions(max_tool_rounds=2), DEFAULTS).max_rounds == 3
    assert limits.resolve_limits(QueryOptions(max_tool_rounds=9), DEFAULTS).max_rounds == 10
    assert limits.resolve_limits(QueryOptions(max_tool_rounds=2, max_rounds=7), DEFAULTS).max_rounds == 7
    assert limits.resolve_limits(QueryOptions(), DEFAULTS).max_tool_rounds is None
    (asked,) = (
        one for one in an_opened_session(max_tool_rounds=2).commands if isinstance(one, BriefingRequested)
    )
    assert asked.max_rounds == 3


def test_after_the_last_tool_round_the_model_is_asked_once_more_without_tools() -> None:
    before = only(after_tool_rounds(1, max_tool_rounds=2), ReasoningRequested)
    last = only(after_tool_rounds(2, max_tool_rounds=2), ReasoningRequested)
    assert (before.tools, before.last_round_because) == (("search",), "")
    assert (last.tools, last.last_round_because) == ((), "This question allows 2 rounds of tool calls.")


def test_the_answer_after_the_limit_ends_the_session_as_complete() -> None:
    asked = after_tool_rounds(2, max_tool_rounds=2).session
    request = only(answered(asked, a_reply("It is so.", round=3)), AssemblyRequested)
    assert (request.status, request.termination_reason) == ("complete", "natural_completion")


def test_a_reply_that_still_calls_tools_ends_the_session_partially() -> None:
    asked = after_tool_rounds(1, max_tool_rounds=1).session
    request = only(answered(asked, a_reply(calls=1, round=2)), AssemblyRequested)
    assert (request.status, request.termination_reason) == ("partial", "max_tool_rounds_reached")


def test_other_limits_apply_in_addition_to_the_tool_round_limit() -> None:
    asked = after_tool_rounds(1, max_tool_rounds=5, max_rounds=2).session
    request = only(answered(asked, a_reply("It is so.", round=2)), AssemblyRequested)
    assert (request.status, request.termination_reason) == ("partial", "max_rounds_reached")


def test_with_zero_tool_rounds_the_model_answers_at_once() -> None:
    request = only(after_tool_rounds(0, max_tool_rounds=0), ReasoningRequested)
    assert (request.tools, request.last_round_because) == (
        (),
        "This question is to be answered without tools.",
    )
