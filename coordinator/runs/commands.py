"""The effects of the graph's commands on the bus: events, timers and kept values. Pure."""

from datetime import datetime, timedelta

from antiphon_shared.bus.handling import CancelTimer
from antiphon_shared.events import (
    ApprovalRequested,
    CallToApprove,
    InputRequested,
    NodeDue,
    PersonOverdue,
    ToolsRequested,
)
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.placeholders import as_text
from antiphon_shared.workflows.graph import UNDO
from antiphon_shared.workflows.nodes import CallNode, has_retries
from antiphon_shared.workflows.params import as_json
from pydantic import TypeAdapter

from coordinator.runs.children import begin_reasoning, cancel_reasoning
from coordinator.runs.step_builder import StepBuilder
from coordinator.workflows.begin import TimedNode
from coordinator.workflows.messages import (
    AskPerson,
    CallTool,
    Command,
    End,
    EndReasoning,
    KeepValue,
    Reason,
    SetTimer,
    Withdraw,
)
from coordinator.workflows.state import SETTLED, Run

_ID_CHARACTERS_MAX = 200
"""Bound on a call's id, which is cut; the number of the request distinguishes calls."""
_MOMENT: TypeAdapter[datetime] = TypeAdapter(datetime)


def carry_out(builder: StepBuilder, command: Command) -> None:
    """Add the effects of a command to the step."""
    match command:
        case CallTool():
            _call(builder, command)
        case Reason():
            begin_reasoning(builder, command)
        case AskPerson():
            _ask(builder, command)
        case SetTimer():
            _set_timer(builder, command)
        case EndReasoning(path=path):
            cancel_reasoning(builder, path)
        case Withdraw(path=path):
            if path in builder.state.open or path in builder.open:
                builder.open[path] = None
                builder.timers.append(CancelTimer(timer_of(path)))
            builder.timers.append(CancelTimer(limit_of(path)))
        case KeepValue(key=key) if key in builder.logged:
            pass  # the logged event of the result holds the value
        case KeepValue(key=key, value=value):
            builder.values[key] = value
        case End():
            builder.ended = command
            # Sorted, as a run that was loaded again has another order.
            builder.open.update(dict.fromkeys(sorted({*builder.state.open, *builder.open})))


def withdraw(builder: StepBuilder, changes: Run) -> None:
    """Cancel the timers of settled nodes, and the requests for approval of calls that will not be made."""
    for path, state in changes.nodes.items():
        open = builder.open.get(path) or builder.state.open.get(path)
        if state.status == "stopping" and open is not None and open.kind == "approval":
            builder.sets(timer_of(path), timedelta(0), PersonOverdue(round=open.number))
        node = builder.pinned.plan.node(path).node
        if state.status in SETTLED and isinstance(node, TimedNode) and node.timeout_s is not None:
            builder.timers.append(CancelTimer(limit_of(path)))


def timer_of(path: str) -> str:
    """Return the name of the timer of a node's wait."""
    return f"node:{path}"


def limit_of(path: str) -> str:
    """Return the name of the timer that bounds a whole node."""
    return f"limit:{path}"


def request_call(builder: StepBuilder, path: str, number: int, call: RequestedCall) -> None:
    """Hand a call to the dispatchers."""
    opened, state = builder.pinned.opened, builder.state
    tool = builder.pinned.plan.tool(call.name)
    node = None if UNDO in path else builder.pinned.plan.node(path).node
    timeout_s = node.timeout_s if isinstance(node, CallNode) else None
    builder.events.append(
        ToolsRequested.trusted(
            round=number,
            # The arguments are final values without references to other calls.
            calls=(call.model_copy(update={"arguments": as_text(call.arguments)}),),
            allowed=(call.name,),
            succeeded=tuple(
                name for name in tool.depends_on if name in state.succeeded or name in builder.succeeded
            ),
            has_untrusted=builder.has_untrusted,
            tenant=opened.tenant,
            grant=builder.pinned.beginning.grant,
            deadline=builder.now + timedelta(seconds=timeout_s or opened.timeout_s),
            node=path,
            is_retried=node is None or not has_retries(node),
            catalogue="",
        )
    )


def _call(builder: StepBuilder, command: CallTool) -> None:
    path, opened = command.path, builder.pinned.opened
    call = RequestedCall(
        id=f"{path}#{command.attempt}"[-_ID_CHARACTERS_MAX:],
        name=command.tool,
        arguments=dict(command.arguments),
        idempotency_key=f"{opened.tenant}/{builder.pinned.run_id}/{path}/{command.key}",
    )
    because = _because(builder, command.tool)
    if not because:
        request_call(builder, path, builder.waits(path, "call", command.attempt), call)
        return
    until = builder.now + timedelta(seconds=opened.person_s)
    number = builder.waits(path, "approval", command.attempt, until=until, call=call)
    call_to_approve = CallToApprove(id=call.id, tool=call.name, arguments=call.arguments, because=because)
    builder.events.append(ApprovalRequested(round=number, calls=(call_to_approve,), until=until))
    builder.sets(timer_of(path), until, PersonOverdue(round=number))


def _ask(builder: StepBuilder, command: AskPerson) -> None:
    path, until = command.path, builder.now + timedelta(seconds=command.timeout_s)
    request = InputRequested(
        round=builder.number + 1,
        node=path,
        message=command.message,
        expects=as_json(command.expects),
        until=until,
    )
    is_child = builder.pinned.beginning.parent is not None
    builder.waits(path, "person", command.attempt, until=until, asked=request if is_child else None)
    builder.events.append(request)
    builder.sets(timer_of(path), until, NodeDue(node=path, attempt=command.attempt))


def _because(builder: StepBuilder, name: str) -> str:
    tool = builder.pinned.plan.tool(name)
    if tool.approval == "always":
        return f"every call of {name} has to be approved"
    if tool.approval == "after_untrusted" and builder.has_untrusted:
        return "the run contains content from an untrusted source"
    return ""


def _set_timer(builder: StepBuilder, command: SetTimer) -> None:
    path, attempt = command.path, command.attempt
    due = NodeDue(node=path, attempt=attempt)
    at = (
        timedelta(seconds=command.seconds)
        if command.until is None
        else _MOMENT.validate_python(command.until)
    )
    if attempt == 0:
        builder.sets(limit_of(path), at, due)
        return
    builder.waits(path, "timer", attempt)
    builder.sets(timer_of(path), at, due)
