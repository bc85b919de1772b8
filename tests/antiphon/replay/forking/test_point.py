"""The state of a recorded session at an event."""

import pytest
from antiphon_shared.events import BriefingRequested, ReasoningRequested, SessionOpened
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.replay.forking.event_at import NoSuchPoint, event_at
from antiphon.replay.forking.point import point_at


def test_a_fork_point_has_the_last_request_pending(courses_lines: list[Line]) -> None:
    point = point_at(courses_lines, "reasoning.requested@2")
    assert point.session is not None
    assert point.session.phase == "reasoning"
    assert point.session.round == 2
    assert [type(line.event.data) for line in point.pending] == [ReasoningRequested]
    assert set(point.timers) == {"deadline"}
    assert point.timers["deadline"].due == point.session.deadline
    assert len(point.briefings.items) == 1


def test_a_fork_takes_over_whole_steps(courses_lines: list[Line]) -> None:
    """The session is opened and its first briefing asked for in one step."""
    opened = next(
        line
        for line in courses_lines
        if isinstance(line, EventLine) and isinstance(line.event.data, SessionOpened)
    )
    point = point_at(courses_lines, str(opened.n))
    assert point.event is not None
    assert isinstance(point.event.event.data, BriefingRequested)


def test_events_are_named_by_number_or_by_type_and_round(courses_lines: list[Line]) -> None:
    second = event_at(courses_lines, "reasoning.requested@2")
    assert isinstance(second.event.data, ReasoningRequested)
    assert second.event.data.round == 2
    assert event_at(courses_lines, str(second.n)) is second
    assert event_at(courses_lines, "antiphon.reasoning.requested.v1@2") is second


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("1", "was not open yet"),
        ("20", "already been answered"),
        ("99", "has no event 99"),
        ("no.such", "has no event no.such"),
        ("reasoning.requested@9", "has no event"),
        ("²", "has no event"),
    ],
)
def test_a_point_where_nothing_is_left_to_do_is_refused_with_those_that_are_fit(
    courses_lines: list[Line], place: str, why: str
) -> None:
    with pytest.raises(NoSuchPoint, match=why) as refused:
        point_at(courses_lines, place)
    assert "11 (reasoning.requested)" in refused.value.hint


def test_a_record_of_missing_events_makes_a_recording_unreadable(courses_lines: list[Line]) -> None:
    """The number of events that it claims may be huge."""
    record = next(line for line in courses_lines if isinstance(line, RecordLine))
    endless = record.model_copy(update={"record": record.record.model_copy(update={"outputs": 10**12})})
    lines = [endless if line is record else line for line in courses_lines]
    with pytest.raises(UnreadableEvent, match="missing"):
        point_at(lines, "11")


@pytest.mark.parametrize("changed", [{"phase": "dancing"}, {"limits": 7}])
def test_an_impossible_document_makes_a_recording_unreadable(
    courses_lines: list[Line], changed: dict[str, object]
) -> None:
    record = next(line for line in courses_lines if isinstance(line, RecordLine))
    other = record.model_copy(update={"record": record.record.model_copy(update={"changed": changed})})
    with pytest.raises(UnreadableEvent, match="cannot be read"):
        point_at([other if line is record else line for line in courses_lines], "11")
