"""A run that has failed is resumed: finished nodes stay finished, the rest runs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.workflows.messages import BrokenOff, CallTool, OutcomeFound
from coordinator.workflows.resuming import may_resume
from tests.coordinator.workflows.drawn import WORKFLOWS, graphs
from tests.coordinator.workflows.test_any_order import OUTCOMES, answer, check_writes, run_through
from tests.coordinator.workflows.world import World, a_plan, call

CHAIN = {"a": call("book"), "b": call("pay", "a"), "c": call("look", "b", args={"x": "$a.of"})}
EACH = {
    "type": "foreach",
    "items": "range(0, 3)",
    "as": "i",
    "on_item_error": "skip",
    "step": call("book"),
}


def test_a_resumed_run_calls_only_unfinished_nodes() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b")
    assert world.status == "failed"
    world.begun.clear()
    world.resume().ok("b").ok("c")
    assert world.status == "completed"
    assert world.begun == ["b", "c"]


def test_a_call_repeated_after_a_resumption_has_a_new_key() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b").resume()
    first, again = (made for made in world.calls if made.path == "b")
    assert (first.key, again.key) == (1, 2)


def test_an_unknown_outcome_has_to_be_found_out_before_a_run_is_resumed() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b", "outcome_unknown")
    assert world.status == "needs_review"
    assert not may_resume(world.plan, world.run)
    world.happens_after_the_end(OutcomeFound("b", True, {"of": "a person"}))
    assert may_resume(world.plan, world.run)
    world.begun.clear()
    world.resume().ok("c")
    assert (world.status, world.begun) == ("completed", ["c"])


def test_an_unknown_outcome_in_a_sub_workflow_is_resolved_at_its_write() -> None:
    graph = {"s": {"workflow": "inner"}, "c": call("look", "s")}
    inner = {"description": "i", "graph": {"b": call("pay")}}
    world = World(a_plan(graph, inner=inner)).start().fails("s/b", "outcome_unknown")
    world.happens_after_the_end(OutcomeFound("s", True))
    assert not may_resume(world.plan, world.run)
    world.happens_after_the_end(OutcomeFound("s/b", True, {"of": "a person"}))
    assert may_resume(world.plan, world.run)
    assert world.resume().ok("c").status == "completed"


def test_a_write_without_effect_is_made_again() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b", "outcome_unknown")
    world.happens_after_the_end(OutcomeFound("b", False))
    world.begun.clear()
    world.resume().ok("b").ok("c")
    assert (world.status, world.begun) == ("completed", ["b", "c"])


@pytest.mark.parametrize(
    "node",
    [
        {"type": "parallel", "branches": {"x": {"workflow": "inner"}, "y": call()}},
        {"type": "foreach", "items": "range(0, 1)", "as": "i", "step": {"workflow": "inner"}},
        {"workflow": "inner"},
    ],
    ids=["parallel", "foreach", "workflow"],
)
def test_an_unknown_outcome_inside_a_node_is_resolved_at_its_write(node: dict[str, Any]) -> None:
    inner = {"description": "Inner.", "graph": {"pay": call("book")}}
    world = World(a_plan({"all": node, "then": call("look", "all")}, inner=inner)).start()
    path = next(one for one in world.open if one.endswith("/pay"))
    world.fails(path, "outcome_unknown")
    while world.end is None:
        world.ok(min(world.open))
    world.happens_after_the_end(OutcomeFound("all", True, {}))
    assert not may_resume(world.plan, world.run), "this is not the outcome of the whole node"
    world.happens_after_the_end(OutcomeFound(path, True, {}))
    assert may_resume(world.plan, world.run)
    assert world.resume().finish().status == "completed"


def test_an_outcome_that_is_known_is_not_changed_by_a_person() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b")
    world.happens_after_the_end(OutcomeFound("b", True, {}))
    assert world.statuses()["b"] == "failed"


def test_retries_are_counted_from_zero_when_a_run_is_resumed() -> None:
    on_error = {"retry": 1, "delay": 1000, "backoff": "exponential"}
    world = World(a_plan({"a": call(on_error=on_error)})).start()
    world.fails("a", "timeout").ok("a").fails("a", "timeout").resume()
    world.fails("a", "timeout")
    assert world.timers[-1].seconds == world.timers[0].seconds
    world.ok("a").fails("a", "timeout")
    assert (world.status, world.statuses()["a"]) == ("failed", "failed")
    assert [made.attempt for made in world.calls] == [1, 2, 3, 4]


def test_a_resumed_branch_takes_the_same_arm() -> None:
    graph = {
        "a": call(),
        "which": {
            "type": "branch",
            "depends_on": ["a"],
            "on": [{"when": "$a.n > 1", "goto": "b"}, {"default": "c"}],
        },
        "b": call("book"),
        "c": call("book"),
    }
    world = World(a_plan(graph)).start().ok("a", {"n": 2}).fails("b")
    world.begun.clear()
    world.resume().ok("b")
    assert (world.status, world.begun, world.statuses()["c"]) == ("completed", ["b"], "skipped")


def test_items_that_were_done_keep_their_results() -> None:
    graph = {"each": {"type": "foreach", "items": "$of", "as": "i", "concurrency": 3, "step": call("book")}}
    plan = a_plan(graph, params={"of": {"type": "list"}}, output={"all": "$each"})
    world = World(plan).start(of=[1, 2, 3]).ok("each/0", "A").fails("each/1").ok("each/2", "C")
    world.begun.clear()
    world.resume().ok("each/1", "B")
    assert world.begun == ["each/1"]
    assert world.end is not None
    assert world.end.output == {"all": ["A", "B", "C"]}


def test_an_item_that_was_done_is_not_repeated_after_one_before_it_was_tried_again() -> None:
    world = World(a_plan({"each": EACH, "other": call(), "then": call("look", "each", "other")})).start()
    world.fails("each/0").ok("each/1").fails("other").ok("each/2")
    world.begun.clear()
    world.resume().ok("each/0").finish()
    assert (world.status, world.begun) == ("completed", ["other", "each/0", "then"])
    assert world.end is not None
    assert world.end.standing == ("each/1", "each/2", "each/0")


def test_a_write_not_reached_after_a_resumption_is_named_and_done_once() -> None:
    world = World(a_plan({"each": EACH, "other": call()})).start()
    world.fails("each/0").ok("each/1").fails("other").ok("each/2").resume()
    world.fails("other").fails("each/0")
    assert world.end is not None
    assert (world.status, world.end.standing) == ("failed", ("each/1", "each/2"))
    world.begun.clear()
    world.resume().finish()
    assert (world.status, world.begun) == ("completed", ["other", "each/0"])


def test_a_write_that_is_not_reached_again_is_undone_where_the_run_fails() -> None:
    step = call("book", compensate={"call": "drop", "args": {"id": "$each.of"}})
    each = {"type": "foreach", "items": "range(0, 3)", "as": "i", "on_item_error": "skip", "step": step}
    world = World(a_plan({"each": each, "other": call()})).start()
    world.fails("each/0").ok("each/1")
    world.happens(BrokenOff("a step cannot be taken"))
    world.happens_after_the_end(OutcomeFound("each/2", False))
    world.resume().fails("other").fails("each/0").ok("each/1~undo")
    assert world.end is not None
    assert (world.status, world.end.undone) == ("compensated", ("each/1",))


@pytest.mark.parametrize("ends", ["done", "failed"])
def test_a_node_replaced_by_its_fallback_is_not_run_again(ends: str) -> None:
    graph = {
        "a": call("book", on_error={"fallback": "f"}),
        "f": call("book"),
        "b": call(),
        "d": call("book", "a", "b"),
        "e": call("look", "f"),
    }
    world = World(a_plan(graph)).start().fails("a").ok("b").ok("d")
    if ends == "done":
        world.ok("f").fails("e")
    else:
        world.fails("f")
    world.begun.clear()
    world.resume().finish()
    assert (world.status, world.begun) == ("completed", ["e"] if ends == "done" else ["f", "e"])
    assert world.end is not None
    assert sorted(world.end.standing) == ["d", "f"]


def test_the_writes_inside_a_failed_node_are_kept_when_its_fallback_ran() -> None:
    graph = {
        "p": {
            "type": "parallel",
            "branches": {"x": call("book"), "y": call()},
            "on_error": {"fallback": "f"},
        },
        "f": call(),
        "e": call("look", "f"),
    }
    world = World(a_plan(graph)).start().ok("p/x").fails("p/y").ok("f").fails("e")
    world.begun.clear()
    world.resume().ok("e")
    assert (world.status, world.begun) == ("completed", ["e"])
    assert world.end is not None
    assert world.end.standing == ("p/x",)


def test_a_fallback_in_an_unreached_item_remains_at_the_next_resumption() -> None:
    inner = {
        "description": "Inner.",
        "graph": {
            "a": call("book", on_error={"fallback": "f"}),
            "f": call("book"),
            "y": call("look", "f"),
        },
    }
    each = {**EACH, "items": "range(0, 2)", "step": {"workflow": "inner"}}
    world = World(a_plan({"each": each, "other": call()}, inner=inner)).start()
    world.fails("each/0/a").fails("each/0/f").fails("each/1/a").ok("each/1/f").fails("other").ok("each/1/y")
    world.resume().fails("other").fails("each/0/f")
    world.begun.clear()
    world.resume().finish()
    assert (world.status, world.begun) == ("completed", ["other", "each/0/f", "each/0/y"])


def test_a_node_whose_fallback_was_skipped_is_run_again() -> None:
    graph = {"a": call(on_error={"fallback": "f"}), "f": call(when="false")}
    world = World(a_plan(graph)).start().fails("a")
    world.begun.clear()
    world.resume().ok("a")
    assert (world.status, world.begun) == ("completed", ["a"])


def test_a_write_without_effect_is_made_again_though_another_took_the_fallback() -> None:
    graph = {
        "a": call("book", on_error={"fallback": "f"}),
        "b": call(on_error={"fallback": "f"}),
        "f": call("book"),
    }
    world = World(a_plan(graph)).start().fails("b").fails("a", "outcome_unknown").ok("f")
    assert world.status == "needs_review"
    world.happens_after_the_end(OutcomeFound("a", False))
    world.begun.clear()
    world.resume().ok("a")
    assert (world.status, world.begun) == ("completed", ["a"])


def test_a_compensate_node_that_had_nothing_to_undo_runs_again() -> None:
    graph = {
        "a": call("book"),
        "b": call("look", "a", on_error={"fallback": "back"}),
        "back": {"type": "compensate", "steps": [{"call": "drop", "args": {"id": "$a.id"}}]},
    }
    world = World(a_plan(graph)).start().ok("a", {}).fails("b")
    assert world.status == "failed"
    world.resume().fails("b")
    assert world.status == "failed"


@given(graphs(), OUTCOMES, st.data())
def test_a_resumed_run_ends_and_repeats_no_completed_call(
    graph: dict[str, Any], failing: dict[str, str], data: st.DataObject
) -> None:
    world, _ = run_through(a_plan(graph, **WORKFLOWS), failing, data)
    for path, state in list(world.run.nodes.items()):
        if state.failure is not None and state.failure.is_unknown and world.run.ended == "needs_review":
            world.happens_after_the_end(OutcomeFound(path, False))
    if not may_resume(world.plan, world.run):
        return
    done = {path for path, state in world.run.nodes.items() if state.status == "done"}
    values = {path: world.kept[path] for path in done if path in world.kept}
    world.begun.clear()
    world.calls.clear()
    world.resume().finish(lambda paths: data.draw(st.sampled_from(paths)))
    assert world.end is not None
    assert not done & {made.path for made in world.calls if isinstance(made, CallTool)}
    assert all(world.kept[path] == value for path, value in values.items())
    assert all(state.status not in ("active", "stopping", "queued") for state in world.run.nodes.values())


@given(graphs(), st.lists(OUTCOMES, min_size=3, max_size=3), st.data())
def test_no_write_is_lost_or_repeated_over_any_number_of_resumptions(
    graph: dict[str, Any], failing: list[dict[str, str]], data: st.DataObject
) -> None:
    world, _ = run_through(a_plan(graph, **WORKFLOWS), failing[0], data)
    for outcomes in failing[1:]:
        for path in world.end.unknown if world.end else ():
            world.happens_after_the_end(OutcomeFound(path, data.draw(st.booleans()), {"of": path}))
        if not may_resume(world.plan, world.run):
            return
        done = {path for path, state in world.run.nodes.items() if state.is_done}
        world.calls.clear()
        world.resume()
        while world.open:
            world.happens(answer(world, data.draw(st.sampled_from(sorted(world.open))), outcomes))
        assert world.end is not None
        assert done <= {path for path, state in world.run.nodes.items() if state.is_done}
        assert not done & {made.path for made in world.calls}
        check_writes(world)
