"""The decision on one event of a run. Pure.

A decision reads the node of the event and the nodes that depend on it, so that its cost grows with the edges of the
changed nodes. The decision to fail or end a run reads every node that has begun, once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from antiphon_shared.workflows.graph import UNDO
from antiphon_shared.workflows.nodes import (
    CallNode,
    ReasonNode,
    WaitNode,
    WorkflowNode,
    YieldNode,
)

from coordinator.workflows import begin, ending, failing, resuming, settle, stopping, undo
from coordinator.workflows.messages import (
    BrokenOff,
    Command,
    End,
    Failed,
    Failure,
    GraphEvent,
    OutcomeFound,
    Resumed,
    Started,
    StopRequested,
    Succeeded,
    TimerFired,
    Withdraw,
)
from coordinator.workflows.plan import Plan
from coordinator.workflows.state import IN_FLIGHT, Run
from coordinator.workflows.turn import (
    Begin,
    NodeFailed,
    OneStopped,
    ScopeDone,
    ScopeFailed,
    Settled,
    Step,
    Turn,
)


class UnfitParams(ValueError):
    """Raised when a run cannot begin with its params; the message names the param."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The changes of a run, and the commands to carry out."""

    changes: Run
    commands: tuple[Command, ...]


def decide_run(
    plan: Plan, run: Run, graph_event: GraphEvent, read_value: Callable[[str], Any], draw: float = 0.0
) -> Decision:
    """Return the changes and commands after an event. Both are empty if it is late, repeated or after the end.

    Args:
        plan: The run's workflow.
        run: The current state of the run; it is not changed.
        graph_event: The event to decide on.
        read_value: Returns the value of an earlier KeepValue by its key.
        draw: A number from 0 to 1, recorded with the event; it spreads retries.

    Raises:
        UnfitParams: The run cannot begin.
    """
    changes = Run(done=run.done, undo_failed=run.undo_failed, ended=run.ended)
    turn = Turn(plan, run, read_value, draw, changes)
    if run.ended is None:
        _take(turn, graph_event)
    elif isinstance(graph_event, OutcomeFound):
        resuming.find_outcome(turn, graph_event)
    elif isinstance(graph_event, Resumed) and resuming.may_resume(plan, run):
        resuming.resume(turn)
    while turn.agenda and changes.ended is None:
        _work(turn, turn.agenda.popleft())
    return Decision(changes, tuple(turn.commands))


def _take(turn: Turn, graph_event: GraphEvent) -> None:
    match graph_event:
        case Started() if "" in turn.run.scopes:
            pass
        case Started(params=values):
            params, problem = begin.checked_params(turn.plan.scope("").workflow.params, dict(values))
            if problem:
                raise UnfitParams(problem)
            begin.open_scope(turn, "", params)
        case StopRequested(status=status) if "" not in turn.run.scopes:
            turn.changes.ended = status  # no node has begun
            turn.commands.append(End(status, failure=Failure(status, graph_event.message)))
        case StopRequested(status=status, message=message):
            turn.schedule(ScopeFailed("", Failure(status, message), stop=status))
        case BrokenOff(message=message):
            stopping.break_off(turn, message)
        case Succeeded() | Failed() if UNDO in graph_event.path:
            undo.undo_settled(turn, graph_event)
        case Succeeded(path=path, attempt=attempt, value=value):
            if _is_awaited(turn, path, attempt):
                turn.succeed(path, value)
        case Failed(path=path, attempt=attempt, failure=failure):
            if _is_awaited(turn, path, attempt):
                turn.schedule(NodeFailed(path, failure))
        case TimerFired(path=path, attempt=attempt):
            _on_timer(turn, path, attempt)


def _is_awaited(turn: Turn, path: str, attempt: int) -> bool:
    """Return whether a result belongs to the attempt in flight."""
    state = turn.run.nodes.get(path)
    if state is None or state.status not in IN_FLIGHT or state.attempt != attempt:
        return False
    return isinstance(turn.plan.node(path).node, CallNode | ReasonNode | YieldNode)


def _on_timer(turn: Turn, path: str, attempt: int) -> None:
    state = turn.run.nodes.get(path)
    if state is None or state.status not in ("retrying", "active"):
        return
    node = turn.plan.node(path).node
    if state.status == "retrying":
        if attempt == state.attempt:
            turn.schedule(Begin(path))
    elif attempt > 0 and attempt == state.attempt and isinstance(node, WaitNode):
        turn.succeed(path, None)
    elif attempt == 0 and isinstance(node, begin.TimedNode) and node.timeout_s is not None:
        failure = Failure("timeout", f"`{path}` took longer than {node.timeout_s:g} seconds")
        if isinstance(node, WorkflowNode):
            turn.schedule(ScopeFailed(path, failure))
        elif isinstance(node, WaitNode):
            turn.commands.append(Withdraw(path))
            turn.schedule(NodeFailed(path, failure))
        else:
            stopping.stop_parts(turn, path, failure)


def _work(turn: Turn, step: Step) -> None:
    match step:
        case Begin(path=path) if UNDO in path:
            undo.make_next(turn, path)
        case Begin(path=path) if resuming.has_ended_before(turn.node(path)) and begin.may_begin(turn, path):
            resuming.restore(turn, path)
        case Begin(path=path):
            begin.begin(turn, path)
        case NodeFailed():
            failing.fail(turn, step)
        case Settled():
            settle.settle(turn, step)
        case ScopeDone():
            ending.complete(turn, step)
        case ScopeFailed():
            stopping.stop_scope(turn, step)
        case OneStopped(owner=owner):
            stopping.one_stopped(turn, owner)
