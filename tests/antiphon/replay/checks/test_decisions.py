"""The recorded changes of a decision, compared with today's."""

from typing import Any

import pytest
from antiphon_shared.events.step_records import DecisionRecord, TimerRecord

from antiphon.recording.lines import Line, RecordLine
from tests.antiphon.replay.checks.verdicts import differs_first


@pytest.mark.parametrize(
    ("left_then", "output"),
    [
        ({"closes": True}, "effects"),
        ({"stops_work": True}, "effects"),
        ({"timers": (TimerRecord(name="model"),)}, "timers"),
        ({"changed": {"phase": "resting"}}, "state"),
    ],
)
def test_a_difference_in_a_decision_without_timers_is_named(
    courses_lines: list[Line], left_then: dict[str, Any], output: str
) -> None:
    lines = list(courses_lines)
    place, plain = next(
        (n, line.record)
        for n, line in enumerate(lines)
        if isinstance(line, RecordLine) and isinstance(line.record, DecisionRecord) and not line.record.timers
    )
    lines[place] = RecordLine(record=plain.model_copy(update=left_then))
    differs_first(lines, "coordinator", output)
