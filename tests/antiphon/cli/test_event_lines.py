"""Events as lines for people."""

from typing import Any

import pytest
from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages
from antiphon_shared.events import (
    ApprovalDecided,
    ApprovalRequested,
    BriefingReady,
    CallToApprove,
    CancellationRequested,
    ChildEnded,
    FallbackTaken,
    OutagesSeen,
    ReasoningFailed,
    ReasoningRequested,
    ResponseReady,
    ToolsCompleted,
)
from antiphon_shared.events.session import Response
from antiphon_shared.memory.briefing import Briefing
from antiphon_shared.output.validation import Validation
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import ToolCall, ToolError, ToolResult

from antiphon.cli.event_lines import call_text, detail, how_to_decide, progress, result_text
from tests.envelopes import START, an_event
from tests.rows import each_row
from tests.shared.events.examples import RESPONSE_OF_A_RUN


def a_result(data: Any = None, error: ToolError | None = None) -> ToolResult:
    return ToolResult(
        index=0, call_id="c", tool="search", status="error" if error else "ok", data=data, error=error
    )


@each_row(
    ("data", "line"),
    [
        ([1, 2, 3], "ok, 3 results"),
        ([{"a": 1}], "ok, 1 result"),
        ({"hits": [1, 2], "total": 2}, "ok, 2 results"),
        ({"name": "x"}, "ok, 1 result"),
        ("some text", "ok, 1 result"),
        (0, "ok, 1 result"),
        ([], "ok, nothing found"),
        ("", "ok, nothing found"),
        (None, "ok, nothing found"),
    ],
)
def test_a_result_is_counted_by_its_records(data: Any, line: str) -> None:
    assert result_text(a_result(data)) == line


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (Validation(of="d", has_passed=True), "valid"),
        (Validation(of="d", has_passed=False, errors=("no day", "no\nmonth")), "not valid: no day; no month"),
        (Validation(of="d", has_passed=False), "not valid: no reason given"),
    ],
)
def test_a_validation_shows_whether_it_passed(run: Validation, line: str) -> None:
    assert result_text(a_result({"valid": run.has_passed}).model_copy(update={"validation": run})) == line


def test_an_error_is_shown_with_its_kind_and_message_without_control_characters() -> None:
    error = ToolError(error_type="not_found", message="no \x1b[31msuch\ncourse", suggested_action="ask")
    assert result_text(a_result(error=error)) == "not_found: no such course"


def test_a_call_shows_its_arguments_cut_to_fit_a_line() -> None:
    call = ToolCall(id="c", name="search", arguments={"query": "x" * 100, "limit": 3, "deep": {"a": [1]}})
    text = call_text(call)
    assert text.startswith('search(query="xxx')
    assert text.endswith('…, limit=3, deep={"a":[1]})')


def test_a_call_shows_an_integer_beyond_64_bits() -> None:
    assert call_text(ToolCall(id="c", name="find", arguments={"n": 10**30})) == f"find(n=1{'0' * 30})"


def test_the_last_round_shows_its_reason() -> None:
    request = ReasoningRequested(
        round=4, briefing="1-1", last_round_because="No rounds are left.", tokens_left=10, deadline=START
    )
    assert progress(request) == ["round 4 (the last: No rounds are left.)"]
    assert detail(request) == "round 4, 0 tools offered; the last: No rounds are left."


def test_results_of_several_calls_are_labelled_with_their_tool() -> None:
    event = an_event(ToolsCompleted(round=1, results=(a_result([1]), a_result([]))))
    assert progress(event.data) == ["  -> search: ok, 1 result", "  -> search: ok, nothing found"]


def test_an_event_without_a_specific_line_is_shown_as_progress() -> None:
    failed = ReasoningFailed(round=1, error=ErrorInfo(code="overloaded", message="busy"), model="m")
    assert detail(failed) == "the model failed: busy"


