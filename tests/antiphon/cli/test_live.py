"""An answer on the terminal."""

import pytest

from antiphon.cli.live import show_answer
from shared.session import Response, Status


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
