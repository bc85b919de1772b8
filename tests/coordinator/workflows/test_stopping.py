"""A stopped part is settled and undone, once, before the workflow around it continues."""

from typing import Any

import pytest
from antiphon_shared.workflows.graph import UNDO

from coordinator.workflows.messages import CallTool, StopRequested, TimerFired
from tests.coordinator.workflows.world import World, a_plan, a_world, call

DROP = {"call": "drop", "args": {}}
INNER = {
    "description": "Inner.",
    "graph": {"x": call("book", compensate=DROP), "y": call("look", "x")},
}


def undone(world: World) -> list[str]:
    return [one.path for one in world.calls if "~undo" in one.path]


class TestSubWorkflowsInContainers:
    PARALLEL = {
        "p": {
            "type": "parallel",
            "branches": {"s": {"workflow": "inner"}, "t": {"workflow": "inner"}, "c": call()},
            "on_error": {"fallback": "else"},
        },
        "else": call(),
    }

    def test_a_sub_workflow_stopped_by_a_sibling_undoes_itself_before_the_fallback(self) -> None:
        world = a_world(self.PARALLEL, inner=INNER).start().ok("p/s/x").fails("p/c")
        assert sorted(world.open) == ["p/s/y", "p/t/x"]
        world.ok("p/t/x")
        assert sorted(world.open) == ["p/s/y", "p/t/x~undo"]
        world.ok("p/s/y").ok("p/t/x~undo")
        assert sorted(world.open) == ["p/s/x~undo"]
        world.ok("p/s/x~undo")
        assert [*world.open] == ["else"]
        assert world.ok("else").status == "completed"
        assert world.end is not None
        assert (world.end.standing, world.end.undone) == ((), ("p/s/x", "p/t/x"))

    def test_a_sub_workflow_may_fail_while_another_undoes_itself(self) -> None:
        world = a_world(self.PARALLEL, inner=INNER).start().ok("p/s/x").ok("p/t/x")
        world.fails("p/s/y").fails("p/t/y")
        assert sorted(world.open) == ["p/c", "p/s/x~undo", "p/t/x~undo"]
        world.ok("p/s/x~undo").ok("p/c").ok("p/t/x~undo")
        assert world.ok("else").status == "completed"
        assert undone(world) == ["p/s/x~undo", "p/t/x~undo"]

    def test_cancelling_waits_for_one_that_is_stopping_in_a_container_that_is_stopping(self) -> None:
        world = a_world(self.PARALLEL, inner=INNER).start().ok("p/s/x").fails("p/c")
        world.happens(StopRequested("cancelled", "enough"))
        world.ok("p/t/x")
        world.happens(StopRequested("timed_out", "late"))
        world.happens(TimerFired("p", 0))
        world.ok("p/t/x~undo").ok("p/s/y").ok("p/s/x~undo")
        assert (world.status, len(undone(world))) == ("cancelled", 2)

    def test_a_failed_item_lets_the_others_undo_themselves(self) -> None:
        each = {
            "type": "foreach",
            "items": "range(0, 3)",
            "as": "n",
            "concurrency": 3,
            "step": {"workflow": "inner"},
            "on_error": {"fallback": "else"},
        }
        world = a_world({"each": each, "else": call()}, inner=INNER).start()
        world.ok("each/0/x").ok("each/0/y").ok("each/1/x").ok("each/2/x").fails("each/1/y")
        world.ok("each/1/x~undo").ok("each/2/y").ok("each/2/x~undo")
        assert [*world.open] == ["else"]
        assert world.ok("else").statuses()["each/0"] == "done"

    def test_a_compensate_node_runs_also_when_its_caller_is_stopped(self) -> None:
        graph = {
            "x": call("book"),
            "slow": call(),
            "y": call("look", "x", on_error={"fallback": "back"}),
            "back": {"type": "compensate", "steps": [{"call": "drop", "args": {"id": "$x.of"}}]},
        }
        inner = {"description": "Inner.", "graph": graph}
        world = a_world({"s": {"workflow": "inner"}}, inner=inner).start().ok("s/x").fails("s/y")
        assert [*world.open] == ["s/slow"]
        world.happens(StopRequested("cancelled", "enough"))
        world.ok("s/slow").ok("s/back~undo0")
        assert world.status == "cancelled"
        assert world.end is not None
        assert world.end.standing == ()

    def test_two_deep_the_inner_is_undone_before_the_outer(self) -> None:
        outer = {
            "description": "Outer.",
            "graph": {"b": call("book", compensate=DROP), "s": {"workflow": "inner", "depends_on": ["b"]}},
        }
        graph = {"o": {"workflow": "outer", "timeout_s": 5}, "c": call()}
        world = a_world(graph, outer=outer, inner=INNER).start().ok("o/b").ok("o/s/x").fails("o/s/y")
        world.happens(TimerFired("o", 0))
        assert sorted(world.open) == ["c", "o/s/x~undo"]
        world.fails("c").ok("o/s/x~undo").ok("o/b~undo")
        assert world.status == "compensated"

    def test_a_sub_workflow_may_be_skipped_by_the_decision_that_stops_its_caller(self) -> None:
        graph = {
            "a": call(on_error={"fallback": "back"}),
            "way": {"type": "branch", "on": [{"default": "p"}]},
            "p": {
                "type": "parallel",
                "depends_on": ["a"],
                "branches": {"x": {"workflow": "inner", "when": "false"}},
            },
            "back": {"type": "compensate", "steps": [{"call": "drop"}]},
        }
        world = a_world(graph, inner=INNER).start().fails("a").ok("back~undo0")
        assert (world.status, world.statuses()["p/x"]) == ("compensated", "skipped")


