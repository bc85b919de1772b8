"""Random graphs with events in any order: no node runs early, twice or never, and undoing is exact."""

from collections import Counter
from typing import Any

from antiphon_shared.workflows.graph import UNDO
from hypothesis import given
from hypothesis import strategies as st

from coordinator.workflows.decide import decide_run
from coordinator.workflows.messages import (
    CallTool,
    Failed,
    Failure,
    GraphEvent,
    Resumed,
    SetTimer,
    StopRequested,
    Succeeded,
    TimerFired,
)
from coordinator.workflows.plan import Plan
from coordinator.workflows.state import SETTLED, Run
from tests.coordinator.workflows.drawn import FAILURES, WORKFLOWS, graphs
from tests.coordinator.workflows.world import World, a_plan

OUTCOMES = st.dictionaries(
    st.sampled_from(
        [*(f"n{n}" for n in range(8)), *("/" + name for name in ("x", "y", "z", "0", "1", "b")), UNDO]
    ),
    st.sampled_from(FAILURES),
    max_size=4,
)


def outcome_of(path: str, failing: dict[str, str]) -> str | None:
    """Return how a call ends, as drawn for its node, for the last part of its path, or for its compensation."""
    if UNDO in path:
        return failing.get(UNDO)
    return failing.get("/" + path.rpartition("/")[2]) or failing.get(path.split("/")[0])


def run_through(
    plan: Plan, failing: dict[str, str], data: st.DataObject, stops: bool = False
) -> tuple[World, list[tuple[GraphEvent, float]]]:
    """Bring a run to its end in a drawn order, with timeouts and repeated events."""
    world, log = World(plan), []

    def happens(graph_event: GraphEvent) -> None:
        log.append((graph_event, world.draw))
        world.happens(graph_event)

    world.happens = _checked(world, world.happens)  # type: ignore[method-assign]  # each step is checked
    world.start()
    stop_at = data.draw(st.integers(0, 20)) if stops else -1
    for step in range(1000):
        if step == stop_at:
            happens(StopRequested("cancelled", "enough"))
        if not world.open:
            break
        path = data.draw(st.sampled_from(sorted(world.open)))
        happens(answer(world, path, failing))
        late = [one for one, _ in log]
        if stops or failing:
            late += [TimerFired(timer.path, 0) for timer in world.timers if timer.attempt == 0]
        if data.draw(st.integers(0, 4)) == 0:
            happens(data.draw(st.sampled_from(late)))
    assert world.end is not None, f"it hangs: {world.statuses()}"
    return world, log


def answer(world: World, path: str, failing: dict[str, str]) -> GraphEvent:
    """Answer the open call at a path as drawn."""
    command = world.open.pop(path)
    attempt, kind = getattr(command, "attempt", 1), outcome_of(path, failing)
    if isinstance(command, SetTimer):
        return TimerFired(path, attempt)
    if kind is None:
        return Succeeded(path, attempt, {"of": path})
    return Failed(path, attempt, Failure(kind, "no"))


def _checked(world: World, happens: Any) -> Any:
    """Check the order of each step.

    A node begins after its dependencies have settled, and not in a stopped workflow. Calls of a sequential-only tool
    do not overlap. A sub-workflow is undone before its node has failed.
    """

    def checked(graph_event: GraphEvent) -> None:
        known = len(world.begun)
        stopped = {path for path, scope in world.run.scopes.items() if scope.phase != "working"}
        if isinstance(graph_event, Resumed):
            stopped.clear()
        stopped -= {path for path in stopped if path and world.run.nodes[path].status == "pending"}
        happens(graph_event)
        in_flight = [one for one in world.open.values() if isinstance(one, CallTool) and one.tool == "slow"]
        assert len(in_flight) <= 1
        for path in world.begun[known:]:
            if UNDO in path or isinstance(world.open.get(path), SetTimer):
                continue
            node = world.plan.node(path)
            top = path if node.container is None else path.rpartition("/")[0]
            scope = top.rpartition("/")[0]
            assert scope not in stopped, f"{path} began though its workflow had been stopped"
            for above in world.plan.node(top).upstream:
                upstream = above if not scope else f"{scope}/{above.rpartition('/')[2]}"
                assert world.run.nodes[upstream].status in SETTLED, (
                    f"{path} began before {upstream} had settled"
                )
        _check_sub_workflows(world)

    return checked


