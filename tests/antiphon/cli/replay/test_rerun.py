"""`antiphon replay rerun`."""

import asyncio
from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from reasoning_engine import prompt
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.recorded import recorded


@pytest.fixture
def path(folder: Path) -> Path:
    """Return a recorded session."""
    write_lines(folder / "one.jsonl", asyncio.run(recorded()))
    return folder / "one.jsonl"


def test_an_unchanged_response_is_reported_and_exits_with_0(run: InProcess, path: Path) -> None:
    result = run("replay", "rerun", str(path))
    assert (result.exit_code, result.stdout) == (0, f"{path}: the same response\n")
    (as_json,) = run.json("replay", "rerun", str(path))
    assert (as_json["path"], as_json["is_same"], as_json["answer"]) == (str(path), True, "same")


def test_a_request_that_is_not_recorded_is_shown_as_a_diff_and_exits_1(
    run: InProcess, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = prompt.SYSTEM.replace("You answer a question in rounds.", "You answer in haste.")
    monkeypatch.setattr(prompt, "_SYSTEM", [{**prompt._SYSTEM[0], "text": changed}])
    result = run("replay", "rerun", str(path))
    assert result.exit_code == 1
    assert "first difference: event 6, antiphon.reasoning.completed.v1" in result.stdout
    assert "+  You answer in haste." in result.stdout


def test_an_unreadable_file_exits_3_and_a_missing_one_2(run: InProcess, folder: Path) -> None:
    (folder / "none.jsonl").write_text("{}\n")
    for name, code in (("none.jsonl", 3), ("not-there.jsonl", 2)):
        result = run("replay", "rerun", name)
        assert result.exit_code == code
        assert name in result.stderr


def test_an_unknown_kind_of_match_is_a_usage_error(run: InProcess, path: Path) -> None:
    assert run("replay", "rerun", str(path), "--match", "roughly").exit_code == 2
