"""`antiphon replay update` shows the differences, and rewrites only the recordings that a person accepts."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from antiphon_shared.events.step_records import ExchangeRecord

from antiphon.recording.lines import End, Line, RecordLine
from antiphon.replay.steps.findings import Findings
from coordinator import limits
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.changed import with_words, written


@pytest.fixture
def old(courses_lines: list[Line], folder: Path) -> Path:
    """Return a recording by code that had another notice."""
    return written(with_words(courses_lines, '"notice":""', '"notice":"Hurry."'), folder / "old.jsonl")


def test_a_recording_that_is_up_to_date_stays_unchanged(
    run: InProcess, courses_lines: list[Line], folder: Path
) -> None:
    written(courses_lines, folder / "new.jsonl")
    done = run("replay", "update", "new.jsonl")
    assert done.exit_code == 0
    assert done.stdout == "new.jsonl: up to date\n"


@pytest.mark.parametrize("arguments", [("--dry-run",), ("--dry-run", "--yes"), ()])
def test_update_without_consent_only_shows_changes(
    run: InProcess, old: Path, arguments: tuple[str, ...]
) -> None:
    before = old.read_bytes()
    done = run("replay", "update", "old.jsonl", *arguments)
    assert done.exit_code == 1
    assert '- "Hurry."' in done.stdout
    assert "nothing was" in done.stderr
    assert old.read_bytes() == before
    assert list(old.parent.glob("*.jsonl")) == [old]
    assert not list(old.parent.glob(".*"))


def test_every_difference_is_shown_by_event_and_not_the_first_alone(run: InProcess, old: Path) -> None:
    done = run("replay", "update", "old.jsonl", "--dry-run")
    assert "old.jsonl: would be rewritten with 1 difference" in done.stdout
    assert (
        '  events 5, 11, 17: antiphon.reasoning.requested.v1 notice\n    - "Hurry."\n    + ""' in done.stdout
    )
    assert "header" not in done.stdout


def test_a_change_that_verify_does_not_check_is_shown_before_it_is_rewritten(
    run: InProcess, courses_lines: list[Line], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verification that found nothing is no reason to show nothing."""
    written(with_words(courses_lines, '"notice":""', '"notice":"Hurry."'), folder / "old.jsonl")
    monkeypatch.setattr(Findings, "diverged", lambda *_: None)
    assert run("replay", "verify", "old.jsonl").exit_code == 0
    done = run("replay", "update", "old.jsonl", "--dry-run")
    assert done.exit_code == 1
    assert '- "Hurry."' in done.stdout


def test_a_recording_that_cannot_be_compared_is_refused_even_with_yes(
    run: InProcess, courses_lines: list[Line], folder: Path
) -> None:
    lost = [
        one
        for one in courses_lines
        if not (isinstance(one, RecordLine) and isinstance(one.record, ExchangeRecord))
    ]
    path = written([*lost[:-1], End(events=20, records=16)], folder / "lost.jsonl")
    before = path.read_bytes()
    done = run("replay", "update", "lost.jsonl", "--yes")
    assert done.exit_code == 4
    assert "not updated: it cannot be compared" in done.stdout
    assert "reasoning_engine: no record was made of it (3)" in done.stdout
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("answers", "rewritten"),
    [(["y", "n", "n"], "a"), (["?", "n", "a"], "bc"), (["y", "q"], "a"), (["n", "N", "y"], "c")],
)
def test_update_asks_about_each_recording(
    run: InProcess,
    old: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: list[str],
    rewritten: str,
) -> None:
    for name in "abc":
        (folder / f"{name}.jsonl").write_bytes(old.read_bytes())
    asked: list[str] = []
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("antiphon.cli.replay.update.sys", terminal)

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return answers.pop(0)

    monkeypatch.setattr(typer, "prompt", prompt)
    done = run("replay", "update", "a.jsonl", "b.jsonl", "c.jsonl")
    changed = [name for name in "abc" if (folder / f"{name}.jsonl").read_bytes() != old.read_bytes()]
    assert "".join(changed) == rewritten
    assert done.exit_code == 1
    assert not answers, "each answer was asked for"
    assert asked[0] == "Rewrite a.jsonl? [y]es, [n]o, [a]ll, [q]uit"


def test_update_with_yes_rewrites_recordings_that_then_verify(run: InProcess, old: Path) -> None:
    done = run("replay", "update", "old.jsonl", "--yes")
    assert done.exit_code == 0
    assert "1 recording rewritten" in done.stderr
    assert run("replay", "verify", "old.jsonl").exit_code == 0


def test_a_recording_that_todays_code_decides_differently_is_not_updated(
    run: InProcess, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "last_round_reason", lambda *_: "max_rounds_reached")
    before = old.read_bytes()
    done = run("replay", "update", "old.jsonl", "--yes")
    assert done.exit_code == 1
    assert "not updated: The current code decides differently at event 6" in done.stdout
    assert "antiphon replay fork" in done.stdout
    assert old.read_bytes() == before


def test_an_unreadable_recording_exits_3_and_the_others_are_rewritten(
    run: InProcess, courses_lines: list[Line], old: Path, folder: Path
) -> None:
    written(courses_lines[:-1], folder / "cut.jsonl")
    done = run("replay", "update", "cut.jsonl", "old.jsonl", "--yes")
    assert done.exit_code == 3
    assert "cut.jsonl: unreadable" in done.stdout
    assert run("replay", "verify", "old.jsonl").exit_code == 0


def test_a_missing_path_exits_2(run: InProcess) -> None:
    assert run("replay", "update", "nowhere").exit_code == 2
