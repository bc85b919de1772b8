"""An answer on the terminal."""

from collections.abc import AsyncIterator

import pytest

from antiphon.cli.live import show_answer, show_progress
from shared.events import AnyEvent, ApprovalRequested, CallToApprove
from shared.session import Response, Status
from tests.envelopes import an_event


@pytest.mark.parametrize(
    ("status", "code"), [("complete", 0), ("partial", 0), ("cancelled", 0), ("failed", 1)]
)
def test_the_exit_code_tells_whether_the_answer_has_failed(
    status: Status, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    response = Response(
        session_id="s1",
        status=status,
        answer="So it is.",
        termination_reason="internal_error" if status == "failed" else "natural_completion",
        rounds_used=1,
        tool_calls_used=0,
        duration_ms=1,
    )
    assert show_answer(response, is_json=False) == code
    assert capsys.readouterr().out == "So it is.\n"


async def a_stream_that_waits() -> AsyncIterator[AnyEvent]:
    call = CallToApprove(id="t1", tool="book", arguments={}, because="a rule")
    yield an_event(ApprovalRequested(round=1, calls=(call,)))


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("antiphon", ["to approve: antiphon sessions approve s1", "to deny:    antiphon sessions deny s1"]),
        ("", ["nobody can decide: this pipeline is out of reach of other programs. Ctrl-C ends it."]),
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