class TestUndoneOnce:
    def test_a_compensation_of_a_sub_workflow_replaces_those_of_its_nodes(self) -> None:
        graph = {"s": {"workflow": "inner", "compensate": DROP}, "c": call("look", "s")}
        world = a_world(graph, inner=INNER).start().ok("s/x").ok("s/y").fails("c")
        assert world.ok("s~undo").status == "compensated"
        assert undone(world) == ["s~undo"]
        assert world.end is not None
        assert world.end.undone == ("s/x",)

    def test_a_failed_compensation_is_not_repeated_by_the_caller(self) -> None:
        world = a_world({"s": {"workflow": "inner"}}, inner=INNER).start().ok("s/x").fails("s/y")
        assert world.fails("s/x~undo").status == "compensation_failed"
        assert undone(world) == ["s/x~undo"]

    def test_a_skipped_step_replaces_no_compensation(self) -> None:
        graph = {
            "a": call("book", compensate=DROP),
            "b": call("book", "a", on_error={"fallback": "back"}),
            "back": {
                "type": "compensate",
                "steps": [{"call": "drop", "args": {"one": "$a.of", "other": "$b.of"}}],
            },
        }
        world = a_world(graph).start().ok("a").fails("b")
        assert [*world.open] == ["a~undo"]
        assert world.ok("a~undo").status == "compensated"

    @pytest.mark.parametrize("reference", ["$p.x.of", "$p.x", "$p", "$p?.x.of"])
    def test_a_step_refers_to_the_branches_that_succeeded(self, reference: str) -> None:
        graph = {
            "p": {
                "type": "parallel",
                "on_partial_failure": "back",
                "branches": {"x": call("book", compensate=DROP), "y": call("book")},
            },
            "back": {"type": "compensate", "steps": [{"call": "drop", "args": {"id": reference}}]},
        }
        world = a_world(graph).start().ok("p/x").fails("p/y").ok("back~undo0")
        assert (world.status, undone(world)) == ("compensated", ["back~undo0"])

    def test_a_branch_is_undone_by_its_own_result(self) -> None:
        undo = {"call": "drop", "args": {"id": "$p.x.of"}}
        graph = {"p": {"type": "parallel", "branches": {"x": call("book", compensate=undo), "y": call()}}}
        world = a_world(graph).start().ok("p/x").fails("p/y")
        call_made = world.open["p/x~undo"]
        assert isinstance(call_made, CallTool)
        assert call_made.arguments == {"id": "p/x"}

    @pytest.mark.parametrize(
        ("reference", "left"),
        [("$each", []), ("$each.0.of", ["each/2~undo"]), ("$each.1.of", ["each/1~undo"])],
    )
    def test_a_compensation_step_may_refer_to_all_items_or_to_one(
        self, reference: str, left: list[str]
    ) -> None:
        graph = {
            "each": {
                "type": "foreach",
                "items": "range(0, 3)",
                "as": "n",
                "on_item_error": "skip",
                "step": call("book", compensate=DROP),
            },
            "c": call("look", "each", on_error={"fallback": "back"}),
            "back": {"type": "compensate", "steps": [{"call": "drop", "args": {"id": reference}}]},
        }
        world = a_world(graph).start().fails("each/0").ok("each/1").ok("each/2").fails("c").finish()
        assert undone(world) == ["back~undo0", *left]
        assert world.status == "compensated"


