"""Many recordings, in one process or in several."""

from pathlib import Path

from antiphon.recording.lines import Line
from antiphon.recording.verify_all import verify_all
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


def test_several_processes_find_the_same_as_one(courses_lines: list[Line], tmp_path: Path) -> None:
    paths = _folder(courses_lines, tmp_path)
    alone, shared = list(verify_all(paths)), list(verify_all(paths, jobs=2))
    assert [(one.path, one.report, one.error) for one in shared] == [
        (one.path, one.report, one.error) for one in alone
    ]
