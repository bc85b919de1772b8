"""A run that has ended goes on: what was done stays done, what failed or was not reached runs. Pure.

The workflow begins again, and each node that was done ends as soon as it is reached, with the result and the place in
the order that it had. So whatever had been decided about the rest is decided anew.
"""

from dataclasses import replace

from antiphon_shared.events.session import RunStatus
from antiphon_shared.workflows.nodes import BranchNode, CallNode

from coordinator.workflows.begin import open_scope
from coordinator.workflows.messages import Failure, OutcomeFound
from coordinator.workflows.names import PARAMS
from coordinator.workflows.plan import parent_of
from coordinator.workflows.state import NodeState, Run
from coordinator.workflows.turn import Settled, Turn

RESUMABLE: tuple[RunStatus, ...] = ("failed", "timed_out", "needs_review")


def may_resume(run: Run) -> bool:
    """Return whether a run can go on: it has failed, nothing was undone, and no outcome is unknown any more."""
    if run.ended not in RESUMABLE or "" not in run.scopes:
        return False
    around = {parent_of(path) for path in run.nodes}  # they say what a part of theirs has failed of
    return not any(
        one.undo_began or (one.failure is not None and one.failure.is_unknown and path not in around)
        for path, one in run.nodes.items()
    )


def find_outcome(turn: Turn, found: OutcomeFound) -> None:
    """Note what a person has found out about a write of unknown outcome."""
    state = turn.run.nodes.get(found.path)
    if state is None or state.failure is None or not state.failure.is_unknown:
        return
    if not isinstance(turn.plan.node(found.path).node, CallNode):
        return  # of its parts one is a call, whose outcome that is
    if found.happened:
        turn.done += 1
        turn.keep(found.path, found.value)
        turn.change(found.path, status="done", failure=None, order=turn.done)
    else:
        turn.change(found.path, failure=Failure("no_effect", "a person has found that it had no effect"))


def resume(turn: Turn) -> None:
    """Begin again what was not done. Only for a run that may resume."""
    turn.ended = None
    run = turn.run
    for path, state in run.nodes.items():
        if _lies_in_done(run, path):
            continue
        if state.status == "done":
            turn.earlier[path] = state
        node = turn.plan.node(path)
        turn.nodes[path] = NodeState(
            "pending",
            unsettled=len(node.upstream),
            activators=len(node.activated_by),
            attempt=state.attempt,
        )
    for tool, queue in run.queues.items():
        turn.queues[tool] = dict.fromkeys(queue, False)
    turn.undo.update(dict.fromkeys(run.undo, ()))
    open_scope(turn, "", turn.value(PARAMS))


def restore(turn: Turn, path: str, earlier: NodeState) -> None:
    """End a node that was done before, as it has ended then."""
    turn.nodes[path] = replace(earlier, status="active")
    is_branch = isinstance(turn.plan.node(path).node, BranchNode)
    chosen = turn.value(path) if is_branch else None
    activates = turn.neighbour(path, chosen) if chosen is not None else None
    turn.then(Settled(path, "done", activates=activates))


def _lies_in_done(run: Run, path: str) -> bool:
    while path := parent_of(path):
        around = run.nodes.get(path)
        if around is not None and around.status == "done":
            return True
    return False
