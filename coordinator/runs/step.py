"""A step of a run: the decision of the graph on one event, and its effects on the bus. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.bus.handling import CancelTimer, Send, SetTimer
from antiphon_shared.events import (
    AnyEvent,
    ComponentFailed,
    EventData,
    NodeSettled,
    NodesSettled,
    OutcomeSettled,
    ResumeRequested,
)
from antiphon_shared.events.session import Response
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.values import LogEntry

from coordinator.decision import LoggedEvent
from coordinator.endings import moment_of
from coordinator.runs.children import notify_parent
from coordinator.runs.commands import carry_out, withdraw
from coordinator.runs.ending import response_of
from coordinator.runs.graph_event import REASON_CHARACTERS, graph_event_of
from coordinator.runs.opening import cancellation_in
from coordinator.runs.state import RunChange, RunState
from coordinator.runs.step_builder import Pinned, StepBuilder
from coordinator.workflows.decide import UnfitParams, decide_run
from coordinator.workflows.messages import BrokenOff, End, Failed, Failure, GraphEvent, Started, Succeeded
from coordinator.workflows.state import SETTLED, Run
from coordinator.workflows.turn import NotLoaded

_LISTED_MAX = 50
"""Bound on the nodes of a nodes.settled."""


@dataclass(frozen=True, slots=True)
class Step:
    """The effects of one event."""

    change: RunChange
    events: tuple[EventData, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    answer: Response | None = None
    """The answer of a run that has ended."""
    takes_room: bool | None = None
    extra_retention_s: float = 0.0
    sends: tuple[Send, ...] = ()


def take(
    pinned: Pinned,
    state: RunState,
    event: AnyEvent,
    log_entry: LogEntry,
    read_value: Callable[[str], Any],
    needed: LoggedEvent | None = None,
) -> Step | None:
    """Return the effects of an event, or None if it has none, as it is late or repeated.

    Args:
        pinned: The fixed inputs of the run's decisions.
        state: The current state of the run; it is not changed.
        event: The event, whose log entry is `log_entry`.
        read_value: Returns a kept value by its key. Raises KeyError, or NotLoaded if it has to be fetched first.
        needed: For a component's failure, the event that it could not handle.
    """
    if state.run.ended is not None and not isinstance(event.data, OutcomeSettled | ResumeRequested):
        return None
    now = moment_of(event, log_entry)
    builder = StepBuilder(pinned, state, event, log_entry, now)
    try:
        graph_event = graph_event_of(builder, needed)
        if graph_event is not None:
            decide(builder, graph_event, read_value)
    except NotLoaded:
        raise
    except Exception as error:
        if not isinstance(event.data, ComponentFailed):
            raise
        # The stop of the run after a failed step fails too, and no other event would end the run.
        builder = StepBuilder(pinned, state, event, log_entry, now)
        decide(builder, BrokenOff(_broken(event.data, error)), read_value)
    return finished(builder) if builder.has_changed else None


def _broken(failed: ComponentFailed, error: Exception) -> str:
    message, why = (one_line(str(one), REASON_CHARACTERS) for one in (failed.error.message, error))
    return (
        f"a step of the run failed inside the coordinator: {message}; it could not be stopped either: {why}"
    )


def begin(pinned: Pinned, event: AnyEvent, log_entry: LogEntry, params: Mapping[str, object]) -> Step:
    """Return the first step of a run, or its answer when it cannot begin."""
    builder = StepBuilder(pinned, RunState(), event, log_entry, event.time)
    builder.beginning = pinned.beginning
    builder.events.append(pinned.opened)
    problem = pinned.opened.problem
    if not problem:
        try:
            decide(builder, Started(params), dict[str, Any]().__getitem__)
        except UnfitParams as error:
            problem = f"It cannot begin: {error}."
    if problem:
        is_cancelled = cancellation_in(problem) is not None
        failure = Failure("cancelled" if is_cancelled else "cannot_begin", problem)
        builder.ended = End("cancelled" if is_cancelled else "failed", failure=failure)
    return finished(builder)


def decide(builder: StepBuilder, graph_event: GraphEvent, read_value: Callable[[str], Any]) -> None:
    """Decide on the graph, and carry out the commands."""
    draw = (builder.event.id.int & 0xFFFF_FFFF) / 2**32
    decision = decide_run(builder.pinned.plan, builder.state.run, graph_event, read_value, draw)
    builder.graph = decision.changes
    reported = graph_event.path if isinstance(graph_event, Succeeded | Failed) else ""
    for command in decision.commands:
        carry_out(builder, command)
    withdraw(builder, decision.changes)
    _report_settled(builder, decision.changes, reported)


def finished(builder: StepBuilder) -> Step:
    """Return the step of an event."""
    change = builder.change()
    answer = None if builder.ended is None else response_of(builder, change)
    notify_parent(builder, answer)
    extra_retention_s = (builder.kept_until - builder.now).total_seconds() if builder.kept_until else 0.0
    return Step(
        change,
        events=tuple(builder.events),
        timers=tuple(builder.timers),
        answer=answer,
        takes_room=None if builder.pinned.beginning.parent else builder.takes_room,
        extra_retention_s=max(0.0, extra_retention_s),
        sends=tuple(builder.sends),
    )


def _report_settled(builder: StepBuilder, changes: Run, reported: str) -> None:
    """Report settled nodes to observers, except the node that the bus event itself reports."""
    before = builder.state.run.nodes
    settled = [
        NodeSettled.model_validate({"path": path, "status": state.status, "message": state.why})
        for path, state in changes.nodes.items()
        if path != reported
        and state.status in SETTLED
        and (path not in before or before[path].status != state.status)
    ]
    if settled:
        listed = tuple(settled[:_LISTED_MAX])
        builder.events.append(NodesSettled(nodes=listed, more=len(settled) - len(listed)))
