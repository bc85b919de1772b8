"""A recorded session, walked through by today's code."""

from dataclasses import replace
from pathlib import Path

import pytest
from antiphon_shared.events import DeadlineReached, ReasoningRequested
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.replay.checks.decisions import Decisions
from antiphon.replay.report import STILL_OPEN, Reason
from antiphon.replay.update import DecidesDifferently, updated
from antiphon.replay.verify import verify, verify_lines
from tests.antiphon.recording.recorded import end, events


def test_the_code_that_recorded_a_session_decides_the_same(courses_path: Path) -> None:
    report = verify(courses_path)
    assert report.is_same, report.first
    assert report.answer == "same"
    assert report.steps["coordinator"] == 10


def test_the_first_divergence_is_named_where_it_arises(courses_lines: list[Line]) -> None:
    asked = next(line for line in events(courses_lines) if isinstance(line.event.data, ReasoningRequested))
    other = asked.event.model_copy(update={"data": asked.event.data.model_copy(update={"notice": "Hurry."})})
    lines = [replace(line, event=other) if line is asked else line for line in courses_lines]
    first = verify_lines(lines).first
    assert first is not None
    assert (first.event, first.component) == (asked.n - 1, "coordinator")
    assert (first.output, first.path) == ("antiphon.reasoning.requested.v1", "notice")
    assert (first.expected, first.got) == ("Hurry.", "")


def test_a_recording_that_was_cut_off_is_unreadable(courses_lines: list[Line]) -> None:
    with pytest.raises(UnreadableEvent, match="is incomplete"):
        verify_lines(line for line in courses_lines if line is not end(courses_lines))


def test_a_missing_event_makes_a_recording_unreadable(courses_lines: list[Line]) -> None:
    with pytest.raises(UnreadableEvent, match="is missing"):
        verify_lines(line for line in courses_lines if not (isinstance(line, EventLine) and line.n == 3))


def test_only_the_steps_of_the_components_named_are_done_again(courses_lines: list[Line]) -> None:
    report = verify_lines(courses_lines, ["coordinator"])
    assert (report.is_same, report.answer, report.unchecked) == (True, "unasked", {})
    assert dict(report.steps) == {"coordinator": 10}


def test_verifying_only_the_coordinator_does_not_check_its_own_answer() -> None:
    alone = Path(__file__).parents[3] / "recordings" / "an_assembler_that_cannot_answer.jsonl"
    report = verify(alone, ["coordinator"])
    assert (report.is_same, report.answer, dict(report.steps)) == (True, "unasked", {"coordinator": 8})
    assert verify(alone).answer == "same"


def test_the_components_that_another_depends_on_are_repeated_with_it(courses_lines: list[Line]) -> None:
    report = verify_lines(courses_lines, ["response_assembler"])
    assert (report.is_same, report.answer, report.unchecked) == (True, "same", {})
    assert set(report.steps) == {"context_synthesizer", "response_assembler"}


@pytest.mark.parametrize(
    ("place", "component", "type"),
    [
        ("decisions.decide", "coordinator", "antiphon.briefing.ready.v1"),
        ("briefings.write_briefing", "context_synthesizer", "antiphon.briefing.requested.v1"),
        ("exchanges.reasoning_event", "reasoning_engine", "antiphon.reasoning.requested.v1"),
        ("batches.advance", "tool_dispatcher", "antiphon.tools.requested.v1"),
        ("assemblies.response_from", "response_assembler", "antiphon.assembly.requested.v1"),
    ],
)
def test_code_that_raises_today_diverges_at_that_step_and_hides_no_other(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch, place: str, component: str, type: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(f"antiphon.replay.checks.{place}", broken)
    report = verify_lines(courses_lines)
    first = report.first
    assert first is not None
    assert (first.component, first.type, first.output) == (component, type, "outputs")
    assert first.got.startswith("today's code raises KeyError: 'gone' (tests.antiphon.replay.")
    assert {one.component for one in report.divergences} == {component}
    assert report.steps["coordinator"] == 10, "the rest was looked at all the same"
    assert report.answer == ("same" if component in ("reasoning_engine", "tool_dispatcher") else "unknown")
    with pytest.raises(DecidesDifferently, match=r"it raises KeyError.*Repair it"):
        list(updated(courses_lines))


def test_a_once_ignored_event_that_todays_code_handles_is_a_divergence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = Path(__file__).parents[3] / "recordings" / "the_deadline_comes_while_the_model_thinks.jsonl"
    assert verify(late).is_same
    monkeypatch.setattr(Decisions, "is_ignored", lambda *_: False)
    first = verify(late).first
    assert first is not None
    logged = [line for line in read_lines(late) if isinstance(line, EventLine)]
    deadline = next(line.n for line in logged if isinstance(line.event.data, DeadlineReached))
    replies = [line.n for line in logged if line.n > deadline and line.event.source != "coordinator"]
    assert (first.event, first.component) == (replies[0], "coordinator")
    assert first.got == "a decision that was not recorded"


def test_an_undecided_event_of_an_unfinished_session_is_not_a_divergence(
    courses_lines: list[Line],
) -> None:
    # The last record is the decision on the answer, which closes the session.
    closing = next(line for line in reversed(courses_lines) if isinstance(line, RecordLine))
    report = verify_lines(line for line in courses_lines if line is not closing)
    assert report.result == "unchecked"
    assert report.unchecked == {Reason("coordinator", STILL_OPEN): 1}
