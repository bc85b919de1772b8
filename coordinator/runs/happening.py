"""The meaning of an event for the graph of a run.

Pure. A late event, or an event that no node waits for, is ignored.
"""

from antiphon_shared.bus.handling import CancelTimer
from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    CancellationRequested,
    ChildEnded,
    ComponentFailed,
    DeadlineReached,
    InputGiven,
    InputRefused,
    NodeDue,
    OutcomeSettled,
    PersonOverdue,
    ResumeRequested,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.process.ids import child_session_id
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.values import LogEntry
from antiphon_shared.workflows.nodes import YieldNode

from coordinator.decision import LoggedEvent
from coordinator.runs.children import reasoned
from coordinator.runs.commands import request_call, timer_of
from coordinator.runs.making import UNKNOWN_READ, UNKNOWN_WRITE, Making
from coordinator.runs.state import Open, OpenKind
from coordinator.workflows.begin import checked_params
from coordinator.workflows.messages import (
    Failed,
    Failure,
    Happening,
    OutcomeFound,
    Resumed,
    StopRequested,
    Succeeded,
    TimerFired,
)

REASON_CHARACTERS = 300


def happening_of(
    making: Making, event: AnyEvent, log_entry: LogEntry, needed: LoggedEvent | None
) -> Happening | None:
    """Return the meaning of an event for the graph, or None. The request that the event answers is closed."""
    match event.data:
        case ToolsCompleted(round=number, results=(result, *_)) if found := _open(making, number, "call"):
            return _called(making, *found, result, log_entry)
        case ChildEnded(round=number, response=response) if (
            found := _open(making, number, "reason")
        ) and response.session_id == child_session_id(making.pinned.run_id, number):
            making.logged[found[0]] = log_entry
            return reasoned(making, *found, response)
        case NodeDue(node=path, attempt=attempt):
            return _timer_elapsed(making, path, attempt)
        case InputGiven(round=number) as given if found := _open(making, number, "person"):
            return _accept_values(making, *found, given)
        case ApprovalDecided(round=number) as decided if found := _open(making, number, "approval"):
            return _decided(making, *found, decided, log_entry)
        case PersonOverdue(round=number) if found := _open(making, number, "approval"):
            path, waiting = found
            making.open[path] = None
            if _is_stopped(making, path):
                return _not_made(path, waiting)
            message = "a person has to approve it, and nobody decided in time"
            return Failed(path, waiting.attempt, Failure("permission_denied", message))
        case DeadlineReached() if making.state.working_since is not None:
            limit_s = making.pinned.opened.timeout_s
            return StopRequested("timed_out", f"the run has worked for longer than {limit_s:g} seconds")
        case CancellationRequested(reason=reason):
            reason_line = one_line(reason, REASON_CHARACTERS)
            return StopRequested(
                "cancelled", f"somebody cancelled it{f': {reason_line}' if reason_line else ''}"
            )
        case OutcomeSettled(node=path, happened=happened, result=result):
            return OutcomeFound(path, happened, result)
        case ResumeRequested():
            making.worked_s = 0.0
            return Resumed()
        case ComponentFailed() as failed:
            return _failed(making, failed, needed)
    return None


def _open(making: Making, number: int, kind: OpenKind) -> tuple[str, Open] | None:
    path = making.state.paths.get(number)
    if path is None or (found := making.state.open[path]).kind != kind:
        return None
    return path, found


def _called(making: Making, path: str, open: Open, result: ToolResult, log_entry: LogEntry) -> Happening:
    making.open[path] = None
    tool = making.pinned.opened.tools.get(result.tool, UNKNOWN_READ)
    if result.error is not None:
        error = result.error
        is_lost_read = error.error_type == "outcome_unknown" and not tool.is_write
        kind = "api_failure" if is_lost_read else error.error_type  # a read has no outcome to be settled
        return Failed(path, open.attempt, Failure(kind, error.message))
    making.logged[path] = log_entry
    if result.handle:
        making.wholes[path] = result.handle
    making.has_untrusted = making.has_untrusted or tool.is_open_world
    if result.tool not in making.state.succeeded:
        making.succeeded = (result.tool,)
    return Succeeded(path, open.attempt, result.data)


