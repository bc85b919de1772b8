"""Annotations of GitHub Actions."""

from antiphon.recording.reports.github import annotations
from tests.antiphon.recording.reports.outcomes import DIVERGED, SAME, UNREADABLE, diverged


def test_only_what_is_not_the_same_is_an_error_on_its_file() -> None:
    assert annotations([SAME]) == []
    assert annotations([UNREADABLE]) == [
        "::error file=c.jsonl,title=unreadable recording::line 3: not JSON.",
    ]


def test_names_and_messages_are_escaped_as_the_runner_asks() -> None:
    error, notice = annotations([DIVERGED])
    assert error.startswith("::error file=b%2C1%3A2.jsonl,title=replay diverged::diverged at event 4 ")
    assert '%0A  - "Hurry."%0A' in error
    assert notice == "::notice file=b%2C1%3A2.jsonl,title=not checked::briefing: no check (3)"


def test_recorded_text_cannot_give_the_runner_a_command() -> None:
    told = annotations([diverged("a\n::set-env name=PATH::x%0A\r::warning::y", "b")])
    assert all("\n" not in line and "\r" not in line for line in told)
    assert "x%250A" in told[0]
