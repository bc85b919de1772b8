"""Decisions within parallel branches, loops over items and workflows within workflows."""

from typing import Any

import pytest

from tests.coordinator.workflows.world import a_world, arguments, call


class TestContainers:
    def test_a_parallel_node_is_done_when_all_branches_are(self) -> None:
        graph = {
            "p": {"type": "parallel", "branches": {"x": call(output="first"), "y": call()}},
            "z": call("look", "p"),
        }
        world = a_world({**graph, "z": call("look", "p", args={"v": "$p.y.of", "w": "$first.of"})}).start()
        world.ok("p/y").ok("p/x")
        assert arguments(world, "z") == {"v": "p/y", "w": "p/x"}
        assert world.ok("z").status == "completed"

    def test_a_failed_branch_stops_the_others_and_fails_the_node(self) -> None:
        undo = {"call": "drop", "args": {}}
        graph = {"p": {"type": "parallel", "branches": {"x": call(), "y": call("book", compensate=undo)}}}
        world = a_world(graph).start().fails("p/x")
        assert world.end is None
        assert world.ok("p/y").ok("p/y~undo").status == "compensated"

    @pytest.mark.parametrize(("failing", "status"), [(["p/x"], "completed"), (["p/x", "p/y"], "failed")])
    def test_with_continue_one_branch_is_enough(self, failing: list[str], status: str) -> None:
        branches = {"x": call(), "y": call()}
        graph = {"p": {"type": "parallel", "on_partial_failure": "continue", "branches": branches}}
        world = a_world(graph).start()
        for path in failing:
            world.fails(path)
        assert world.finish().status == status

    @pytest.mark.parametrize("ends", [False, True])
    def test_rollback_all_undoes_the_branches_before_a_fallback(self, ends: bool) -> None:
        undo = {"call": "drop", "args": {}}
        parallel = {
            "type": "parallel",
            "on_partial_failure": "rollback_all",
            "on_error": {"fallback": "f"},
            "branches": {"x": call("book", compensate=undo), "y": call()},
        }
        graph = {"p": parallel, "f": {"type": "error", "message": "No."} if ends else call("book")}
        world = a_world(graph).start().ok("p/x").fails("p/y").ok("p/x~undo")
        assert world.end is not None
        assert (world.status, world.end.undone) == ("compensated", ("p/x",))

    def test_with_rollback_all_a_fallback_runs_where_no_branch_began(self) -> None:
        parallel = {
            "type": "parallel",
            "when": "1 > 'a'",
            "on_partial_failure": "rollback_all",
            "on_error": {"fallback": "f"},
            "branches": {"x": call("book")},
        }
        assert a_world({"p": parallel, "f": call()}).start().ok("f").status == "completed"

    def test_rollback_all_is_the_compensate_node_of_that_name(self) -> None:
        branches = {"x": call("book"), "y": call("book")}
        graph = {
            "p": {"type": "parallel", "on_partial_failure": "rollback_all", "branches": branches},
            "rollback_all": {
                "type": "compensate",
                "steps": [{"call": "drop", "args": {"id": "$p?.x.of"}}, {"call": "drop", "args": {}}],
            },
        }
        world = a_world(graph).start().ok("p/x").fails("p/y")
        assert "rollback_all~undo0" in world.open or "rollback_all~undo1" in world.open
        assert world.finish().status in ("compensated", "failed")

    def test_a_foreach_keeps_the_order_of_items_and_its_concurrency(self) -> None:
        step = call("look", args={"n": "$n"})
        graph = {
            "each": {"type": "foreach", "items": "range(0, 4)", "as": "n", "concurrency": 2, "step": step}
        }
        world = a_world(graph).start()
        assert sorted(world.open) == ["each/0", "each/1"]
        world.ok("each/1", "b").ok("each/2", "c").ok("each/0", "a").ok("each/3", "d")
        assert world.end is not None
        assert world.end.output == ["a", "b", "c", "d"]
        assert arguments(world, "each/3") == {"n": 3}

    @pytest.mark.parametrize(
        ("on_item_error", "output"),
        [
            ("skip", [{"of": "each/1"}]),
            ("collect", [{"error": {"type": "not_found", "message": "each/0 failed"}}, {"of": "each/1"}]),
        ],
    )
    def test_a_failed_item_is_left_out_or_named(self, on_item_error: str, output: list[Any]) -> None:
        graph = {
            "each": {
                "type": "foreach",
                "items": "range(0, 2)",
                "as": "n",
                "on_item_error": on_item_error,
                "step": call(),
            }
        }
        world = a_world(graph).start().fails("each/0").ok("each/1")
        assert world.end is not None
        assert (world.status, world.end.output) == ("completed", output)

    def test_a_failed_item_fails_the_foreach(self) -> None:
        graph = {"each": {"type": "foreach", "items": "range(0, 3)", "as": "n", "step": call("book")}}
        world = a_world(graph).start().ok("each/0").fails("each/1")
        assert world.end is not None
        assert (world.status, world.end.standing) == ("failed", ("each/0",))

    def test_each_item_that_was_done_is_undone_by_its_own_result(self) -> None:
        undo = {"call": "drop", "args": {"id": "$each.id", "n": "$n"}}
        step = call("book", compensate=undo)
        graph = {"each": {"type": "foreach", "items": "range(7, 10)", "as": "n", "step": step}}
        world = a_world(graph).start().ok("each/0", {"id": "x"}).ok("each/1", {"id": "y"}).fails("each/2")
        assert arguments(world, "each/1~undo") == {"id": "y", "n": 8}
        world.ok("each/1~undo")
        assert arguments(world, "each/0~undo") == {"id": "x", "n": 7}
        assert world.ok("each/0~undo").status == "compensated"

    def test_too_many_items_fail_before_the_first(self) -> None:
        graph = {
            "each": {
                "type": "foreach",
                "items": "range(0, 3)",
                "as": "n",
                "max_iterations": 2,
                "step": call(),
            }
        }
        world = a_world(graph).start()
        assert (world.status, world.calls) == ("failed", [])

    def test_a_sub_workflow_is_inlined_and_undoes_itself_before_its_caller_continues(self) -> None:
        undo = {"call": "drop", "args": {"id": "$x.of"}}
        inner = {
            "description": "Inner.",
            "params": {"id": {"type": "str", "required": True}},
            "graph": {"x": call("book", args={"id": "$id"}, compensate=undo), "y": call("look", "x")},
        }
        graph = {"a": call(), "sub": {"workflow": "inner", "depends_on": ["a"], "args": {"id": "$a.of"}}}
        done = a_world(graph, inner=inner).start().ok("a").finish()
        assert done.end is not None
        assert (done.status, done.end.output) == ("completed", {"of": "sub/y"})
        caught = {**graph, "sub": {**graph["sub"], "on_error": {"fallback": "else"}}, "else": call()}
        world = a_world(caught, inner=inner).start().ok("a").ok("sub/x").fails("sub/y")
        assert [*world.open] == ["sub/x~undo"]
        assert world.ok("sub/x~undo").ok("else").status == "completed"

    def test_a_sub_workflow_in_every_item(self) -> None:
        inner = {
            "description": "Inner.",
            "params": {"n": {"type": "int", "required": True}},
            "graph": {"x": call("look", args={"n": "$n"}), "y": call("look", "x")},
            "output": "$y.of",
        }
        step = {"workflow": "inner", "args": {"n": "$n"}}
        graph = {
            "each": {"type": "foreach", "items": "range(5, 8)", "as": "n", "concurrency": 3, "step": step}
        }
        world = a_world(graph, inner=inner).start()
        assert arguments(world, "each/2/x") == {"n": 7}
        world.finish(max)
        assert world.end is not None
        assert world.end.output == ["each/0/y", "each/1/y", "each/2/y"]

    def test_a_sequential_tool_runs_one_call_at_a_time(self) -> None:
        world = a_world({"a": call("slow"), "b": call("slow"), "c": call("slow")}).start()
        assert [*world.open] == ["a"]
        world.ok("a")
        assert [*world.open] == ["b"]
        assert world.ok("b").ok("c").status == "completed"
