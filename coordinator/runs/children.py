"""Sessions around a run: the sessions of its `reason` nodes, and its parent session. Pure."""

from typing import Any

from antiphon_shared.bus.handling import Send
from antiphon_shared.events import (
    CancellationRequested,
    ChildBegun,
    ChildEnded,
    ChildWaiting,
    InputRefused,
    InputRequested,
    Parent,
    QuerySubmitted,
)
from antiphon_shared.events.client import QUERY_LENGTH_MAX
from antiphon_shared.events.session import QueryOptions, Response
from antiphon_shared.process.ids import child_session_id
from antiphon_shared.values import SessionId
from antiphon_shared.workflows.nodes import ReasonNode
from antiphon_shared.workflows.params import Param, object_schema

from coordinator.runs.state import Open
from coordinator.runs.step_builder import StepBuilder
from coordinator.workflows.messages import Failed, Failure, GraphEvent, Reason, Succeeded

_DEADLINE_S_MAX = 86_400.0
_WHY_CHARACTERS = 500


def begin_reasoning(builder: StepBuilder, command: Reason) -> None:
    """Open a session that answers the question of a node."""
    number = builder.waits(command.path, "reason", command.attempt)
    node, pinned = command.node, builder.pinned
    child = child_session_id(pinned.run_id, number)
    question = "\n\n".join(filter(None, (command.question, command.instructions)))
    options = QueryOptions(
        tools=node.tools,
        output_schema=schema_of(node),
        validation_tools=node.validation_tools or None,
        max_rounds=node.max_rounds,
        deadline_s=min(node.timeout_s or pinned.opened.timeout_s, _DEADLINE_S_MAX),
    )
    parent = Parent(session=pinned.run_id, round=number)
    query = QuerySubmitted(
        query=question[:QUERY_LENGTH_MAX], options=options, parent=parent, grant=pinned.beginning.grant
    )
    builder.events.append(ChildBegun(round=number, child=child, node=command.path))
    builder.sends.append(Send(child, query, opens=True))


def schema_of(node: ReasonNode) -> dict[str, Any] | None:
    """Return the JSON Schema that the answer of a node must fit; None for any text."""
    expects = node.expects
    if not expects or not all(isinstance(one, Param) for one in expects.values()):
        return expects or None
    return object_schema(expects)


def reasoned(builder: StepBuilder, path: str, open: Open, response: Response) -> GraphEvent:
    """Return what the end of a node's session means for the graph: success only if its answer is complete."""
    builder.open[path] = None
    if response.status == "complete":
        node = builder.pinned.plan.node(path).node
        is_shaped = isinstance(node, ReasonNode) and node.expects is not None
        return Succeeded(path, open.attempt, response.result if is_shaped else response.answer)
    reasons = [one.message for one in response.uncertainty if one.severity != "note"]
    message = " ".join([f"its session ended as {response.status} ({response.termination_reason})", *reasons])
    return Failed(path, open.attempt, Failure("reasoning_failed", message[:_WHY_CHARACTERS]))


def cancel_reasoning(builder: StepBuilder, path: str) -> None:
    """Cancel the session of a node; the node fails once the session has ended."""
    open = builder.open.get(path) or builder.state.open.get(path)
    if open is not None and open.kind == "reason":
        child = child_session_id(builder.pinned.run_id, open.number)
        cancelled = CancellationRequested(reason="its run is stopping")
        builder.sends.append(Send(child, cancelled))


def notify_parent(builder: StepBuilder, response: Response | None) -> None:
    """Report waits for a person, or the run's response, to the session that began the run."""
    parent = builder.pinned.beginning.parent
    if parent is None:
        return
    if response is not None:
        ended = ChildEnded(round=parent.round, call_id=parent.call_id, response=response)
        builder.sends.append(Send(parent.session, ended))
        return
    for event in builder.events:
        if isinstance(event, InputRequested):
            builder.sends.append(_waiting(builder.pinned.run_id, parent, event))
        elif isinstance(event, InputRefused) and parent.is_interactive:
            request = builder.state.open[builder.state.paths[event.round]].asked
            assert request is not None, "it waits for a person"
            builder.sends.append(_waiting(builder.pinned.run_id, parent, request, event.because))


def _waiting(run_id: SessionId, parent: Parent, request: InputRequested, because: str = "") -> Send:
    waiting = ChildWaiting(
        round=parent.round,
        call_id=parent.call_id,
        child=run_id,
        request=request.round,
        message=request.message,
        expects=request.expects,
        because=because,
        until=request.until,
    )
    return Send(parent.session, waiting)
