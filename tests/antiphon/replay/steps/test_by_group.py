"""The verification of a file by groups of components: the same report as in the order of the recording."""

from dataclasses import replace
from pathlib import Path

import pytest
from antiphon_shared.events import ReasoningRequested

from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import Line
from antiphon.replay import verify as verifying
from antiphon.replay.verify import verify, verify_lines
from tests.antiphon.recording.recorded import events

RECORDINGS = Path(__file__).parents[3] / "recordings"


@pytest.mark.parametrize(
    "name",
    [
        "a_call_that_is_cut_off.jsonl",
        "a_component_that_fails_at_step_1.jsonl.gz",
        "a_long_result_is_shown_in_part_and_read_on.jsonl",
        "a_run_that_asks_a_model.jsonl.gz",
        "an_assembler_that_cannot_answer.jsonl",
    ],
)
def test_a_file_has_the_report_of_its_lines_in_order(name: str) -> None:
    by_group, in_order = verify(RECORDINGS / name), verify_lines(read_lines(RECORDINGS / name))
    assert by_group == in_order
    assert list(by_group.steps) == list(in_order.steps)


def test_a_verified_recording_is_not_verified_again_in_order(
    courses_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "verify_lines", None)
    assert verify(courses_path).is_same


def test_an_answer_of_the_coordinator_is_composed_again() -> None:
    report = verify(RECORDINGS / "an_assembler_that_cannot_answer.jsonl")
    assert (report.is_same, report.answer) == (True, "same")


def test_verifying_by_group_reports_a_difference_as_verifying_in_order_does(
    courses_lines: list[Line], tmp_path: Path
) -> None:
    asked = next(line for line in events(courses_lines) if isinstance(line.event.data, ReasoningRequested))
    other = asked.event.model_copy(update={"data": asked.event.data.model_copy(update={"notice": "Hurry."})})
    lines = [replace(line, event=other) if line is asked else line for line in courses_lines]
    write_lines(tmp_path / "other.jsonl", lines)
    report = verify(tmp_path / "other.jsonl")
    assert report == verify_lines(lines)
    assert report.result == "diverged"


def test_a_batch_ends_anywhere(courses_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = verify(courses_path)
    monkeypatch.setattr("antiphon.recording.files._BATCH_BYTES", 1_000)
    assert verify(courses_path) == whole