def _timer_elapsed(making: Making, path: str, attempt: int) -> Happening | None:
    if attempt == 0:
        return TimerFired(path, 0)
    open = making.state.open.get(path)
    if open is None or open.attempt != attempt or open.kind not in ("timer", "person"):
        return None
    making.open[path] = None
    if isinstance(making.pinned.plan.node(path).node, YieldNode):
        return Failed(path, attempt, Failure("timeout", "nobody gave the values in time"))
    return TimerFired(path, attempt)


def _accept_values(making: Making, path: str, open: Open, given: InputGiven) -> Happening | None:
    """Accept values for a node, or refuse values that do not fit and continue to wait."""
    node = making.pinned.plan.node(path).node
    assert isinstance(node, YieldNode), "only it waits for values"
    values, problem = checked_params(node.expects, given.values)
    if problem:
        making.events.append(InputRefused(round=open.number, because=problem))
        return None
    making.open[path] = None
    making.timers.append(CancelTimer(timer_of(path)))
    return Succeeded(path, open.attempt, values)


def _decided(
    making: Making, path: str, open: Open, decided: ApprovalDecided, log_entry: LogEntry
) -> Happening | None:
    assert open.call is not None, "an approval is of a call"
    if decided.calls and open.call.id not in decided.calls:
        return None
    making.timers.append(CancelTimer(timer_of(path)))
    if _is_stopped(making, path):
        making.open[path] = None
        return _not_made(path, open)
    if decided.is_approved:
        making.open[path] = Open(kind="call", number=open.number, attempt=open.attempt)
        request_call(making, path, open.number, open.call.model_copy(update={"approval": log_entry}))
        return None
    making.open[path] = None
    person, why = decided.by or "a person", one_line(decided.reason, REASON_CHARACTERS)
    message = f"{person} denied it{f': {why}' if why else ''}"
    return Failed(path, open.attempt, Failure("permission_denied", message))


def _is_stopped(making: Making, path: str) -> bool:
    """Return whether a call that waits for approval will not be made any more."""
    state = making.state.run.nodes.get(path)
    return state is not None and state.status == "stopping"


def _not_made(path: str, open: Open) -> Failed:
    return Failed(path, open.attempt, Failure("cancelled", "it was stopped before a person had approved it"))


def _failed(making: Making, failed: ComponentFailed, needed: LoggedEvent | None) -> Happening | None:
    """Return the failure of the node that a dead letter concerns, possibly with an unknown outcome.

    When it is a step of the run itself, no other event would take it, so the run stops.
    """
    match request := needed.event.data if needed is not None else None:
        case ToolsRequested() | ToolsCompleted():
            found = _open(making, request.round, "call")
            return None if found is None else _lost_call(making, *found, request, failed.error.message)
        case ChildEnded(round=number) if lost := _open(making, number, "reason"):
            making.open[lost[0]] = None
            return Failed(lost[0], lost[1].attempt, Failure("internal_error", failed.error.message))
        case InputGiven(round=number) if _open(making, number, "person"):
            because = f"they could not be taken in: {one_line(failed.error.message, REASON_CHARACTERS)}"
            making.events.append(InputRefused(round=number, because=because))
        case NodeDue() | DeadlineReached() | PersonOverdue() | ApprovalDecided() | CancellationRequested():
            reason_line = one_line(failed.error.message, REASON_CHARACTERS)
            return StopRequested("failed", f"a step of the run failed inside the coordinator: {reason_line}")
    return None


def _lost_call(
    making: Making, path: str, open: Open, request: ToolsRequested | ToolsCompleted, message: str
) -> Failed:
    making.open[path] = None
    name = request.calls[0].name if isinstance(request, ToolsRequested) else request.results[0].tool
    tool = making.pinned.opened.tools.get(name, UNKNOWN_WRITE)
    kind = "outcome_unknown" if tool.is_write else "internal_error"
    return Failed(path, open.attempt, Failure(kind, message))
