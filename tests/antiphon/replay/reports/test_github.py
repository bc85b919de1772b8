"""Annotations of GitHub Actions."""

from dataclasses import replace

from antiphon.replay.reports.github import annotations, counted
from tests.antiphon.replay.reports.outcomes import DIVERGED, SAME, UNCHECKED, UNREADABLE, diverged


def test_only_recordings_that_are_not_the_same_are_errors() -> None:
    assert annotations([SAME]) == []
    assert annotations([UNREADABLE]) == [
        "::error file=c.jsonl,title=unreadable recording::line 3: not JSON.",
    ]


def test_names_and_messages_are_escaped_for_the_runner() -> None:
    error, notice = annotations([DIVERGED])
    assert error.startswith("::error file=b%2C1%3A2.jsonl,title=replay diverged::diverged at event 4 ")
    assert '%0A  - "Hurry."%0A' in error
    assert notice.startswith("::notice file=b%2C1%3A2.jsonl,title=not checked::8 events, 4 steps checked")
    assert notice.endswith("%0Anot checked: context_synthesizer: no check (3)")


def test_recorded_text_cannot_give_the_runner_a_command() -> None:
    lines = annotations([diverged("a\n::set-env name=PATH::x%0A\r::warning::y", "b")])
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert "x%250A" in lines[0]


def test_an_unchecked_recording_is_an_error_unless_it_is_allowed() -> None:
    (error,) = annotations([UNCHECKED])
    assert error.startswith(
        "::error file=e.jsonl,title=not checked::9 events, 2 steps checked (tool_dispatcher 2), 5 not"
    )
    (notice,) = annotations([replace(UNCHECKED, allowed="as agreed")])
    assert notice.startswith("::notice file=e.jsonl,title=not checked::")
    assert notice.endswith("%0Aallowed: as agreed")


def test_the_counts_are_a_notice_that_belongs_to_no_file() -> None:
    assert counted(["1 recording", "steps checked: none"]) == (
        "::notice title=replay verify::1 recording%0Asteps checked: none"
    )
