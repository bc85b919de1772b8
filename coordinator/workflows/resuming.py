"""The resumption of a run that has ended: finished nodes stay done, and the others run. Pure.

The workflow begins again. A completed node, or a failed node whose fallback replaced it, ends as soon as it is
reached, with its earlier result and its number in the order of completion. Until then it is pending, and its
state holds how it ended, as it may be reached many decisions later. All other decisions are made again.
"""

from dataclasses import replace

from antiphon_shared.events.session import RunStatus
from antiphon_shared.workflows.nodes import BranchNode, has_retries

from coordinator.workflows.begin import open_scope
from coordinator.workflows.messages import Failure, OutcomeFound
from coordinator.workflows.names import PARAMS
from coordinator.workflows.plan import Plan, around
from coordinator.workflows.state import NodeState, Run
from coordinator.workflows.turn import Settled, Turn

RESUMABLE: tuple[RunStatus, ...] = ("failed", "timed_out", "needs_review")
NO_EFFECT = "no_effect"
"""The kind of failure of a write that had no effect, according to a person."""


def may_resume(plan: Plan, run: Run) -> bool:
    """Return whether a run can be resumed: it failed, nothing was undone, and every write's outcome is known."""
    if run.ended not in RESUMABLE or "" not in run.scopes:
        return False
    return not any(
        one.undo_began or (one.is_unknown and plan.is_write(path)) for path, one in run.nodes.items()
    )


def find_outcome(turn: Turn, event: OutcomeFound) -> None:
    """Note a person's finding about a write of unknown outcome."""
    state = turn.run.nodes.get(event.path)
    if state is None or not state.is_unknown or not turn.plan.is_write(event.path):
        return
    if event.happened:
        turn.changes.done += 1
        turn.store_value(event.path, event.value)
        turn.change(event.path, status="done", failure=None, order=turn.changes.done)
    else:
        turn.change(event.path, failure=Failure(NO_EFFECT, "a person has found that it had no effect"))


def resume(turn: Turn) -> None:
    """Begin the unfinished nodes again. Only for a run that may be resumed."""
    run, changes = turn.run, turn.changes
    changes.ended = None
    finished = {path for path in run.nodes if _is_finished(turn, path)}
    for path, state in run.nodes.items():
        if any(one in finished for one in around(path)):
            continue
        node = turn.plan.node(path)
        before = state.attempt if has_retries(node.node) else 0
        fresh = NodeState("pending", attempt=state.attempt, attempts_before=before, size=state.size)
        changes.nodes[path] = replace(
            state if path in finished else fresh,
            status="pending",
            unsettled=len(node.upstream),
            activators=len(node.activated_by),
            has_success=False,
            is_activated=False,
            owner=None,
        )
    for tool, queue in run.queues.items():
        changes.queues[tool] = dict.fromkeys(queue, False)
    changes.undo.update(dict.fromkeys(run.undo, ()))
    open_scope(turn, "", turn.value(PARAMS))


def has_ended_before(state: NodeState) -> bool:
    """Return whether a pending node of a resumed run is finished, and so ends as before."""
    return state.status == "pending" and (state.is_done or state.failure is not None)


def restore(turn: Turn, path: str) -> None:
    """End a node as it ended before the run was resumed."""
    state, node = turn.change(path, status="active"), turn.plan.node(path).node
    if state.failure is not None:
        target = _fallback(turn, path)
        turn.schedule(Settled(path, "failed", state.failure, activates=target))
        return
    chosen = turn.value(path) if isinstance(node, BranchNode) else None
    activates = turn.neighbour(path, chosen) if chosen is not None else None
    turn.schedule(Settled(path, "done", activates=activates))


def _is_finished(turn: Turn, path: str) -> bool:
    """Return whether a node succeeded, or its fallback replaced it, so that its work is not repeated."""
    state, fallback = turn.run.nodes[path], _fallback(turn, path)
    if state.is_done or has_ended_before(state):
        return True
    failure, target = state.failure, turn.run.nodes.get(fallback or "")
    if state.status != "failed" or failure is None or failure.is_unknown or failure.kind == NO_EFFECT:
        return False
    return target is not None and target.is_activated and target.status != "skipped"


def _fallback(turn: Turn, path: str) -> str | None:
    """Return the fallback that does the work of a node, unless it ends the workflow."""
    fallback = turn.fallback(path)
    return None if fallback is None or turn.ends_workflow(fallback) else fallback
