"""The end of a node: the effect on its dependents, its container and its workflow. Pure."""

from antiphon_shared.workflows.nodes import CallNode, ForeachNode, Node, ParallelNode

from coordinator.workflows.messages import Failure
from coordinator.workflows.plan import parent_of
from coordinator.workflows.state import SETTLED, NodeState
from coordinator.workflows.stopping import stop_parts
from coordinator.workflows.turn import Begin, NodeFailed, OneStopped, ScopeDone, Settled, Turn


def settle(turn: Turn, settled: Settled) -> None:
    """Store how a node has ended, and put the consequences on the agenda."""
    path, status = settled.path, settled.status
    before = turn.node(path)
    if before.status in SETTLED:
        return
    if status == "done" and not before.is_done:
        turn.changes.done += 1
        turn.change(path, order=turn.changes.done)
    turn.change(path, status=status, failure=settled.failure, owner=None)
    node = turn.plan.node(path)
    if isinstance(node.node, CallNode):
        turn.remove_from_queue(node.node.call, path)
    if before.owner is not None:
        turn.schedule(OneStopped(before.owner))
    elif node.container is not None:
        _settle_part(turn, parent_of(path), path)
    else:
        _settle_neighbours(turn, settled)
        scope = turn.scope_path(path)
        if turn.change_scope(scope, left=turn.scope(scope).left - 1).left == 0:
            turn.schedule(ScopeDone(scope))


def _settle_neighbours(turn: Turn, settled: Settled) -> None:
    path, node = settled.path, turn.plan.node(settled.path)
    is_done = settled.status == "done"
    for below in turn.neighbours(path, node.downstream):
        state = turn.node(below)
        state = turn.change(below, unsettled=state.unsettled - 1, has_success=state.has_success or is_done)
        _begin_or_skip(turn, below, state)
    for target in turn.neighbours(path, node.activates):
        state = turn.node(target)
        is_activated = state.is_activated or target == settled.activates
        state = turn.change(target, activators=state.activators - 1, is_activated=is_activated)
        _begin_or_skip(turn, target, state)


def _begin_or_skip(turn: Turn, path: str, state: NodeState) -> None:
    """Begin a pending node, or skip it, once all nodes that decide about it have settled."""
    if state.status != "pending":
        return
    waits = turn.plan.node(path).waits_for_activation
    if waits and not state.is_activated:
        if state.activators == 0:
            turn.schedule(Settled(path, "skipped"))
    elif state.unsettled == 0:
        turn.schedule(Begin(path))


def _settle_part(turn: Turn, container: str, path: str) -> None:
    state, node, part = turn.node(container), turn.plan.node(container).node, turn.node(path)
    if state.status != "active":
        return
    state = turn.change(container, open=state.open - 1, succeeded=state.succeeded + (part.status == "done"))
    if part.status == "failed" and _stops_others(node):
        stop_parts(turn, container, _failure_of(path, part))
    elif state.begun < state.size:  # of a foreach: all branches of a parallel begin at once
        turn.change(container, begun=state.begun + 1, open=state.open + 1)
        turn.schedule(Begin(f"{container}/{state.begun}"))
    elif state.open == 0:
        failed = [one for one in turn.part_paths(container) if turn.node(one).status == "failed"]
        if isinstance(node, ParallelNode) and failed and not state.succeeded:
            turn.schedule(NodeFailed(container, _failure_of(failed[0], turn.node(failed[0]))))
        else:
            turn.succeed_by_parts(container)


def _stops_others(node: Node) -> bool:
    """Return whether the failure of a part stops the other parts."""
    if isinstance(node, ParallelNode):
        return node.on_partial_failure != "continue"
    return isinstance(node, ForeachNode) and node.on_item_error == "fail"


def _failure_of(path: str, part: NodeState) -> Failure:
    assert part.failure is not None, "a failed node has a failure"
    return Failure(part.failure.kind, f"`{path}`: {part.failure.message}")
