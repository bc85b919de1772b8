"""`antiphon replay update` shows what differs, and rewrites only what somebody has agreed to."""

import asyncio
from pathlib import Path

import pytest

from antiphon.recording.lines import Line
from coordinator import limits
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.changed import with_words, written
from tests.antiphon.recording.recorded import recorded


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    return asyncio.run(recorded())


@pytest.fixture
def old(lines: list[Line], folder: Path) -> Path:
    """A recording by code that had another notice."""
    return written(with_words(lines, '"notice":""', '"notice":"Hurry."'), folder / "old.jsonl")


def test_what_is_as_today_s_code_would_write_it_stays(
    run: InProcess, lines: list[Line], folder: Path
) -> None:
    written(lines, folder / "new.jsonl")
    done = run("replay", "update", "new.jsonl")
    assert done.exit_code == 0
    assert done.stdout == "new.jsonl: is as it would be written today\n"


@pytest.mark.parametrize("arguments", [("--dry-run",), ("--dry-run", "--yes"), ()])
def test_without_anybody_s_yes_it_only_shows(run: InProcess, old: Path, arguments: tuple[str, ...]) -> None:
    before = old.read_bytes()
    done = run("replay", "update", "old.jsonl", *arguments)
    assert done.exit_code == 1
    assert '- "Hurry."' in done.stdout
    assert "nothing was" in done.stderr
    assert old.read_bytes() == before
    assert list(old.parent.glob("*.jsonl")) == [old]
    assert not list(old.parent.glob(".*"))


def test_with_yes_it_rewrites_and_verify_is_content(run: InProcess, old: Path) -> None:
    done = run("replay", "update", "old.jsonl", "--yes")
    assert done.exit_code == 0
    assert "1 recording rewritten" in done.stderr
    assert run("replay", "verify", "old.jsonl").exit_code == 0


def test_where_today_s_code_takes_another_way_the_recording_stays(
    run: InProcess, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "last_round_reason", lambda *_: "max_rounds_reached")
    before = old.read_bytes()
    done = run("replay", "update", "old.jsonl", "--yes")
    assert done.exit_code == 1
    assert "stays as it is: Today's code takes another way at event 6" in done.stdout
    assert "antiphon replay fork" in done.stdout
    assert old.read_bytes() == before


def test_one_that_cannot_be_read_exits_with_3_and_the_others_are_rewritten(
    run: InProcess, lines: list[Line], old: Path, folder: Path
) -> None:
    written(lines[:-1], folder / "cut.jsonl")
    done = run("replay", "update", "cut.jsonl", "old.jsonl", "--yes")
    assert done.exit_code == 3
    assert "cut.jsonl: unreadable" in done.stdout
    assert run("replay", "verify", "old.jsonl").exit_code == 0


def test_a_path_that_is_not_there_exits_with_2(run: InProcess) -> None:
    assert run("replay", "update", "nowhere").exit_code == 2