def test_a_briefing_is_shown_with_its_size_and_its_number_of_facts() -> None:
    briefing = Briefing.of("x" * 400, shown=[f"F{n}" for n in (1, 3, 4, 5, 6)]).outline
    ready = BriefingReady(round=2, briefing=briefing)
    assert detail(ready) == f"round 2, about {briefing.tokens} tokens, 5 facts"


def test_a_call_that_waits_for_approval_is_shown_with_its_arguments_and_the_rule() -> None:
    """Long enough that a person sees all that they agree to, without an ellipsis."""
    call = CallToApprove(
        id="t1", tool="book", arguments={"text": "x" * 900, "n": 1}, because="it is \x1b[2Ja write"
    )
    (line,) = progress(ApprovalRequested(round=1, calls=(call,)))
    assert line == f'  waits for approval: book(text="{"x" * 900}", n=1) [t1]: it is a write'


def test_the_instructions_for_a_decision_name_the_commands() -> None:
    assert how_to_decide("s1", "ANTIPHON_REDIS_URL=redis://x antiphon") == [
        "    to approve: ANTIPHON_REDIS_URL=redis://x antiphon sessions approve s1",
        "    to deny:    ANTIPHON_REDIS_URL=redis://x antiphon sessions deny s1",
    ]


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        (ApprovalDecided(round=1, is_approved=True), "  approved: all waiting calls"),
        (ApprovalDecided(round=1, is_approved=True, calls=("a", "b"), by="Ann"), "  approved by Ann: a, b"),
        (ApprovalDecided(round=1, is_approved=False, calls=("a",), reason="No."), "  denied: a (No.)"),
    ],
)
def test_a_decision_is_shown_with_its_author_and_reason(decision: ApprovalDecided, line: str) -> None:
    assert progress(decision) == [line]
    assert detail(decision) == line.strip()


def test_a_cut_or_substituted_result_is_marked() -> None:
    assert result_text(a_result([1, 2]).model_copy(update={"handle": "r1"})) == "ok, 2 results, shown in part"
    substituted = a_result([1]).model_copy(update={"substitute": "outline"})
    assert result_text(substituted) == "ok, 1 result from outline instead"


@pytest.mark.parametrize(
    ("step", "lines"),
    [
        ("other_model", ["  asks m2 instead: m1 may not be asked."]),
        ("tools_failed", ["  reports it to the model: m1 may not be asked."]),
        ("simplified_briefing", []),
    ],
)
def test_a_fallback_step_without_another_line_is_shown(step: Any, lines: list[str]) -> None:
    taken = FallbackTaken(round=1, rung=step, because="m1 may not be asked.", model="m2")
    assert progress(taken) == lines
    assert detail(taken) == f"{step}: m1 may not be asked."


def test_an_open_circuit_is_shown_in_the_log_of_a_session() -> None:
    out = Outages(tools=("search",), models=(ModelOutage(model="m1", until=START),))
    assert detail(OutagesSeen(outages=out)) == "unavailable: search, m1"
    assert detail(OutagesSeen(outages=NO_OUTAGES)) == "unavailable: none"


def test_the_end_of_a_run_names_the_node_that_failed_and_why() -> None:
    ended = ResponseReady.model_validate(RESPONSE_OF_A_RUN.model_dump())
    assert detail(ended) == "needs_review, 2 tool calls, 0.0 s: pay: Silence."


@pytest.mark.parametrize(
    ("response", "line"),
    [
        (RESPONSE_OF_A_RUN, "has ended: needs_review: pay: Silence."),
        (
            RESPONSE_OF_A_RUN.model_copy(update={"run": None}),
            "has ended: failed (workflow_failed)",
        ),
    ],
)
def test_the_end_of_a_child_shows_its_reason(response: Response, line: str) -> None:
    assert progress(ChildEnded(round=1, response=response)) == [f"  {response.session_id} {line}"]


def test_a_cancellation_shows_its_reason() -> None:
    assert progress(CancellationRequested(reason="the user\nleft")) == ["cancelling: the user left"]
    assert progress(CancellationRequested()) == ["cancelling"]
