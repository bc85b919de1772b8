"""The failure of a node: retry the node, activate its fallback, or fail its workflow. Pure."""

from antiphon_shared.workflows.nodes import CallNode, OnError, ParallelNode

from coordinator.workflows.messages import OUTCOME_UNKNOWN, TRANSIENT, Failure, SetTimer
from coordinator.workflows.state import SETTLED
from coordinator.workflows.turn import NodeFailed, ScopeFailed, Settled, Turn

_DELAY_MS_MAX = 60_000
_SPREAD = 0.5
"""Share of a delay that is random, so that many runs do not retry at the same time."""


def fail(turn: Turn, failed: NodeFailed) -> None:
    """Retry a node, activate its fallback, or fail its workflow."""
    path, failure = failed.path, failed.failure
    state, graph_node = turn.node(path), turn.plan.node(path)
    if state.status in SETTLED:
        return
    is_retried = state.owner is None and _is_retried(turn, failed)
    if state.is_unknown and not failure.is_unknown:
        message = f"{failure.message}; whether an attempt before it took effect is not known"
        failure = Failure(OUTCOME_UNKNOWN, message)
    if state.owner is not None or (graph_node.container is not None and not is_retried):
        turn.schedule(Settled(path, "failed", failure))
    elif is_retried:
        _retry(turn, path, failure)
    elif (fallback := _fallback(turn, path, failure)) is not None:
        turn.schedule(Settled(path, "failed", failure, activates=fallback))
    else:
        turn.schedule(Settled(path, "failed", failure), ScopeFailed(turn.scope_path(path), failure))


def delay_s(on_error: OnError, attempt: int, draw: float) -> float:
    """Return the seconds before the attempt that follows `attempt`, spread by a draw from 0 to 1."""
    factor: int = {"fixed": 1, "linear": attempt, "exponential": int(2 ** (attempt - 1))}[on_error.backoff]
    delay_ms = min(on_error.delay * factor, _DELAY_MS_MAX)
    return delay_ms * (1 - _SPREAD * draw) / 1000


def _is_retried(turn: Turn, failed: NodeFailed) -> bool:
    node, attempt = turn.plan.node(failed.path).node, _attempt(turn, failed.path)
    if not isinstance(node, CallNode) or node.on_error is None or not 0 < attempt <= node.on_error.retry:
        return False
    if failed.failure.is_unknown:
        return turn.plan.tool(node.call).is_idempotent
    return failed.failure.kind in TRANSIENT


def _retry(turn: Turn, path: str, failure: Failure) -> None:
    node, state = turn.plan.node(path).node, turn.node(path)
    assert isinstance(node, CallNode)
    assert node.on_error is not None, "only a node with retries is retried"
    key = state.key if turn.plan.tool(node.call).is_idempotent else 0
    turn.change(path, status="retrying", key=key, failure=failure)
    turn.remove_from_queue(node.call, path)  # others may be called during the delay
    seconds = delay_s(node.on_error, _attempt(turn, path), turn.draw)
    turn.commands.append(SetTimer(path, state.attempt, seconds=seconds))


def _attempt(turn: Turn, path: str) -> int:
    """Return the number of a node's attempt, not counting attempts before the run was resumed."""
    state = turn.node(path)
    return state.attempt - state.attempts_before


def _fallback(turn: Turn, path: str, failure: Failure) -> str | None:
    """Return the fallback to activate, if any. A fallback that ends the workflow is always possible.

    Any other fallback is refused after an unknown outcome, as it might do the work a second time, and after branches
    that are to be rolled back, as the workflow would continue with their effects.
    """
    node, fallback = turn.plan.node(path).node, turn.fallback(path)
    if fallback is None or turn.ends_workflow(fallback):
        return fallback
    is_rolled_back = isinstance(node, ParallelNode) and node.on_partial_failure == "rollback_all"
    if (is_rolled_back and turn.node(path).begun) or failure.is_unknown or _has_unknown(turn, path):
        return None
    return fallback


def _has_unknown(turn: Turn, node: str) -> bool:
    """Return whether there is an unknown outcome inside a node."""
    return any(turn.node(path).is_unknown or _has_unknown(turn, path) for path in turn.children(node))
