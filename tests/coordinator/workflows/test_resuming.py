"""A run that has failed goes on: what was done stays done, the rest runs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.workflows.messages import CallTool, OutcomeFound
from coordinator.workflows.resuming import may_resume
from tests.coordinator.workflows.drawn import WORKFLOWS, graphs
from tests.coordinator.workflows.test_any_order import OUTCOMES, run_through
from tests.coordinator.workflows.world import World, a_plan, call

CHAIN = {"a": call("book"), "b": call("pay", "a"), "c": call("look", "b", args={"x": "$a.of"})}


def test_a_resumed_run_calls_only_what_was_not_done() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b")
    assert world.status == "failed"
    world.begun.clear()
    world.resume().ok("b").ok("c")
    assert world.status == "completed"
    assert world.begun == ["b", "c"]


def test_a_call_that_is_made_again_after_a_resumption_has_a_key_of_its_own() -> None:
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


def test_an_unknown_outcome_in_a_sub_workflow_is_found_out_where_the_write_is() -> None:
    graph = {"s": {"workflow": "inner"}, "c": call("look", "s")}
    inner = {"description": "i", "graph": {"b": call("pay")}}
    world = World(a_plan(graph, inner=inner)).start().fails("s/b", "outcome_unknown")
    world.happens_after_the_end(OutcomeFound("s", True))
    assert not may_resume(world.plan, world.run)
    world.happens_after_the_end(OutcomeFound("s/b", True, {"of": "a person"}))
    assert may_resume(world.plan, world.run)
    assert world.resume().ok("c").status == "completed"


def test_a_write_that_had_no_effect_is_made_anew() -> None:
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
def test_an_unknown_outcome_inside_a_node_is_found_out_where_it_is(node: dict[str, Any]) -> None:
    inner = {"description": "Inner.", "graph": {"pay": call("book")}}
    world = World(a_plan({"all": node, "then": call("look", "all")}, inner=inner)).start()
    path = next(one for one in world.open if one.endswith("/pay"))
    world.fails(path, "outcome_unknown")
    while world.end is None:
        world.ok(min(world.open))
    world.happens_after_the_end(OutcomeFound("all", True, {}))
    assert not may_resume(world.plan, world.run), "it is not the outcome of the node as a whole"
    world.happens_after_the_end(OutcomeFound(path, True, {}))
    assert may_resume(world.plan, world.run)
    assert world.resume().finish().status == "completed"


def test_an_outcome_that_is_known_is_not_changed_by_a_person() -> None:
    world = World(a_plan(CHAIN)).start().ok("a").fails("b")
    world.happens_after_the_end(OutcomeFound("b", True, {}))
    assert world.statuses()["b"] == "failed"


def test_a_resumed_branch_goes_the_way_that_it_went() -> None:
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


@given(graphs(), OUTCOMES, st.data())
def test_whatever_failed_a_resumed_run_ends_and_repeats_nothing(
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
    world.resume().finish()
    assert world.end is not None
    assert not done & {made.path for made in world.calls if isinstance(made, CallTool)}
    assert all(world.kept[path] == value for path, value in values.items())
    assert all(state.status not in ("active", "stopping", "queued") for state in world.run.nodes.values())
