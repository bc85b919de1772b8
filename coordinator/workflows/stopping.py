"""Nothing new begins: calls in flight are waited for, waits are withdrawn, then it goes on to undo or to fail. Pure."""

from antiphon_shared.workflows.nodes import CallNode, CompensateNode, ParallelNode, ReasonNode

from coordinator.workflows.messages import Failure, Withdraw
from coordinator.workflows.plan import join
from coordinator.workflows.turn import NodeFailed, ScopeFailed, Settled, Turn
from coordinator.workflows.undo import begin_undo

_SCOPE = "/"
"""Behind the path of a scope, where it is told from that of a container."""


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
    open = _stop(turn, failed.scope, failed.scope + _SCOPE)
    if turn.change_scope(failed.scope, open=open).open == 0:
        begin_undo(turn, failed.scope)


def stop_parts(turn: Turn, container: str, failure: Failure) -> None:
    """Stop the parts of a parallel or foreach, which fails once the calls in flight have settled."""
    turn.change(container, status="stopping", failure=failure)
    open = _stop(turn, container, container)
    if turn.change(container, open=open).open == 0:
        _parts_stopped(turn, container)


def one_stopped(turn: Turn, owner: str) -> None:
    """Go on with what has stopped, once the last call in flight has settled."""
    if not owner.endswith(_SCOPE):
        if turn.change(owner, open=turn.node(owner).open - 1).open == 0:
            _parts_stopped(turn, owner)
        return
    scope = owner.removesuffix(_SCOPE)
    if turn.change_scope(scope, open=turn.scope(scope).open - 1).open == 0:
        begin_undo(turn, scope)


def _parts_stopped(turn: Turn, container: str) -> None:
    """Fail a container, or activate the compensate node that stands for its failure."""
    node, failure = turn.plan.node(container).node, turn.node(container).failure
    assert failure is not None, "it was stopped for a reason"
    if isinstance(node, ParallelNode) and node.on_partial_failure not in ("abort", "continue"):
        target = join(turn.scope_path(container), node.on_partial_failure)
        if target in turn.neighbours(container, turn.plan.node(container).activates):
            turn.then(Settled(container, "failed", failure, activates=target))
            return
    turn.then(NodeFailed(container, failure))


def _stop(turn: Turn, within: str, owner: str) -> int:
    """Stop all that lies within a path, and return how many calls are waited for."""
    prefix = f"{within}/" if within else ""
    waited = 0
    for path, state in turn.states().items():
        if not path.startswith(prefix) or isinstance(turn.plan.node(path).node, CompensateNode):
            continue
        if state.status == "queued":
            turn.leave_queue(path)
            turn.change(path, status="stopped")
        elif state.status == "retrying":
            turn.commands.append(Withdraw(path))
            turn.change(path, status="stopped")
        elif state.status in ("active", "stopping"):
            if isinstance(turn.plan.node(path).node, CallNode | ReasonNode):
                turn.change(path, status="stopping", owner=owner)
                waited += 1
            else:
                turn.commands.append(Withdraw(path))
                turn.change(path, status="stopped")
    return waited + _stop_scopes(turn, prefix, owner)


def _stop_scopes(turn: Turn, prefix: str, owner: str) -> int:
    """Stop the workflows inside, and return how many are waited for, since they are being undone."""
    waited = 0
    for path, scope in {**turn.run.scopes, **turn.scopes}.items():
        if not path or not path.startswith(prefix) or f"{path}{_SCOPE}" == owner:
            continue
        if scope.phase == "undoing":
            turn.change_scope(path, owner=owner)
            waited += 1
        elif scope.phase != "ended":
            turn.change_scope(path, phase="ended")
    return waited
