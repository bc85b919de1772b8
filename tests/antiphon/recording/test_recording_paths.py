"""The recordings that a path denotes."""

from pathlib import Path

import pytest

from antiphon.recording.recording_paths import NoRecordings, find_recordings


def test_a_folder_yields_its_recordings_sorted_without_hidden_ones(tmp_path: Path) -> None:
    for name in (
        "b.jsonl",
        "a.jsonl.gz",
        "deep/er/c.jsonl",
        ".half.jsonl",
        ".git/d.jsonl",
        "e.json",
        "f.jsonl.bak",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert [str(path.relative_to(tmp_path)) for path in find_recordings([tmp_path])] == [
        "a.jsonl.gz",
        "b.jsonl",
        "deep/er/c.jsonl",
    ]


def test_a_file_is_accepted_under_any_name_and_only_once(tmp_path: Path) -> None:
    odd = tmp_path / "recording.txt"
    odd.write_bytes(b"")
    assert find_recordings([odd, odd]) == [odd]


def test_a_missing_path_and_a_folder_without_recordings_are_errors(tmp_path: Path) -> None:
    with pytest.raises(NoRecordings, match="does not exist"):
        find_recordings([tmp_path / "none"])
    with pytest.raises(NoRecordings, match="contains no recordings"):
        find_recordings([tmp_path])