class TestSequentialOnly:
    def test_another_call_is_made_while_one_waits_to_be_tried_again(self) -> None:
        graph = {"a": call("slow", on_error={"retry": 1}), "b": call("slow")}
        world = a_world(graph).start().fails("a", "rate_limit")
        assert sorted(world.open) == ["a", "b"], "a timer and a call"
        world.ok("a")
        assert [*world.open] == ["b"], "the retry waits for its turn"
        assert world.ok("b").ok("a").status == "completed"

    def test_a_stopped_retry_lets_the_next_call_begin(self) -> None:
        inner = {"description": "Inner.", "graph": {"a": call("slow", on_error={"retry": 1}), "b": call()}}
        graph = {"s": {"workflow": "inner", "on_error": {"fallback": "f"}}, "f": call(), "c": call("slow")}
        world = a_world(graph, inner=inner).start()
        first = "s/a" if "s/a" in world.open else "c"
        if first == "c":
            world.ok("c")
        world.fails("s/a", "timeout").fails("s/b")
        assert world.finish().status == "completed"

    def test_calls_that_undo_are_made_one_at_a_time(self) -> None:
        undo = {"call": "slow", "args": {}}
        inner = {
            "description": "Inner.",
            "graph": {"x": call("book", compensate=undo), "y": call("look", "x")},
        }
        graph = {name: {"workflow": "inner", "on_error": {"fallback": "f"}} for name in "ab"}
        world = a_world({**graph, "f": call(), "c": call("slow")}, inner=inner).start()
        world.ok("a/x").ok("b/x").fails("a/y").fails("b/y")
        assert sorted(world.open) == ["c"]
        world.ok("c")
        assert sorted(world.open) == ["a/x~undo"]
        world.ok("a/x~undo")
        assert sorted(world.open) == ["b/x~undo", "f"]
        assert world.finish().status == "completed"

    def test_a_call_that_leaves_the_queue_does_not_repeat_the_one_that_undoes(self) -> None:
        """A sub-workflow undoes itself by a sequential-only tool, as a queued call of that tool is stopped."""
        inner = {
            "description": "Inner.",
            "graph": {"x": call("book", compensate={"call": "slow", "args": {}}), "y": call("look", "x")},
        }
        graph = {
            "s": {"workflow": "inner", "on_error": {"fallback": "f"}},
            "f": call(),
            "first": call(),
            "queued": call("slow", "first"),
        }
        world = a_world(graph, inner=inner).start().ok("s/x").fails("s/y")
        assert sorted(world.open) == ["first", "s/x~undo"]
        world.ok("first").happens(StopRequested("cancelled", "enough"))
        assert undone(world) == ["s/x~undo"]
        assert world.finish().status == "cancelled"
        assert undone(world) == ["s/x~undo"]


