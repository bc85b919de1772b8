"""Steps that a recording cannot show are reported as unchecked, never as the same."""

import pytest
from antiphon_shared.events import BriefingReady, FallbackTaken
from antiphon_shared.events.step_records import BriefingRecord, DecisionRecord, ExchangeRecord, LeftOut

from antiphon.recording.lines import Line, RecordLine
from antiphon.replay.checks import decisions
from antiphon.replay.report import Reason
from antiphon.replay.verify import verify_lines
from coordinator.decide import decide


def without(lines: list[Line], *kinds: type) -> list[Line]:
    return [line for line in lines if not (isinstance(line, RecordLine) and isinstance(line.record, kinds))]


def test_a_session_that_was_not_recorded_has_only_unchecked_steps(courses_lines: list[Line]) -> None:
    report = verify_lines([line for line in courses_lines if not isinstance(line, RecordLine)])
    assert (report.result, report.answer, report.steps) == ("unchecked", "unknown", {})
    assert report.unchecked == {
        Reason("coordinator", "no record was made of it"): 9,
        Reason("coordinator", "an earlier decision is not known: no record was made of it"): 1,
        Reason("context_synthesizer", "no record was made of it"): 3,
        Reason("reasoning_engine", "no record was made of it"): 3,
        Reason("tool_dispatcher", "no record was made of it"): 2,
        Reason("response_assembler", "no record was made of it"): 1,
    }
    assert report.unchecked_steps["coordinator"] == 10


def test_one_missing_record_leaves_the_other_components_checked(courses_lines: list[Line]) -> None:
    report = verify_lines(without(courses_lines, ExchangeRecord))
    assert report.result == "unchecked"
    assert report.answer == "same"
    assert report.unchecked == {Reason("reasoning_engine", "no record was made of it"): 3}


def test_steps_that_depend_on_a_missing_filing_are_unchecked(courses_lines: list[Line]) -> None:
    """Exchanges are, on the briefings that were sent."""
    report = verify_lines(without(courses_lines, BriefingRecord))
    assert report.result == "unchecked"
    assert report.answer == "unknown"
    assert set(report.steps) == {"coordinator", "reasoning_engine", "tool_dispatcher"}
    assert sum(report.unchecked.values()) == 4


def test_a_missing_oversized_record_is_reported(courses_lines: list[Line]) -> None:
    lines = [with_decision_on_round_2_left_out(line) for line in courses_lines]
    report = verify_lines(lines)
    assert report.result == "unchecked"
    assert Reason("coordinator", "the record was too large to be kept") in report.unchecked
    assert report.steps["coordinator"] < 9
    assert report.answer == "same"


def with_decision_on_round_2_left_out(line: Line) -> Line:
    record = line.record if isinstance(line, RecordLine) else None
    if not isinstance(record, DecisionRecord) or record.changed.get("round") != 2:
        return line
    return RecordLine(
        record=LeftOut(of=record.of, outputs=record.outputs, component="coordinator", bytes=10**6)
    )


def test_a_catalogue_that_is_missing_leaves_the_rest_checked(courses_lines: list[Line]) -> None:
    report = verify_lines(line for line in courses_lines if getattr(line, "line", "") != "catalogue")
    assert report.result == "unchecked"
    assert report.answer == "same"
    assert set(report.unchecked_steps) >= {"coordinator", "tool_dispatcher"}


def test_the_answer_is_unknown_after_a_different_path(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_extra_event(session, event, *rest, **more):  # type: ignore[no-untyped-def]  # as decide
        decision = decide(session, event, *rest, **more)
        step = FallbackTaken(round=1, rung="simplified_briefing", because="It may help.")
        return decision.with_events(step) if isinstance(event.data, BriefingReady) else decision

    monkeypatch.setattr(decisions, "decide", with_extra_event)
    report = verify_lines(courses_lines)
    assert report.divergences_in_all == 3
    assert report.answer == "unknown"


def test_an_event_is_not_taken_for_ignored_when_the_session_is_unknown(courses_lines: list[Line]) -> None:
    """The answer's decision has no events of its own: that its record is missing shows nowhere else."""
    opening = next(line for line in courses_lines if isinstance(line, RecordLine))
    lost = LeftOut(of=opening.record.of, outputs=opening.record.outputs, component="coordinator", bytes=10**6)
    lines = [RecordLine(record=lost) if line is opening else line for line in courses_lines[:-2]]
    report = verify_lines([*lines, courses_lines[-1]])
    assert report.unchecked_steps == {"coordinator": 10}


def test_a_recording_without_a_step_is_not_the_same(courses_lines: list[Line]) -> None:
    report = verify_lines([courses_lines[0], courses_lines[-1]])
    assert (report.result, report.unchecked) == ("unchecked", {Reason("coordinator", "it holds no step"): 1})
    assert report.passes("nothing was recorded")
    assert not report.passes(" ")
