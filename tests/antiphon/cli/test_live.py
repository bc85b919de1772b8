"""An answer on the terminal."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    CallToApprove,
    FallbackTaken,
    ReasoningCompleted,
    ReasoningFailed,
    SessionOpened,
)
from antiphon_shared.events.session import Limits, QueryOptions, Response, Source, Status, Uncertainty
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.values import Usage

from antiphon.cli.live import show_answer, show_progress
from tests.envelopes import an_event


def a_response(**fields: Any) -> Response:
    default = {"status": "complete", "termination_reason": "natural_completion"}
    return Response(**{**default, **fields}, session_id="s1", rounds_used=1, tool_calls_used=0, duration_ms=1)


@pytest.mark.parametrize(
    ("status", "code"), [("complete", 0), ("partial", 0), ("cancelled", 0), ("failed", 1)]
)
def test_the_exit_code_shows_whether_the_answer_failed(
    status: Status, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    response = a_response(
        answer="So it is.",
        status=status,
        termination_reason="internal_error" if status == "failed" else "natural_completion",
    )
    assert show_answer(response, is_json=False) == code
    assert capsys.readouterr().out == "So it is.\n"


def test_sources_are_shown_once_and_uncertainties_by_severity(capsys: pytest.CaptureFixture[str]) -> None:
    source = Source(id="F1", number=1, tool="search", call_id="c", title="A title", excerpt="x")
    response = a_response(
        answer="So it is [1].\n\n**Sources**\n\n1. A title",
        sources=(source,),
        uncertainty=(
            Uncertainty(kind="summarized", message="A note.", severity="note"),
            Uncertainty(
                kind="unknown_citation", message="It\x1b[2J cites F9.", about="F9", severity="serious"
            ),
        ),
    )
    show_answer(response, is_json=False)
    shown = capsys.readouterr()
    assert shown.out.count("A title") == 1
    assert "A title" not in shown.err
    assert "\nUncertainty\n  serious: It cites F9. (F9)\n  note: A note.\n" in shown.err


def test_uncited_sources_of_an_answer_without_citations_are_listed_separately(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = Source(id="F1", tool="search", call_id="c", title="A title", excerpt="x")
    show_answer(a_response(answer="So it is.", sources=(source,)), is_json=False)
    shown = capsys.readouterr()
    assert "Sources that are not cited\n  A title (search)\n" in shown.err
    assert shown.out == "So it is.\n"


async def a_stream_that_waits() -> AsyncIterator[AnyEvent]:
    call = CallToApprove(id="t1", tool="book", arguments={}, because="a rule")
    yield an_event(ApprovalRequested(round=1, calls=(call,)))


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("antiphon", ["to approve: antiphon sessions approve s1", "to deny:    antiphon sessions deny s1"]),
        ("", ["cannot be approved: other programs cannot reach this pipeline. Press Ctrl-C to end it."]),
    ],
)
async def test_a_session_that_waits_for_a_person_shows_the_command_that_decides(
    command: str, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    await show_progress(a_stream_that_waits(), command)
    shown = capsys.readouterr()
    assert [line.strip() for line in shown.err.splitlines()] == [
        "waits for approval: book() [t1]: a rule",
        *lines,
    ]
    assert shown.out == ""


@pytest.mark.parametrize(
    ("fields", "why", "code"),
    [
        ({"status": "partial", "termination_reason": "model_unavailable"}, "It is down at http://m.", 1),
        ({"status": "partial", "termination_reason": "deadline_exceeded"}, "It is down at http://m.", 1),
        ({"status": "partial", "termination_reason": "deadline_exceeded"}, "", 0),
        ({"status": "cancelled", "termination_reason": "cancelled"}, "It is down at http://m.", 0),
    ],
)
def test_an_answer_without_any_available_model_exits_1(
    fields: dict[str, Any], why: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    response = a_response(answer="Nothing.", **fields).model_copy(update={"rounds_used": 0})
    assert show_answer(response, is_json=False, why_no_model=why) == code
    message = "antiphon: no model was available. It is down at http://m.\n"
    assert capsys.readouterr().err.endswith(message) is (code == 1)


async def test_why_the_model_could_not_be_asked_is_kept_until_it_replies(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = ErrorInfo(code="connection_failed", message="No route.")
    failed = an_event(ReasoningFailed(round=1, error=error, model="m"))
    replied = an_event(
        ReasoningCompleted(round=1, text="So.", stop_reason="end_turn", model="m", usage=Usage())
    )

    async def followed(*events: AnyEvent) -> AsyncIterator[AnyEvent]:
        for event in events:
            yield event

    left_alone = ErrorInfo(code="circuit_open", message="It is left alone.")
    open_circuit = an_event(ReasoningFailed(round=1, error=left_alone, model="m"))
    given_up = an_event(FallbackTaken(round=1, rung="facts_without_model", because="No model is left."))
    assert await show_progress(followed(failed)) == "No route."
    assert await show_progress(followed(failed, open_circuit, given_up)) == "No route."
    assert await show_progress(followed(open_circuit)) == "It is left alone."
    assert await show_progress(followed(given_up)) == "No model is left."
    assert await show_progress(followed(failed, replied)) == ""


async def test_a_wait_for_the_model_is_announced_once_with_reason_and_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = ErrorInfo(code="connection_failed", message="The model cannot be reached at http://m.")
    limits = Limits(max_rounds=1, max_tool_calls=0, max_tokens=100, deadline_s=300)
    opened = SessionOpened(
        limits=limits,
        options=QueryOptions(),
        catalogue="",
        tools=(),
        model="m",
        deadline=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    waits = FallbackTaken(round=1, rung="waiting_for_model", because="No model may be asked before 3:00.")

    async def followed() -> AsyncIterator[AnyEvent]:
        for data in (opened, ReasoningFailed(round=1, error=error, model="m"), waits, waits):
            yield an_event(data)

    await show_progress(followed())
    shown = " ".join(capsys.readouterr().err.split())
    notice = "retries continue until the deadline, 03:04:05 UTC; Ctrl-C stops them. The cause: The model"
    assert shown.count(notice) == 1
