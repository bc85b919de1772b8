"""The stop of a workflow or container: cancel waits, let calls in flight settle, then undo the workflow. Pure."""

from antiphon_shared.workflows.nodes import CallNode, CompensateNode, ParallelNode, ReasonNode, WorkflowNode

from coordinator.workflows import ending
from coordinator.workflows.messages import OUTCOME_UNKNOWN, EndReasoning, Failure, Withdraw
from coordinator.workflows.state import IN_FLIGHT, SETTLED
from coordinator.workflows.turn import NodeFailed, ScopeFailed, Settled, Turn
from coordinator.workflows.undo import begin_undo, undoing_call

_SCOPE = "/"
"""Suffix that distinguishes the path of a scope from that of a container."""


def stop_scope(turn: Turn, failed: ScopeFailed) -> None:
    """Stop a workflow, and undo it once the calls in flight have settled."""
    scope = turn.scope(failed.scope)
    if scope.phase != "working":
        if failed.stop is not None and scope.phase != "ended":
            turn.change_scope(failed.scope, stop=scope.stop or failed.stop)
        return
    turn.change_scope(
        failed.scope,
        phase="stopping",
        failure=failed.failure,
        compensator=failed.compensator,
        stop=failed.stop,
    )
    open = _stop_inside(turn, failed.scope, failed.scope + _SCOPE)
    if turn.change_scope(failed.scope, open=open).open == 0:
        begin_undo(turn, failed.scope)


def break_off(turn: Turn, message: str) -> None:
    """End the run at once without undoing; the outcome of the writes in flight is unknown."""
    for path, state in turn.states().items():
        if state.status in SETTLED:
            continue
        if isinstance(turn.plan.node(path).node, ReasonNode):
            turn.commands.append(EndReasoning(path))
        turn.commands.append(Withdraw(path))
        if state.status in IN_FLIGHT and turn.plan.is_write(path):
            turn.change(path, status="failed", failure=Failure(OUTCOME_UNKNOWN, message))
        else:
            turn.change(path, status="stopped")
    for scope, began in turn.run.scopes.items():
        if began.phase == "undoing" and (call := undoing_call(turn, scope)) is not None:
            turn.changes.undo_failed += (call,)
        turn.change_scope(scope, phase="ended")
    ending.end(turn, "failed", failure=Failure("internal_error", message))


def stop_parts(turn: Turn, container: str, failure: Failure) -> None:
    """Stop the parts of a parallel or foreach, which fails once the calls in flight have settled."""
    turn.change(container, status="stopping", failure=failure)
    open = _stop_inside(turn, container, container)
    if turn.change(container, open=open).open == 0:
        _parts_stopped(turn, container)


def one_stopped(turn: Turn, owner: str) -> None:
    """Continue with the stopped container or scope after its last call in flight has settled."""
    if not owner.endswith(_SCOPE):
        if turn.change(owner, open=turn.node(owner).open - 1).open == 0:
            _parts_stopped(turn, owner)
        return
    scope = owner.removesuffix(_SCOPE)
    if turn.change_scope(scope, open=turn.scope(scope).open - 1).open == 0:
        begin_undo(turn, scope)


def _parts_stopped(turn: Turn, container: str) -> None:
    """Fail a container, or activate the compensate node for its failure."""
    node, failure = turn.plan.node(container).node, turn.node(container).failure
    assert failure is not None, "a stopped container has a failure"
    if isinstance(node, ParallelNode) and node.on_partial_failure not in ("abort", "continue"):
        target = turn.neighbour(container, node.on_partial_failure)
        if target in turn.neighbours(container, turn.plan.node(container).activates):
            turn.schedule(Settled(container, "failed", failure, activates=target))
            return
    turn.schedule(NodeFailed(container, failure))


def _stop_inside(turn: Turn, scope: str, owner: str) -> int:
    """Stop all nodes within a scope or container, and return the number of calls to wait for."""
    return sum(_stop(turn, path, owner) for path in turn.children(scope))


def _stop(turn: Turn, path: str, owner: str) -> int:
    state, node = turn.node(path), turn.plan.node(path).node
    if isinstance(node, CallNode) and state.status in ("queued", "retrying"):
        turn.remove_from_queue(node.call, path)
        if state.status == "retrying":
            turn.commands.append(Withdraw(path))
        turn.change(path, status="stopped")
        return 0
    if state.status not in IN_FLIGHT or isinstance(node, CompensateNode):
        return 0
    if isinstance(node, ReasonNode):
        turn.commands.append(EndReasoning(path))
    if isinstance(node, CallNode | ReasonNode):
        turn.change(path, status="stopping", owner=owner)
        return 1
    if isinstance(node, WorkflowNode):
        return _stop_workflow(turn, path, owner)
    turn.commands.append(Withdraw(path))
    turn.change(path, status="stopped")
    return _stop_inside(turn, path, owner)


def _stop_workflow(turn: Turn, path: str, owner: str) -> int:
    """Stop a sub-workflow, which undoes itself, unless the scope around it is undone as a whole."""
    scope = turn.begun_scope(path)
    if scope is None or scope.phase == "ended":
        return 0  # it was skipped, failed or done in this decision: the end of its node is on the agenda
    turn.commands.append(Withdraw(path))
    if scope.phase == "working" and owner.endswith(_SCOPE):
        turn.change(path, status="stopped")
        turn.change_scope(path, phase="ended")
        return _stop_inside(turn, path, owner)
    turn.change(path, status="stopping")
    turn.change_scope(path, owner=owner)
    if scope.phase == "working":
        stop_scope(turn, ScopeFailed(path, Failure("stopped", f"`{path}` was stopped")))
    return 1
