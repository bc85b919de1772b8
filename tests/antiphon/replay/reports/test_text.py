"""Outcomes in words."""

from dataclasses import replace

from antiphon.replay.report import Report
from antiphon.replay.reports.outcome import Outcome, Tally
from antiphon.replay.reports.text import reported, summary
from tests.antiphon.replay.reports.outcomes import DIVERGED, SAME, UNCHECKED, UNREADABLE


def test_a_recording_that_is_the_same_takes_one_line() -> None:
    assert reported(SAME) == ["a.jsonl: same, 20 events, 10 steps; the final answer is the same"]


def test_the_first_divergence_is_shown_the_rest_counted_and_unchecked_steps_named() -> None:
    assert reported(DIVERGED) == [
        "b,1:2.jsonl: diverged at event 4 (antiphon.briefing.ready.v1): "
        "coordinator, antiphon.reasoning.requested.v1 notice",
        "  - as recorded, + today",
        '    - "Hurry."',
        '    + ""',
        "  4 more: coordinator 1, tool_dispatcher 1, 2 not looked at",
        "  the final answer is unknown: the session would have continued differently, or its step failed",
        "  not checked: context_synthesizer: no check (3)",
    ]


def test_an_unreadable_recording_shows_its_reason() -> None:
    assert reported(UNREADABLE) == ["c.jsonl: unreadable: line 3: not JSON."]


def test_an_unchecked_recording_is_not_called_same_and_is_counted_by_component() -> None:
    assert reported(UNCHECKED) == [
        "e.jsonl: not checked whole, 9 events, 2 steps checked (tool_dispatcher 2), 5 not (coordinator 5); "
        "the final answer is the same",
        "  not checked: coordinator: no record was made of it (4), coordinator: the document cannot be read (1)",
    ]


def test_the_reason_for_allowing_it_is_reported() -> None:
    allowed = replace(UNCHECKED, allowed="recorded before the records")
    assert reported(allowed)[0].endswith(
        "the final answer is the same (allowed: recorded before the records)"
    )
    assert (allowed.result, allowed.passes, UNCHECKED.passes) == ("unchecked", True, False)
    assert summary(Tally.of([allowed]), 0)[-1] == "unchecked steps are allowed: recorded before the records"
    assert reported(replace(SAME, allowed="whatever")) == reported(SAME)


def test_the_summary_counts_all_and_the_worst_of_them_is_the_result() -> None:
    tally = Tally.of([SAME, DIVERGED, UNREADABLE])
    assert summary(tally, 1.5) == [
        "3 recordings: 1 diverged, 1 same, 1 unreadable; 14 steps of 28 events, 1.50 s",
        "steps checked: coordinator 14; not checked: context_synthesizer 3",
        "not checked: context_synthesizer: no check (3)",
    ]
    assert tally.result == "unreadable"
    assert Tally.of([UNCHECKED, DIVERGED, SAME]).result == "diverged"
    assert Tally.of([SAME, UNCHECKED]).result == "unchecked"
    assert Tally.of([SAME]).result == "same"


def test_recordings_in_which_nothing_was_checked_are_not_the_same() -> None:
    nothing = Outcome("n.jsonl", Report(session_id="s", events=4, steps={}))
    assert Tally.of([nothing, nothing]).result == "unchecked"
    assert Tally.of([nothing, SAME]).result == "same"
