"""Events that come before a run has begun, twice, or for nodes that it lacks."""

from typing import Any

import pytest

from coordinator.workflows.messages import Failed, Failure, Started, StopRequested, Succeeded, TimerFired
from tests.coordinator.workflows.world import a_world, call


def test_a_run_that_is_stopped_before_it_begins_ends() -> None:
    world = a_world({"a": call()})
    world.happens(StopRequested("cancelled", "enough"))
    assert world.status == "cancelled"
    world.happens(Started({}))
    assert world.calls == []


def test_a_run_begins_once() -> None:
    world = a_world({"a": call(), "b": call()}).start().ok("a")
    world.happens(Started({}))
    assert world.ok("b").status == "completed"


@pytest.mark.parametrize("path", ["nothing", "a/b", "each/7", "each/7~undo", "~undo", "back~undo9", "back"])
def test_an_event_for_an_unknown_node_changes_nothing(path: str) -> None:
    graph = {
        "a": call(on_error={"fallback": "back"}),
        "each": {"type": "foreach", "items": "range(0, 2)", "as": "n", "step": call()},
        "back": {"type": "compensate", "steps": [{"call": "drop"}]},
    }
    world = a_world(graph).start()
    for _ in range(2):
        before = world.statuses()
        for attempt in (0, 1):
            world.happens(Succeeded(path, attempt, {}))
            world.happens(Failed(path, attempt, Failure("not_found", "no")))
            world.happens(TimerFired(path, attempt))
        assert world.statuses() == before
        world.fails("a") if "a" in world.open else None
    assert world.finish().status == "compensated"


class TestWaits:
    @pytest.mark.parametrize("value", ["tomorrow", None, 5, True])
    def test_a_wait_until_no_date_time_fails(self, value: Any) -> None:
        graph = {"a": call(), "w": {"type": "wait", "until": "$a.at", "depends_on": ["a"]}}
        world = a_world(graph).start().ok("a", {"at": value})
        assert world.end is not None
        assert world.end.failure is not None
        assert (world.status, world.end.failure.kind) == ("failed", "unfit_until")

    @pytest.mark.parametrize("value", ["5", None, True, -1, 1e300, float("nan"), [1]])
    def test_a_wait_of_no_fit_number_fails(self, value: Any) -> None:
        graph = {"a": call(), "w": {"type": "wait", "seconds": "$a.s", "depends_on": ["a"]}}
        world = a_world(graph).start().ok("a", {"s": value})
        assert world.end is not None
        assert world.end.failure is not None
        assert (world.status, world.end.failure.kind) == ("failed", "unfit_seconds")

    def test_a_wait_node_has_its_own_timeout(self) -> None:
        graph = {
            "w": {"type": "wait", "seconds": 50, "timeout_s": 5, "on_error": {"fallback": "b"}},
            "b": call(),
        }
        world = a_world(graph).start()
        assert [timer.seconds for timer in world.timers] == [5, 50]
        world.happens(TimerFired("w", 0))
        assert [*world.open] == ["b"]
        assert world.ok("b").status == "completed"

    def test_an_empty_foreach_ignores_its_timeout(self) -> None:
        each = {"type": "foreach", "items": "range(0, 0)", "as": "n", "timeout_s": 5, "step": call()}
        world = a_world({"each": each, "b": call("look", "each")}).start()
        world.happens(TimerFired("each", 0))
        assert world.ok("b").status == "completed"


def test_a_text_that_is_not_a_reference_fails_its_node() -> None:
    world = a_world({"a": call(args={"x": "${"}), "b": call()}).start()
    assert world.ok("b").status == "failed"
