"""The plan of a batch: what runs, and what is answered instead."""

from typing import Any

import pytest

from shared.journal import begun_entry, outcome_entry, write_outcome
from shared.tools import RequestedCall, ToolResult
from tests.tool_dispatcher.builders import Ledger, a_call, a_request, error_in
from tool_dispatcher.batch import Answered, Settled, Step, ToRun, plan

_ledger = Ledger()
TOOLS = {
    "look": _ledger.tool("look"),
    "lookup": _ledger.tool("lookup"),
    "book": _ledger.tool("book", "write"),
}


def _only(call: RequestedCall, journal: dict[str, bytes] | None = None, **request: Any) -> Step:
    (step,) = plan(a_request(call, **request), TOOLS, journal or {})
    return step


def test_a_call_of_an_offered_tool_runs() -> None:
    call = a_call()
    assert _only(call) == ToRun(0, call, TOOLS["look"])


REFUSALS: list[tuple[RequestedCall, tuple[str, ...], str, str, str]] = [
    (
        a_call(refused="the limit is reached"),
        ("look",),
        "cancelled",
        "limit is reached",
        "Call no further tools",
    ),
    (a_call(problem="It was cut off."), ("look",), "validation_error", "cut off", "complete JSON object"),
    (
        a_call(name="lokup"),
        ("look", "lookup", "book"),
        "unknown_tool",
        "'lokup'",
        "Use one of: lookup, look.",
    ),
    (a_call(name="lokup"), ("book",), "unknown_tool", "'lokup'", "Use one of: book."),
    (a_call(name="zzz"), ("look", "book"), "unknown_tool", "'zzz'", "Use one of: book, look."),
    (a_call(name="zzz"), (), "unknown_tool", "'zzz'", "without tools"),
    (a_call(name=""), ("gone",), "unknown_tool", "''", "without tools"),
    (a_call(name="book"), ("look",), "permission_denied", "not offered", "Use one of: look."),
    (a_call(name="book"), (), "permission_denied", "not offered", "without tools"),
]


@pytest.mark.parametrize(("call", "allowed", "error_type", "message", "action"), REFUSALS)
def test_a_call_that_must_not_run_is_answered_with_the_way_out(
    call: RequestedCall, allowed: tuple[str, ...], error_type: str, message: str, action: str
) -> None:
    step = _only(call, allowed=allowed)
    assert isinstance(step, Answered)
    error = error_in(step.result)
    assert error.error_type == error_type
    assert message in error.message
    assert action in error.suggested_action


def test_what_the_journal_holds_is_settled() -> None:
    call = a_call(refused="whatever")
    known = ToolResult(index=0, call_id="c1", tool="look", status="ok", data={"a": 1})
    assert _only(call, {outcome_entry(call.idempotency_key): write_outcome(known)}) == Settled(known)


@pytest.mark.parametrize("name", ["book", "gone"])
def test_a_write_that_has_begun_and_not_ended_is_unknown(name: str) -> None:
    """Even when the tool is not there any more."""
    call = a_call(name=name)
    step = _only(call, {begun_entry(call.idempotency_key): b"x"})
    assert isinstance(step, Answered)
    error = error_in(step.result)
    assert error.error_type == "outcome_unknown"
    assert "do not repeat it" in error.suggested_action


def test_an_entry_that_cannot_be_read_counts_as_none() -> None:
    call = a_call()
    assert isinstance(_only(call, {outcome_entry(call.idempotency_key): b"{"}), ToRun)


def test_a_second_call_of_the_same_id_does_not_run() -> None:
    first, second = plan(a_request(a_call(name="book"), a_call(name="book")), TOOLS, {})
    assert isinstance(first, ToRun)
    assert isinstance(second, Settled)
    assert "only the first" in error_in(second.result).message


def test_steps_come_in_the_order_of_the_calls() -> None:
    calls = [a_call("a"), a_call("b", refused="no"), a_call("c", name="zzz"), a_call("d")]
    steps = plan(a_request(*calls), TOOLS, {})
    assert [type(step) for step in steps] == [ToRun, Answered, Answered, ToRun]
    assert [step.result.index for step in steps if isinstance(step, Answered)] == [1, 2]
