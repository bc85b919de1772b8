"""The inputs of a decision on a run, from the recording. Pure."""

from collections.abc import Callable
from typing import Any

from antiphon_shared.events import (
    AnyEvent,
    ComponentFailed,
    EventData,
    QuerySubmitted,
    ResponseReady,
    RunOpened,
    ToolsCompleted,
)
from antiphon_shared.events.session import Limits
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.graph import Graph

from antiphon.replay.steps.replay_state import RecordingContent
from coordinator.decision import GrantCheck, LoggedEvent, Opening
from coordinator.runs.opening import beginning_of, cancellation_in
from coordinator.runs.results import result_in
from coordinator.runs.state import RunState
from coordinator.runs.step import Step
from coordinator.runs.step_builder import Pinned
from coordinator.workflows.plan import Plan


def opening_of(opened: RunOpened) -> Opening:
    """Return the opening of a run, as its recorded log has it; only the limits for people matter."""
    return Opening(
        limits=Limits(max_rounds=1, max_tool_calls=0, max_tokens=100, deadline_s=1, person_s=opened.person_s),
        catalogue=opened.catalogue,
        grant=GrantCheck(opened.grant_refused, opened.is_grant_ignored),
        cancelled_because=cancellation_in(opened.problem),
    )


def value_reader(state: RunState, content: RecordingContent) -> Callable[[str], Any]:
    """Return a function that reads the values for a decision from the state, or from the recorded results."""

    def value(key: str) -> Any:
        if key in state.values:
            return state.values[key]
        data = content.data(state.logged[key], EventData)
        refuse_part(data)
        return result_in(data)

    return value


def refuse_part(data: EventData | None) -> None:
    """Raise UnreadableEvent for an event that holds only the beginning of a result."""
    if isinstance(data, ToolsCompleted) and any(result.handle for result in data.results):
        raise UnreadableEvent("the log of the run holds only the beginning of a result.")


def failed_event(event: AnyEvent, content: RecordingContent) -> LoggedEvent | None:
    """Return the event that a component could not handle, where `event` reports one."""
    return content.logged_event(event.data.failed_event) if isinstance(event.data, ComponentFailed) else None


def outputs_of(step: Step) -> tuple[EventData, ...]:
    """Return the events of a step, its answer last."""
    answer = () if step.answer is None else (ResponseReady(**step.answer.model_dump()),)
    return (*step.events, *answer)


def pinned_run(event: AnyEvent, query: QuerySubmitted, opened: RunOpened, graph: Graph | None) -> Pinned:
    """Return the fixed inputs of a run's decisions; a run that could not begin needs no graph."""
    plan = Plan(Graph({}, {})) if opened.problem or graph is None else Plan(graph, opened.tools)
    return Pinned(event.subject, plan, beginning_of(event, query, opened))
