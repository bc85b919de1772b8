"""The meaning of an event for the graph of a run. Pure.

A late event, or an event that no node waits for, is ignored.
"""

from antiphon_shared.bus.handling import CancelTimer
from antiphon_shared.events import (
    ApprovalDecided,
    CancellationRequested,
    ChildEnded,
    ComponentFailed,
    DeadlineReached,
    EventData,
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
from antiphon_shared.workflows.nodes import YieldNode

from coordinator.decision import LoggedEvent
from coordinator.runs.children import reasoned
from coordinator.runs.commands import request_call, timer_of
from coordinator.runs.state import Open, OpenKind
from coordinator.runs.step_builder import StepBuilder
from coordinator.workflows.begin import checked_params
from coordinator.workflows.messages import (
    OUTCOME_UNKNOWN,
    Failed,
    Failure,
    GraphEvent,
    OutcomeFound,
    Resumed,
    StopRequested,
    Succeeded,
    TimerFired,
)

REASON_CHARACTERS = 300
Reply = ToolsCompleted | ChildEnded | InputGiven | ApprovalDecided | PersonOverdue
"""Events that answer an open request of a node."""
_REQUESTS: dict[type[EventData], OpenKind] = {
    ToolsCompleted: "call",
    ChildEnded: "reason",
    InputGiven: "person",
    ApprovalDecided: "approval",
    PersonOverdue: "approval",
}


def graph_event_of(builder: StepBuilder, needed: LoggedEvent | None) -> GraphEvent | None:
    """Return the meaning of the event for the graph, if any, and close the request that the event answers."""
    data = builder.event.data
    if isinstance(data, Reply):
        waiting_node = _waiting_node(builder, data.round, _REQUESTS[type(data)])
        return None if waiting_node is None else _after_reply(builder, *waiting_node, data)
    match data:
        case NodeDue(node=path, attempt=attempt):
            return _timer_elapsed(builder, path, attempt)
        case DeadlineReached() if builder.state.working_since is not None:
            limit_s = builder.pinned.opened.timeout_s
            return StopRequested("timed_out", f"the run has worked for longer than {limit_s:g} seconds")
        case CancellationRequested(reason=reason):
            return StopRequested("cancelled", _with_reason("it was cancelled", reason))
        case OutcomeSettled(node=path, happened=happened, result=result):
            return OutcomeFound(path, happened, result)
        case ResumeRequested():
            builder.worked_s = 0.0
            return Resumed()
        case ComponentFailed() as failed:
            return _after_failure(builder, failed, needed)
    return None


def _with_reason(message: str, reason: str) -> str:
    reason_line = one_line(reason, REASON_CHARACTERS)
    return f"{message}: {reason_line}" if reason_line else message


def _waiting_node(builder: StepBuilder, number: int, kind: OpenKind) -> tuple[str, Open] | None:
    """Return the path of the node with the open request of that number and kind, and the request."""
    path = builder.state.paths.get(number)
    if path is None or (request := builder.state.open[path]).kind != kind:
        return None
    return path, request


def _failed(builder: StepBuilder, path: str, open: Open, kind: str, message: str) -> Failed:
    """Return the failure of a node, whose request is closed."""
    builder.open[path] = None
    return Failed(path, open.attempt, Failure(kind, message))


def _after_reply(builder: StepBuilder, path: str, open: Open, reply: Reply) -> GraphEvent | None:
    match reply:
        case ToolsCompleted(results=(result, *_)):
            return _after_call(builder, path, open, result)
        case ChildEnded(response=response):
            if response.session_id != child_session_id(builder.pinned.run_id, open.number):
                return None
            builder.logged[path] = builder.log_entry
            return reasoned(builder, path, open, response)
        case InputGiven():
            return _accept_values(builder, path, open, reply)
        case ApprovalDecided():
            return _after_decision(builder, path, open, reply)
        case PersonOverdue() if _is_stopped(builder, path):
            return _stopped_call(builder, path, open)
        case PersonOverdue():
            message = "a person has to approve it, but no person decided in time"
            return _failed(builder, path, open, "permission_denied", message)
    return None


def _after_call(builder: StepBuilder, path: str, open: Open, result: ToolResult) -> GraphEvent:
    tool = builder.pinned.plan.tool(result.tool)
    if result.error is not None:
        error = result.error
        is_lost_read = error.error_type == OUTCOME_UNKNOWN and not tool.is_write
        kind = "api_failure" if is_lost_read else error.error_type  # a read has no outcome to be settled
        return _failed(builder, path, open, kind, error.message)
    builder.open[path] = None
    builder.logged[path] = builder.log_entry
    if result.handle:
        builder.wholes[path] = result.handle
    builder.has_untrusted = builder.has_untrusted or tool.is_open_world
    if result.tool not in builder.state.succeeded:
        builder.succeeded = (result.tool,)
    return Succeeded(path, open.attempt, result.data)


def _timer_elapsed(builder: StepBuilder, path: str, attempt: int) -> GraphEvent | None:
    if attempt == 0:
        return TimerFired(path, 0)
    open = builder.state.open.get(path)
    if open is None or open.attempt != attempt or open.kind not in ("timer", "person"):
        return None
    if isinstance(builder.pinned.plan.node(path).node, YieldNode):
        return _failed(builder, path, open, "timeout", "no person gave the values in time")
    builder.open[path] = None
    return TimerFired(path, attempt)


def _accept_values(builder: StepBuilder, path: str, open: Open, event: InputGiven) -> GraphEvent | None:
    """Accept values for a node, or refuse values that do not fit and continue to wait."""
    node = builder.pinned.plan.node(path).node
    assert isinstance(node, YieldNode), "only a yield node waits for values"
    values, problem = checked_params(node.expects, event.values)
    if problem:
        builder.events.append(InputRefused(round=open.number, because=problem))
        return None
    builder.open[path] = None
    builder.timers.append(CancelTimer(timer_of(path)))
    return Succeeded(path, open.attempt, values)


def _after_decision(
    builder: StepBuilder, path: str, open: Open, decided: ApprovalDecided
) -> GraphEvent | None:
    assert open.call is not None, "an approval has a call"
    if decided.calls and open.call.id not in decided.calls:
        return None
    builder.timers.append(CancelTimer(timer_of(path)))
    if _is_stopped(builder, path):
        return _stopped_call(builder, path, open)
    if decided.is_approved:
        builder.open[path] = Open(kind="call", number=open.number, attempt=open.attempt)
        call = open.call.model_copy(update={"approval": builder.log_entry})
        request_call(builder, path, open.number, call)
        return None
    message = _with_reason(f"{decided.by or 'a person'} denied it", decided.reason)
    return _failed(builder, path, open, "permission_denied", message)


def _is_stopped(builder: StepBuilder, path: str) -> bool:
    """Return whether a call that waits for approval will not be made any more."""
    state = builder.state.run.nodes.get(path)
    return state is not None and state.status == "stopping"


def _stopped_call(builder: StepBuilder, path: str, open: Open) -> Failed:
    return _failed(builder, path, open, "cancelled", "it was stopped before a person had approved it")


def _after_failure(
    builder: StepBuilder, failed: ComponentFailed, needed: LoggedEvent | None
) -> GraphEvent | None:
    """Return the failure of the node that a dead letter concerns, possibly with an unknown outcome.

    If the dead letter is a timer or a person's decision, stop the run, as no other event would continue it.
    """
    message = failed.error.message
    match request := needed.event.data if needed is not None else None:
        case ToolsRequested() | ToolsCompleted() if lost := _waiting_node(builder, request.round, "call"):
            return _lost_call(builder, *lost, request, message)
        case ChildEnded(round=number) if lost := _waiting_node(builder, number, "reason"):
            return _failed(builder, *lost, "internal_error", message)
        case InputGiven(round=number) if _waiting_node(builder, number, "person"):
            because = f"they could not be taken in: {one_line(message, REASON_CHARACTERS)}"
            builder.events.append(InputRefused(round=number, because=because))
        case NodeDue() | DeadlineReached() | PersonOverdue() | ApprovalDecided() | CancellationRequested():
            reason_line = one_line(message, REASON_CHARACTERS)
            return StopRequested("failed", f"a step of the run failed inside the coordinator: {reason_line}")
    return None


def _lost_call(
    builder: StepBuilder, path: str, open: Open, request: ToolsRequested | ToolsCompleted, message: str
) -> Failed:
    name = request.calls[0].name if isinstance(request, ToolsRequested) else request.results[0].tool
    is_write = builder.pinned.plan.tool(name).is_write
    return _failed(builder, path, open, OUTCOME_UNKNOWN if is_write else "internal_error", message)
