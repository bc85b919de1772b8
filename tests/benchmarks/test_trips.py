"""Trips by rounds and by the workflow: the same where nothing goes wrong, and counted where something does."""

import pytest

from benchmarks.trips import measure
from benchmarks.trips.measure import booked
from benchmarks.trips.model import PERFECT, Mistakes


async def test_without_failures_rounds_and_workflow_book_the_same_trips(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "FAILS", 0.0)
    rounds, workflow = await booked("rounds", 6, 1, PERFECT), await booked("workflow", 6, 1, PERFECT)
    assert [one.left for one in rounds] == [one.left for one in workflow]
    assert sum(one.left["trips"] for one in workflow) > 2
    assert {one.model_calls for one in workflow} == {2}
    assert not any(one.is_wrong for one in (*rounds, *workflow))
    assert all(ours.tool_calls >= ours.response.tool_calls_used == 1 and ours.took_s > 0 for ours in workflow)


async def test_a_forgotten_cancellation_of_a_model_is_counted_and_a_workflow_forgets_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure, "FAILS", 1.0)
    monkeypatch.setattr(measure, "_KINDS", ("declined",))
    forgets = Mistakes(forgets=1, books_again=0, stops_early=0)
    rounds, workflow = await booked("rounds", 6, 1, forgets), await booked("workflow", 6, 1, forgets)
    assert any(one.is_silent for one in rounds)
    assert not any(one.is_wrong or one.left["trips"] for one in workflow)
