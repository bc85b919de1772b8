"""Briefings for the tests of shaped answers: facts as tools returned them, and the values in them."""

from typing import Any

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.tools.calls import ToolCall, ToolResult

from context_synthesizer.session_index import SessionIndex
from reasoning_engine.offline.briefing_text import Notes, read_briefing
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.values import Values, values_of

STEP = "\n# Step 2 of 3: planning\n{instructions}\n\nThe output of step finding:\n{input}\n"


def a_briefing(question: str, *results: tuple[str, dict[str, Any], Any]) -> str:
    """Return a briefing after one round with these results: tool, arguments, data."""
    index = SessionIndex(question, 20_000)
    calls = tuple(
        ToolCall(id=f"c{n}", name=tool, arguments=given) for n, (tool, given, _) in enumerate(results)
    )
    outcomes = tuple(
        ToolResult(index=n, call_id=f"c{n}", tool=tool, status="ok", data=data)
        for n, (tool, _, data) in enumerate(results)
    )
    if calls:
        completed = ReasoningCompleted(
            round=1, text="I look.", tool_calls=calls, stop_reason="tool_use", model="offline"
        )
        index.file(completed, ToolsCompleted(round=1, results=outcomes))
    return index.briefing(2, 6).text


def notes_of(question: str, *results: tuple[str, dict[str, Any], Any]) -> Notes:
    return read_briefing(a_briefing(question, *results))


def values_in(question: str, *results: tuple[str, dict[str, Any], Any]) -> Values:
    return values_of(read_question(question, frozenset()), notes_of(question, *results))