def test_completed_nodes_are_undone_in_reverse_order_across_sub_workflows_items_and_branches() -> None:
    book = call("book", compensate={"call": "drop", "args": {}})
    inner = {"description": "Inner.", "graph": {"x": book, "y": {**book, "depends_on": ["x"]}}}
    graph = {
        "s": {"workflow": "inner"},
        "each": {"type": "foreach", "items": "range(0, 2)", "as": "i", "concurrency": 2, "step": book},
        "p": {"type": "parallel", "branches": {"l": book, "r": {"workflow": "inner"}}},
        "z": call("look", "s", "each", "p"),
    }
    world = World(a_plan(graph, inner=inner)).start()
    order = ["each/1", "s/x", "p/l", "each/0", "p/r/x", "s/y", "p/r/y"]
    for path in order:
        world.ok(path)
    world.fails("z").finish()
    assert [made.path for made in world.calls if UNDO in made.path] == [f"{one}{UNDO}" for one in order[::-1]]
    assert world.status == "compensated"


def test_a_node_reached_by_the_decision_that_stops_its_workflow_does_not_start() -> None:
    """`stop` fails the workflow, and only after that `late` has nothing to wait for any more."""
    graph = {
        "a": call(),
        "which": {"type": "branch", "depends_on": ["a"], "on": [{"default": "stop"}]},
        "stop": {"type": "error", "message": "no"},
        "under_way": call(),
        "skipped": {**call("look", "a"), "when": "false"},
        "skipped_too": call("look", "skipped"),
        "late": call("look", "a", "skipped_too"),
    }
    world = a_world(graph).start().ok("a")
    assert sorted(world.open) == ["under_way"]
    assert world.ok("under_way").status == "failed"
    assert sorted(one.path for one in world.calls) == ["a", "under_way"]


def test_a_timer_that_fires_again_does_not_cut_a_later_delay_short() -> None:
    world = a_world({"a": call(on_error={"retry": 2, "delay": 100})}).start().fails("a", "rate_limit")
    first = world.timers[-1]
    world.ok("a").fails("a", "rate_limit")
    world.happens(TimerFired("a", first.attempt))
    assert [one.attempt for one in world.calls] == [1, 2]
    assert world.ok("a").ok("a").status == "completed"


class TestUnknownOutcomes:
    def test_a_later_attempt_does_not_settle_an_earlier_unknown_one(self) -> None:
        graph = {"a": call("pay", on_error={"retry": 1, "fallback": "b"}), "b": call("pay")}
        world = a_world(graph).start().fails("a", "outcome_unknown").ok("a").fails("a", "rate_limit")
        assert world.end is not None
        assert (world.status, world.end.unknown) == ("needs_review", ("a",))

    def test_a_stopped_retry_leaves_it_unknown(self) -> None:
        graph = {"a": call("pay", on_error={"retry": 1}), "b": call()}
        world = a_world(graph).start().fails("a", "outcome_unknown").fails("b")
        assert world.end is not None
        assert (world.status, world.end.unknown) == ("needs_review", ("a",))

    def test_a_successful_retry_settles_an_unknown_outcome(self) -> None:
        world = a_world({"a": call("pay", on_error={"retry": 1})}).start()
        assert world.fails("a", "outcome_unknown").ok("a").ok("a").status == "completed"

    @pytest.mark.parametrize("node", ["parallel", "workflow"])
    def test_no_fallback_repeats_an_unknown_inner_write(self, node: str) -> None:
        parts = {"x": call("book"), "y": call()}
        inner = {"description": "Inner.", "graph": parts}
        outer: dict[str, Any] = (
            {"workflow": "inner"} if node == "workflow" else {"type": "parallel", "branches": parts}
        )
        graph = {"p": {**outer, "on_error": {"fallback": "f"}}, "f": call("book")}
        world = a_world(graph, inner=inner).start().fails("p/y").fails("p/x", "outcome_unknown")
        assert world.status == "needs_review"
        assert "f" not in {one.path for one in world.calls}
