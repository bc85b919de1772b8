"""Many recordings, in one process or in several."""

from pathlib import Path

import pytest

from antiphon.recording.lines import Line
from antiphon.replay import verify_all as verify_all_file
from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.verify_all import default_jobs, verify_all
from antiphon.replay.workers import WorkerDied
from tests.antiphon.recording.changed import with_words, written


def _folder(lines: list[Line], folder: Path) -> list[Path]:
    (folder / "cut.jsonl.gz").write_bytes(written(lines, folder / "same.jsonl.gz").read_bytes()[:-20])
    return [
        folder / "same.jsonl.gz",
        written(with_words(lines, '"notice":""', '"notice":"Hurry."'), folder / "diverged.jsonl"),
        folder / "cut.jsonl.gz",
        folder / "none.jsonl",
    ]


def test_each_recording_has_an_outcome_in_the_order_they_were_named_in(
    courses_lines: list[Line], tmp_path: Path
) -> None:
    paths = _folder(courses_lines, tmp_path)
    outcomes = list(verify_all(paths))
    assert [outcome.path for outcome in outcomes] == [str(path) for path in paths]
    assert [outcome.result for outcome in outcomes] == ["same", "diverged", "unreadable", "unreadable"]
    assert outcomes[3].error == "No such file or directory."
    assert str(tmp_path) not in outcomes[2].error


def test_several_processes_report_the_same_as_one(courses_lines: list[Line], tmp_path: Path) -> None:
    paths = _folder(courses_lines, tmp_path)
    alone, shared = list(verify_all(paths)), list(verify_all(paths, jobs=2))
    assert [(one.path, one.report, one.error) for one in shared] == [
        (one.path, one.report, one.error) for one in alone
    ]


def test_the_number_of_processes_is_bounded_by_cores_and_by_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_all_file, "_cores", lambda: 4)
    paths = [tmp_path / f"{n}.jsonl" for n in range(10)]
    for path in paths:
        path.write_bytes(b"x")
    assert default_jobs(paths) == 1
    for path in paths:
        path.write_bytes(b"x" * 300_000)
    assert default_jobs(paths) == 4
    assert default_jobs(paths[:5]) == 3


def test_a_recording_whose_worker_dies_cannot_be_read_and_is_named(tmp_path: Path) -> None:
    outcome = verify_all_file._failed_result(Outcome, tmp_path / "one.jsonl", WorkerDied(123, -9))
    assert outcome.result == "unreadable"
    assert outcome.path.endswith("one.jsonl")
    assert "123" in outcome.error
    assert "SIGKILL" in outcome.error
