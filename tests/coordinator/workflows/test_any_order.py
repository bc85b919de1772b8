"""Over random graphs: whatever the order of what happens, no node is early, twice, or left; and undoing is exact."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coordinator.workflows.decide import decide_run
from coordinator.workflows.messages import (
    CallTool,
    Failed,
    Failure,
    Happening,
    SetTimer,
    StopRequested,
    Succeeded,
    TimerFired,
)
from coordinator.workflows.plan import UNDO, Plan
from coordinator.workflows.state import SETTLED, Run
from tests.coordinator.workflows.world import World, a_plan, call

FAILURES = ("not_found", "timeout", "outcome_unknown")
TOOLS = ("look", "book", "pay", "slow")
UNDOES = {"call": "drop", "args": {}}


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a graph that validation would pass: edges lead forward, targets are no dependencies of what comes before."""
    size = draw(st.integers(1, 8))
    graph: dict[str, Any] = {}
    targets: set[str] = set()
    for number in range(size):
        earlier = [f"n{place}" for place in range(number)]
        after = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        node = draw(nodes(number))
        node["depends_on"] = after
        if number + 1 < size and draw(st.integers(0, 3)) == 0:
            target = f"n{draw(st.integers(number + 1, size - 1))}"
            targets.add(target)
            if draw(st.booleans()):
                node = {"type": "branch", "depends_on": after, "on": [{"default": target}]}
                if draw(st.booleans()):
                    other = f"n{draw(st.integers(number + 1, size - 1))}"
                    targets.add(other)
                    node["on"].insert(0, {"when": draw(st.sampled_from(["true", "false"])), "goto": other})
            else:
                node["on_error"] = {**node.get("on_error", {}), "fallback": target}
        graph[f"n{number}"] = node
    return graph


@st.composite
def nodes(draw: st.DrawFn, number: int) -> dict[str, Any]:
    made = calls(draw)
    if draw(st.integers(0, 5)) == 0:
        made["when"] = draw(st.sampled_from(["true", "false"]))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        partial = draw(st.sampled_from(["abort", "continue"]))
        return {
            "type": "parallel",
            "on_partial_failure": partial,
            "branches": {"x": calls(draw), "y": calls(draw)},
        }
    if kind == 1:
        return {
            "type": "foreach",
            "items": f"range(0, {draw(st.integers(0, 3))})",
            "as": f"item{number}",
            "concurrency": draw(st.integers(1, 3)),
            "on_item_error": draw(st.sampled_from(["fail", "skip", "collect"])),
            "step": calls(draw),
        }
    if kind == 2:
        return {"type": "wait", "seconds": 1}
    if kind == 3:
        return {"workflow": "inner"}
    return made


def calls(draw: st.DrawFn) -> dict[str, Any]:
    made = call(draw(st.sampled_from(TOOLS)))
    if draw(st.booleans()):
        made["compensate"] = UNDOES
    if draw(st.integers(0, 3)) == 0:
        made["on_error"] = {"retry": draw(st.integers(1, 2))}
    return made


INNER = {
    "description": "Inner.",
    "graph": {"x": call("book", compensate=UNDOES), "y": call("look", "x"), "z": call("pay")},
}
OUTCOMES = st.dictionaries(
    st.sampled_from([f"n{n}" for n in range(8)]), st.sampled_from(FAILURES), max_size=4
)


def outcome_of(path: str, failing: dict[str, str]) -> str | None:
    """Return how a call ends: as the draw has it for its node, with all parts of a node alike."""
    return None if UNDO in path else failing.get(path.split("/")[0])


def run_through(
    plan: Plan, failing: dict[str, str], data: st.DataObject, stops: bool = False
) -> tuple[World, list[tuple[Happening, float]]]:
    """Let a run come to its end in an order that is drawn, with repetitions of what has happened."""
    world, log = World(plan), []

    def happens(happened: Happening) -> None:
        log.append((happened, world.draw))
        world.happens(happened)

    world.happens = _checked(world, world.happens)  # type: ignore[method-assign]
    world.start()
    stop_at = data.draw(st.integers(0, 6)) if stops else -1
    for step in range(200):
        if step == stop_at:
            happens(StopRequested("cancelled", "enough"))
        if not world.open:
            break
        path = data.draw(st.sampled_from(sorted(world.open)))
        command = world.open[path]
        attempt = getattr(command, "attempt", 1)
        kind = outcome_of(path, failing)
        world.open.pop(path)
        if isinstance(command, SetTimer):
            happened: Happening = TimerFired(path, attempt)
        elif kind is None:
            happened = Succeeded(path, attempt, {"of": path})
        else:
            happened = Failed(path, attempt, Failure(kind, "no"))
        happens(happened)
        if data.draw(st.integers(0, 4)) == 0:
            happens(data.draw(st.sampled_from([one for one, _ in log])))
    assert world.end is not None, f"it hangs: {world.statuses()}"
    return world, log


