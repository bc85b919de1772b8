"""Outcomes in words."""

from antiphon.recording.reports.outcome import Tally
from antiphon.recording.reports.text import summary, told
from tests.antiphon.recording.reports.outcomes import DIVERGED, SAME, UNREADABLE


def test_a_recording_that_is_the_same_takes_one_line() -> None:
    assert told(SAME) == ["a.jsonl: same, 20 events, 10 steps; the final answer is the same"]


def test_the_first_divergence_is_shown_the_rest_counted_and_what_was_not_checked_named() -> None:
    assert told(DIVERGED) == [
        "b,1:2.jsonl: diverged at event 4 (antiphon.briefing.ready.v1): "
        "coordinator, antiphon.reasoning.requested.v1 notice",
        "  - as recorded, + today",
        '    - "Hurry."',
        '    + ""',
        "  4 more: coordinator 1, tool_dispatcher 1, 2 not looked at",
        "  the final answer cannot be told: the session would have gone another way, or its step failed",
        "  not checked: briefing: no check (3)",
    ]


def test_a_recording_that_cannot_be_read_says_why() -> None:
    assert told(UNREADABLE) == ["c.jsonl: unreadable: line 3: not JSON."]


def test_the_summary_counts_all_and_the_worst_of_them_is_the_result() -> None:
    tally = Tally.of([SAME, DIVERGED, UNREADABLE])
    assert summary(tally, 1.5) == (
        "3 recordings: 1 diverged, 1 same, 1 unreadable; 14 steps of 28 events, 1.50 s; "
        "not checked: briefing: no check (3)"
    )
    assert tally.result == "unreadable"
    assert Tally.of([DIVERGED, SAME]).result == "diverged"
    assert Tally.of([SAME]).result == "same"
