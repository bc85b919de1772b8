"""Values that two runs never share, such as ids, are replaced by their meaning."""

from antiphon_shared.events import ComponentFailed, ToolsCompleted, ToolsRequested
from antiphon_shared.process.errors import ErrorInfo

from antiphon.recording.lines import EventLine, Line
from antiphon.replay.normal import moments
from tests.antiphon.recording.recorded import events


def test_a_reference_to_an_event_is_replaced_by_its_number(courses_lines: list[Line]) -> None:
    asked = events(courses_lines)[6].event
    failed = ComponentFailed(
        component="tool_dispatcher",
        failed_event=asked.id,
        error=ErrorInfo(code="poisoned", message=f"Event {asked.id} of {asked.subject} was set aside."),
    )
    line = EventLine(21, "1-0", asked.model_copy(update={"data": failed}))
    *_, event = moments([*courses_lines, line])
    assert event.data["failed_event"] == "event-7"
    assert event.data["error"]["message"] == "Event event-7 of session was set aside."


def test_calls_are_named_by_round_and_index_without_keys(courses_lines: list[Line]) -> None:
    found = {moment.what: moment for moment in moments(courses_lines) if moment.round == 2}
    (call,) = found[ToolsRequested.type].data["calls"]
    assert call["id"] == "call-2.1"
    assert "idempotency_key" not in call
    (result,) = found[ToolsCompleted.type].data["results"]
    assert result["call_id"] == "call-2.1"
    assert "duration_ms" not in result


def test_deadlines_are_counted_from_the_submission(courses_lines: list[Line]) -> None:
    opened = list(moments(courses_lines))[1]
    assert opened.data["deadline"] == "+300.000 s"