def _checked(world: World, happens: Any) -> Any:
    """Check after each step that nothing began before what it depends on had settled."""

    def checked(happened: Happening) -> None:
        known = len(world.begun)
        happens(happened)
        for path in world.begun[known:]:
            if UNDO in path or isinstance(world.open.get(path), SetTimer):
                continue
            node = world.plan.node(path)
            top = path if node.within is None else path.rpartition("/")[0]
            scope = top.rpartition("/")[0]
            for above in world.plan.node(top).upstream:
                upstream = above if not scope else f"{scope}/{above.rpartition('/')[2]}"
                assert world.run.nodes[upstream].status in SETTLED, (
                    f"{path} began before {upstream} had settled"
                )

    return checked


@given(graphs(), st.data())
def test_without_failures_every_order_gives_one_end_state(graph: dict[str, Any], data: st.DataObject) -> None:
    plan = a_plan(graph, inner=INNER)
    first, _ = run_through(plan, {}, data)
    second, _ = run_through(plan, {}, data)
    assert first.status == second.status == "completed"
    assert first.statuses() == second.statuses()
    assert first.end is not None
    assert second.end is not None
    assert first.end.output == second.end.output
    assert Counter(one.path for one in first.calls) == Counter(one.path for one in second.calls)
    assert not any(UNDO in one.path for one in first.calls)


@given(graphs(), OUTCOMES, st.booleans(), st.data())
def test_whatever_fails_nothing_runs_twice_and_what_was_done_is_undone_or_named(
    graph: dict[str, Any], failing: dict[str, str], stops: bool, data: st.DataObject
) -> None:
    plan = a_plan(graph, inner=INNER)
    world, _ = run_through(plan, failing, data, stops)
    end = world.end
    assert end is not None
    times = Counter((one.path, one.attempt) for one in world.calls)
    assert max(times.values(), default=0) <= 1, "an attempt is made once"
    for path, state in world.run.nodes.items():
        if state.attempt > 1:
            assert plan.node(path).node.on_error.retry >= state.attempt - 1  # type: ignore[union-attr]
    writes = {path for path in world.run.nodes if plan.is_write(path)}
    took_effect = {path for path in writes if world.run.nodes[path].status == "done"}
    undone = {one.path.removesuffix(UNDO) for one in world.calls if one.path.endswith(UNDO)}
    assert undone <= {path for path, state in world.run.nodes.items() if state.status == "done"}
    assert took_effect == {*end.standing, *end.undone}
    assert set(end.undone) == took_effect & undone
    if end.status == "compensated":
        assert not end.standing
    unknown = {path for path in writes if (failure := world.run.nodes[path].failure) and failure.is_unknown}
    assert unknown == set(end.unknown)
    assert (end.status in ("needs_review", "compensation_failed")) >= bool(unknown)


@given(graphs(), OUTCOMES, st.data())
def test_the_state_rebuilt_from_what_happened_is_the_same_after_every_event(
    graph: dict[str, Any], failing: dict[str, str], data: st.DataObject
) -> None:
    plan = a_plan(graph, inner=INNER)
    world, log = run_through(plan, failing, data)
    again = World(plan).start()
    for happened, draw in log:
        before = Run(dict(again.run.nodes), dict(again.run.scopes), dict(again.run.queues), again.run.done)
        decide_run(plan, again.run, happened, again.kept.__getitem__, draw)
        assert (again.run.nodes, again.run.scopes, again.run.queues) == (
            before.nodes,
            before.scopes,
            before.queues,
        )
        again.open.clear()
        again.happens(happened)
    assert again.run == world.run
    assert again.kept == world.kept


@given(graphs(), st.data())
def test_of_a_sequential_tool_no_two_calls_are_in_flight(graph: dict[str, Any], data: st.DataObject) -> None:
    plan = a_plan(graph, inner=INNER)
    world = World(plan).start()
    while world.open:
        in_flight = [one for one in world.open.values() if isinstance(one, CallTool) and one.tool == "slow"]
        assert len(in_flight) <= 1
        world.ok(data.draw(st.sampled_from(sorted(world.open))))
