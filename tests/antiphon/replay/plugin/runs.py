"""Runs of pytest with the plugin."""

from dataclasses import replace

import pytest
from antiphon_shared.events import ReasoningRequested

from antiphon.recording.lines import EventLine, Line
from tests.antiphon.recording.recorded import COURSES_QUERY, events

PLUGIN = ("-p", "antiphon.replay.pytest_plugin", "-p", "no:langsmith_plugin")
ASKS = f"""
    import pytest

    @pytest.mark.recording("courses.jsonl")
    def test_courses(recording):
        response = recording.ask({COURSES_QUERY!r}, tools=["examples.courses"], model="offline")
        assert response.status == "complete"
        assert recording.query.startswith("Find a course")
        assert recording.tool_results[0].tool == "get_course_outline"
        assert recording.events[0].type == "antiphon.query.submitted.v1"
"""


def hurried(lines: list[Line]) -> list[Line]:
    """Return the same session as if the coordinator had hurried the model."""
    asked = next(line for line in events(lines) if isinstance(line.event.data, ReasoningRequested))
    data = asked.event.data.model_copy(update={"notice": "Hurry."})
    event = asked.event.model_copy(update={"data": data})
    return [
        replace(line, event=event) if line is asked and isinstance(line, EventLine) else line
        for line in lines
    ]


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    ours = (*PLUGIN, "--strict-markers", "-o", "asyncio_default_fixture_loop_scope=function")
    return pytester.runpytest_inprocess(*ours, *arguments)
