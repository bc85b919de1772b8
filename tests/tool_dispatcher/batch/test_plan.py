"""The calls that are answered without running, and their errors."""

from collections.abc import Callable
from typing import Any

import pytest
from antiphon_shared.tools.calls import RequestedCall, ToolError

from tests.tool_dispatcher.batch.builders import (
    READ,
    ROOMY,
    WRITE,
    PlanRun,
    a_call,
    a_failure,
    a_plan,
    a_request,
    error_in,
    ok,
)
from tool_dispatcher.batch import BatchState, plan_batch, start

CONTRACTS = {"look": READ, "lookup": READ, "book": WRITE}


def _answer(
    call: RequestedCall,
    allowed: tuple[str, ...],
    example_of: Callable[[str], Any] = lambda _: None,
    **state: Any,
) -> ToolError:
    request = a_request(call, allowed=allowed)
    step = start(plan_batch(request, CONTRACTS, ROOMY, BatchState(**state), example_of))
    assert step.begin == ()
    assert step.progress.is_done
    return error_in(step.answered[0])


def test_a_call_runs_by_itself_under_its_own_key() -> None:
    (unit,) = PlanRun(a_plan(a_call())).begun
    assert (unit.calls, unit.tool, unit.key, unit.variant) == ((0,), "look", "k0", None)


REFUSALS: list[tuple[RequestedCall, tuple[str, ...], str, str, str]] = [
    (
        a_call(refused="the limit is reached"),
        ("look",),
        "cancelled",
        "was not run: the limit is reached.",
        "go on without the call",
    ),
    (a_call(problem="It was cut off."), ("look",), "validation_error", "cut off", "complete JSON object"),
    (
        a_call("lokup"),
        ("look", "lookup", "book"),
        "unknown_tool",
        "no tool 'lokup'",
        "Use one of: lookup, look.",
    ),
    (a_call("lokup"), ("book",), "unknown_tool", "'lokup'", "Use one of: book."),
    (a_call("zzz"), ("look", "book", "gone"), "unknown_tool", "'zzz'", "Use one of: book, look."),
    (a_call("zzz"), (), "unknown_tool", "'zzz'", "Answer without tools: none is offered."),
    (a_call(""), ("gone",), "unknown_tool", "''", "Answer without tools"),
]


@pytest.mark.parametrize(("call", "allowed", "error_type", "message", "action"), REFUSALS)
def test_a_refused_call_is_answered_with_the_fix(
    call: RequestedCall, allowed: tuple[str, ...], error_type: str, message: str, action: str
) -> None:
    error = _answer(call, allowed)
    assert error.error_type == error_type
    assert message in error.message
    assert action in error.suggested_action


def test_unusable_arguments_are_answered_with_an_example() -> None:
    error = _answer(a_call(problem="It was cut off."), ("look",), example_of=lambda name: {"of": name})
    assert error.example_valid_call == {"of": "look"}


def test_only_some_of_many_offered_tools_are_listed() -> None:
    contracts = {f"tool{n}": READ for n in range(100)}
    (refused,) = start(a_plan(a_call("zzz"), contracts=contracts)).answered
    action = error_in(refused).suggested_action
    assert action.startswith("Use one of: tool0, tool1, tool10")
    assert action.count("tool") == 20
    assert action.endswith(", and others.")


def test_an_earlier_refusal_takes_precedence() -> None:
    assert _answer(a_call("zzz"), (), refused={0: a_failure("not you")}).message == "not you"


def test_a_second_call_of_the_same_id_does_not_run_and_is_not_to_be_settled() -> None:
    """The journal goes by id: settling the second would answer the first."""
    twin = RequestedCall(id="twin", name="look", idempotency_key="k")
    plan_run = PlanRun(a_plan(twin, twin, a_call()))
    assert plan_run.begun_calls == [(0,), (2,)]
    first, second, third = plan_run.end_all()
    assert (first.status, third.status) == ("ok", "ok")
    assert (
        error_in(second).message
        == "Two calls of this batch have the id 'twin'; this one, the later, was not run."
    )
    assert "on its own" in error_in(second).suggested_action
    assert plan_run.answered == []


def test_the_journals_outcome_of_a_repeated_id_is_the_first_calls() -> None:
    twin = RequestedCall(id="twin", name="look", idempotency_key="k")
    known = ok(0, "found").model_copy(update={"call_id": "twin"})
    first, second = PlanRun(a_plan(twin, twin, settled={0: known, 1: known})).end_all()
    assert first == known
    assert (second.index, second.status) == (1, "error")


def test_a_settled_call_does_not_run_and_keeps_its_result() -> None:
    known = ok(0, {"a": 1})
    plan_run = PlanRun(a_plan(a_call(refused="whatever"), a_call(), settled={0: known}))
    assert plan_run.begun_calls == [(1,)]
    assert plan_run.end_all()[0] == known
    assert plan_run.answered == [], "it is in the journal already"


def test_answers_come_in_the_order_of_the_calls() -> None:
    calls = [a_call("zzz"), a_call(), a_call(refused="no"), a_call("fetch", arguments={"a": "${calls[0]}"})]
    step = start(a_plan(*calls, contracts={"look": READ, "fetch": READ}))
    assert [result.index for result in step.answered] == [0, 2, 3]
    assert [unit.calls for unit in step.begin] == [(1,)]
    assert [(result.call_id, result.tool) for result in step.answered] == [
        ("c0", "zzz"),
        ("c2", "look"),
        ("c3", "fetch"),
    ]


def test_chained_failures_are_answered_in_order() -> None:
    named = [None, 0, 1, 0]
    calls = [a_call(arguments={"a": f"${{calls[{place}]}}"} if place is not None else {}) for place in named]
    step = start(a_plan(*calls, refused={0: a_failure()}))
    assert [result.index for result in step.answered] == [0, 1, 2, 3]


def test_names_and_reasons_of_any_length_make_short_answers() -> None:
    long = "x" * 200
    calls = [a_call(long), a_call("look", arguments={"a": "${calls[0]}"})]
    failure = a_failure("y" * 2_000)
    plan_run = PlanRun(a_plan(*calls, contracts={"look": READ}, refused={0: failure}))
    assert all(len(error_in(result).message) <= 2_000 for result in plan_run.answered)
    assert len(error_in(plan_run.answered[1]).message) < 600
