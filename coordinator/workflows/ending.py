"""The end of a run, and the output of a workflow. Pure."""

from typing import Any

from antiphon_shared.events.session import RunStatus
from antiphon_shared.workflows.references import UNRESOLVED, resolve

from coordinator.workflows.messages import End, Failure
from coordinator.workflows.names import Names
from coordinator.workflows.plan import around, instance, last_part, template_of
from coordinator.workflows.turn import ScopeDone, ScopeFailed, Turn

_RANKS: tuple[RunStatus, ...] = (
    "completed",
    "failed",
    "compensated",
    "cancelled",
    "timed_out",
    "needs_review",
    "compensation_failed",
)


def complete(turn: Turn, done: ScopeDone) -> None:
    """End a workflow whose nodes have all settled; fail it when its output cannot be made."""
    if turn.scope(done.scope).phase != "working":
        return
    try:
        output = _output(turn, done.scope)
    except UNRESOLVED as error:
        turn.schedule(ScopeFailed(done.scope, Failure("reference_missing", f"output: {error}")))
        return
    turn.change_scope(done.scope, phase="ended")
    if done.scope:
        turn.succeed(done.scope, output)
    else:
        end(turn, "completed", output)


def end(turn: Turn, status: RunStatus, output: Any = None, failure: Failure | None = None) -> None:
    """End the run with the last status in `_RANKS` that applies, and with the outcome of every write."""
    states = turn.states()
    writes = [path for path in states if turn.plan.is_write(path)]
    done = sorted((path for path in writes if states[path].is_done), key=lambda one: states[one].order)
    undone = tuple(path for path in done if any(turn.node(one).is_undone for one in (path, *around(path))))
    in_effect = tuple(path for path in done if path not in set(undone))
    unknown = tuple(path for path in writes if states[path].is_unknown)
    applies: list[RunStatus] = [status]
    if status == "failed" and not in_effect and (undone or turn.scope("").compensator is not None):
        applies.append("compensated")
    if status == "failed" and (stop := turn.scope("").stop) is not None:
        applies.append(stop)
    if unknown:
        applies.append("needs_review")
    if turn.changes.undo_failed:
        applies.append("compensation_failed")
    last = max(applies, key=_RANKS.index)
    turn.changes.ended = last
    turn.commands.append(End(last, output, failure, in_effect, unknown, undone))


def _output(turn: Turn, scope: str) -> Any:
    graph_scope, template = turn.plan.scope(scope), template_of(scope)
    if graph_scope.workflow.output is not None:
        return resolve(graph_scope.workflow.output, Names(turn, scope))
    last = {one: instance(one, template, scope) for one in graph_scope.last}
    done = {last_part(one): path for one, path in last.items() if turn.node(path).status == "done"}
    if template in turn.plan.with_one_last:
        return turn.value(next(iter(done.values()))) if done else None
    return {id: turn.value(path) for id, path in done.items()}
