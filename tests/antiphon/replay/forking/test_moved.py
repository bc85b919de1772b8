"""Values at another time."""

from datetime import UTC, datetime, timedelta

from antiphon_shared.breakers.outages import ModelOutage, Outages
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.tools.calls import ToolResult

from antiphon.replay.forking.moved import moved

MORNING = datetime(2026, 1, 1, 9, tzinfo=UTC)


def test_every_moment_in_a_value_is_moved_at_any_depth() -> None:
    outages = Outages(tools=("search",), models=(ModelOutage(model="m", until=MORNING),))
    later = moved(outages, timedelta(hours=3))
    assert later.models[0].until == MORNING + timedelta(hours=3)
    assert later.tools == outages.tools


def test_moving_there_and_back_gives_the_same() -> None:
    outages = Outages(models=(ModelOutage(model="m", until=MORNING), ModelOutage(model="n", until=MORNING)))
    span = timedelta(days=400, microseconds=1)
    assert moved(moved(outages, span), -span) == outages


def test_a_value_without_a_time_is_returned_as_the_same_object() -> None:
    """Results of tools are large and may contain any text, even text that looks like a time."""
    result = ToolResult(index=0, call_id="c", tool="t", status="ok", data={"at": MORNING.isoformat()})
    completed = ToolsCompleted.of(1, (result,))
    assert moved(completed, timedelta(hours=1)) is completed