def _check_sub_workflows(world: World) -> None:
    """Check that a failed sub-workflow undoes its nodes, or tries to, before its caller continues."""
    for path, scope in world.run.scopes.items():
        if not path or world.run.nodes[path].status != "failed":
            continue
        assert scope.phase == "ended"
        for inner, state in world.run.nodes.items():
            if inner.startswith(f"{path}/"):
                assert state.status not in ("active", "queued", "retrying", "stopping"), inner
                has_undo = (
                    inner not in world.found
                    and getattr(world.plan.node(inner).node, "compensate", None) is not None
                )
                assert state.status != "done" or not has_undo or state.undo_began, inner


@given(graphs(), st.data())
def test_without_failures_every_order_gives_one_end_state(graph: dict[str, Any], data: st.DataObject) -> None:
    plan = a_plan(graph, **WORKFLOWS)
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
def test_a_run_with_any_failures_runs_nothing_twice_and_undoes_or_names_every_write(
    graph: dict[str, Any], failing: dict[str, str], stops: bool, data: st.DataObject
) -> None:
    plan = a_plan(graph, **WORKFLOWS)
    world, _ = run_through(plan, failing, data, stops)
    end = world.end
    assert end is not None
    times = Counter((one.path, one.attempt) for one in world.calls)
    assert max(times.values(), default=0) <= 1, "an attempt is made once"
    for path, state in world.run.nodes.items():
        assert state.status not in ("active", "queued", "retrying", "stopping")
        if state.attempt > 1:
            assert plan.node(path).node.on_error.retry >= state.attempt - 1  # type: ignore[union-attr]  # only calls are retried
    assert not any(world.run.queues.values())
    check_writes(world)


def check_writes(world: World) -> None:
    """Check that the end of a run names each write, and says the truth about it."""
    plan, end = world.plan, world.end
    assert end is not None
    writes = {path for path in world.run.nodes if plan.is_write(path)}
    took_effect = {path for path in writes if world.run.nodes[path].is_done}
    assert took_effect == {*end.standing, *end.undone}
    done = {path for path, state in world.run.nodes.items() if state.is_done}
    own = {one.path.removesuffix(UNDO) for one in world.calls if one.path.endswith(UNDO)}
    assert own <= done, "only completed nodes are undone"
    if end.status == "compensated":
        assert not end.standing
    unknown = {path for path in writes if (failure := world.run.nodes[path].failure) and failure.is_unknown}
    assert unknown == set(end.unknown)
    assert (end.status in ("needs_review", "compensation_failed")) >= bool(unknown)


@given(graphs(), OUTCOMES, st.data())
def test_the_state_rebuilt_from_the_log_is_the_same_after_every_event(
    graph: dict[str, Any], failing: dict[str, str], data: st.DataObject
) -> None:
    plan = a_plan(graph, **WORKFLOWS)
    world, log = run_through(plan, failing, data)
    again = World(plan).start()
    for graph_event, draw in log:
        before = Run(
            dict(again.run.nodes), dict(again.run.scopes), dict(again.run.queues), done=again.run.done
        )
        decide_run(plan, again.run, graph_event, again.kept.__getitem__, draw)
        assert (again.run.nodes, again.run.scopes, again.run.queues) == (
            before.nodes,
            before.scopes,
            before.queues,
        )
        again.open.clear()
        again.happens(graph_event)
    assert again.run == world.run
    assert again.kept == world.kept
