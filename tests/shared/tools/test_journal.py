"""The journal of a batch, as the assembler reads it."""

from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import ToolCall, ToolError, ToolResult
from antiphon_shared.tools.journal import begun_entry, outcome_entry, outcomes, read_outcome, write_outcome

ERROR = ToolError(error_type="timeout", message="m", suggested_action="s")
FIRST = ToolResult(index=0, call_id="a", tool="t", status="ok", data={"x": [1, None, "é"]}, duration_ms=3)
SECOND = ToolResult(index=1, call_id="b", tool="t", status="error", error=ERROR)
SETTLED = {
    outcome_entry("s/1/b"): write_outcome(SECOND, FORMAT),
    begun_entry("s/1/c"): b"\x00\xff",
    outcome_entry("s/1/d"): b"not an outcome",
    outcome_entry("s/1/a"): write_outcome(FIRST, FORMAT),
}


def test_an_outcome_survives_the_journal() -> None:
    assert read_outcome(write_outcome(FIRST, FORMAT)) == FIRST
    assert read_outcome(write_outcome(SECOND, FORMAT)) == SECOND
    assert read_outcome(None) is None


def test_outcomes_come_in_the_order_of_the_batch() -> None:
    assert outcomes(SETTLED) == (FIRST, SECOND)
    assert outcomes({}) == ()


def test_outcomes_may_be_those_of_certain_calls() -> None:
    assert outcomes(SETTLED, (ToolCall(id="b", name="t"),)) == (SECOND,)
    assert outcomes(SETTLED, ()) == (FIRST, SECOND)
