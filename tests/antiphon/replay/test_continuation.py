"""The continuation of a session after another decision."""

from pathlib import Path

import pytest

from antiphon.recording.files import read_lines
from antiphon.replay.next_step import recorded_end, recorded_next
from antiphon.replay.reports.text import reported
from antiphon.replay.verify_all import outcome
from coordinator import batches, endings

RECORDINGS = Path(__file__).parents[2] / "recordings"
THREE_ROUNDS = RECORDINGS / "two_rounds_of_nothing_but_failures.jsonl"


def test_an_unchanged_session_has_no_other_continuation() -> None:
    assert outcome(THREE_ROUNDS).goes_on is None


def test_a_session_that_would_end_earlier_today_continues_with_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        batches,
        "next_round",
        lambda session, event: endings.end(session, event, "partial", "max_rounds_reached"),
    )
    found = outcome(THREE_ROUNDS)
    assert found.goes_on is not None
    assert (found.goes_on.kind, found.goes_on.round, found.goes_on.reason) == (
        "answered",
        1,
        "max_rounds_reached",
    )
    assert (
        "  the session would continue differently: it would be answered in round 1: partial, max_rounds_reached"
        in reported(found)
    )


def test_a_session_that_would_not_end_today_continues_with_a_model_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from coordinator import limits

    monkeypatch.setattr(limits, "last_round_reason", lambda *given, **more: None)
    found = outcome(THREE_ROUNDS)
    assert found.goes_on is not None
    assert (found.goes_on.kind, found.goes_on.round) == ("asks_model", 3)


def test_the_next_step_and_the_end_are_read_from_the_recording() -> None:
    lines = list(read_lines(THREE_ROUNDS))
    ended, next = recorded_end(lines), recorded_next(lines, 5)
    assert ended is not None
    assert next is not None
    assert (ended.kind, ended.round, ended.reason) == ("answered", 3, "all_tools_failed")
    assert (next.kind, next.round) == ("calls_tools", 1)
