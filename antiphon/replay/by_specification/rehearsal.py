"""A rehearsal: another specification decides on the recorded events of a run. Pure."""

from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    ChildEnded,
    ComponentFailed,
    EventData,
    InputGiven,
    NodeDue,
    PersonOverdue,
    QuerySubmitted,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.step_records import TimerRecord
from antiphon_shared.process.ids import child_id
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolDefinition
from antiphon_shared.workflows.as_tool import tools_called
from antiphon_shared.workflows.graph import Graph
from antiphon_shared.workflows.specification import Specification

from antiphon.recording.lines import EventLine
from antiphon.replay.by_specification.acts import Acts, acts_of, begun_with_questions
from antiphon.replay.by_specification.recorded_run import RecordedRun
from antiphon.replay.checks.run_inputs import failed_event, opening_of, outputs_of, pinned_run, value_reader
from antiphon.replay.checks.specifications import graph_of
from coordinator.decision import LoggedEvent
from coordinator.record import send_records, timer_record
from coordinator.runs.opening import opened_run
from coordinator.runs.state import OpenKind, RunState
from coordinator.runs.step import Step, begin, take
from coordinator.runs.step_builder import Pinned

_FIRST_ADDED_TIMER = 2_000_000
"""The first number for timer events that were not recorded."""
_WAITS_AS: dict[type[EventData], tuple[OpenKind, ...]] = {
    ToolsCompleted: ("call",),
    ChildEnded: ("reason",),
    ComponentFailed: ("call",),
    InputGiven: ("person",),
    ApprovalDecided: ("approval",),
    PersonOverdue: ("approval",),
    NodeDue: ("timer", "person"),
}
"""The kinds of waiting nodes that each type of event answers."""


@dataclass(frozen=True, slots=True)
class RehearsedDecision:
    """A decision by the other specification."""

    acts: Acts
    timers: tuple[TimerRecord, ...]
    step: Step | None
    """None if the event has no effect."""


@dataclass
class Rehearsal:
    """A run by another specification."""

    recorded: RecordedRun
    specification: Specification
    """The specification as it is stored, with its names in order."""
    content_hash: str
    workflow: str
    catalogue: tuple[str, Catalogue] | None = None
    """The available tools and the hash of their catalogue; None for the recorded ones."""
    called: list[str] = field(default_factory=list)
    """The node of each call, in order."""
    state: RunState = field(default_factory=RunState)
    calls: dict[str, RequestedCall] = field(default_factory=dict)
    """The newest call of each node."""
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The question of each node's newest session."""
    pinned: Pinned | None = None
    newest: EventLine | None = None
    added_timers: int = 0

    def take(self, line: EventLine) -> RehearsedDecision:
        """Decide on a recorded event, the first of which is the query."""
        return self._decision_on(line, self._step_after(line) if self.pinned else self._begin(line))

    def has_effect(self, line: EventLine) -> bool:
        """Return whether an event has an effect in the current state of the run; before its beginning, only a query."""
        if self.pinned is None:
            return isinstance(line.event.data, QuerySubmitted)
        return self._step_after(line) is not None

    def _begin(self, line: EventLine) -> Step:
        query, recorded = self.recorded.query, self.recorded.opened
        assert query is not None, "the recording is of a run"
        assert recorded is not None, "so it was opened"
        assert query.options.workflow is not None, "by a query of a workflow"
        event, specification = line.event, self.specification
        graph = graph_of(specification, self.workflow)
        if self.catalogue is None:
            catalogue, opening = self.recorded.content.catalogue(recorded.catalogue), opening_of(recorded)
            catalogue = _with_called_tools(catalogue, graph)
        else:
            content, catalogue = self.catalogue
            opening = opening_of(recorded.model_copy(update={"catalogue": content}))
        opened = opened_run(
            event,
            query,
            specification,
            self.content_hash,
            published={},
            opening=opening,
            catalogue=catalogue,
            compiled=lambda *_: graph,
        )
        self.pinned = pinned_run(event, query, opened, graph)
        return begin(self.pinned, event, line.entry, query.options.workflow.params)

    def awaits(self, data: EventData) -> bool:
        """Return whether a node waits for an event; the tool and arguments of a call must be the same."""
        node = self.recorded.node(data)
        open = None if node is None else self.state.open.get(node)
        if open is None or node is None:
            return False
        if open.kind not in _WAITS_AS.get(type(data), ()):
            return False
        if isinstance(data, NodeDue):
            return data.attempt == open.attempt
        if isinstance(data, ToolsCompleted):
            then, now = self.recorded.calls[data.round].calls[0], self.calls[node]
            return (then.name, then.arguments) == (now.name, now.arguments)
        if isinstance(data, ChildEnded):
            return self.recorded.questions.get(data.round) == self.questions.get(node)
        return True

    def fire_timer(self, node: str) -> RehearsedDecision:
        """Fire a timer of the rehearsal that was not recorded."""
        assert self.newest is not None, "the run has begun"
        before = self.newest
        self.added_timers += 1
        data = NodeDue(node=node, attempt=self.state.open[node].attempt)
        fields = before.event.model_dump(include={"source", "subject", "time", "correlationid", "format"})
        id = child_id(before.event.id, _FIRST_ADDED_TIMER + self.added_timers)
        event = ENVELOPES[NodeDue](id=id, type=data.type, data=data, **fields)
        return self.take(EventLine(before.n, before.entry, event))

    def _step_after(self, line: EventLine) -> Step | None:
        """Return the step that follows from a recorded event in the current state; None if it has no effect."""
        assert self.pinned is not None, "the run has begun"
        event, failed = self._renumbered(line.event)
        read_value = value_reader(self.state, self.recorded.content)
        return take(self.pinned, self.state, event, line.entry, read_value, failed)

    def _decision_on(self, line: EventLine, step: Step | None) -> RehearsedDecision:
        self.newest = line
        if step is None:
            return RehearsedDecision({}, (), None)
        before = dict(self.state.paths)
        self.state.apply(step.change)
        outputs = outputs_of(step)
        for one in outputs:
            if isinstance(one, ToolsRequested):
                self.calls[one.node] = one.calls[0]
                self.called.append(one.node)
        timers = tuple(timer_record(timer, line.event.format) for timer in step.timers)
        paths = {**before, **self.state.paths}
        sends = send_records(step.sends, line.event.format)
        self.questions |= {begun.node: question for begun, question in begun_with_questions(outputs, sends)}
        return RehearsedDecision(
            acts_of(outputs, timers, sends, lambda number: paths.get(number, "")), timers, step
        )

    def _renumbered(self, event: AnyEvent) -> tuple[AnyEvent, LoggedEvent | None]:
        """Return the event, and the event that a component failed on, both with the rehearsal's request number."""
        data = event.data
        node = self.recorded.node(data)
        open = self.state.open.get(node) if node is not None else None
        number = open.number if open is not None else 0
        if isinstance(data, ComponentFailed):
            failed = failed_event(event, self.recorded.content)
            if failed is None or not number or self.recorded.failed(data) is None:
                return event, failed
            about = failed.event.data.model_copy(update={"round": number})
            return event, LoggedEvent(failed.entry, failed.event.model_copy(update={"data": about}))
        if number and hasattr(data, "round") and data.round != number:
            return event.model_copy(update={"data": data.model_copy(update={"round": number})}), None
        return event, None


def _with_called_tools(catalogue: Catalogue, graph: Graph) -> Catalogue:
    """Return the recorded tools and the newly called ones, whose contracts are unknown."""
    missing = [name for name in tools_called(graph) if name not in catalogue.by_name]
    if not missing:
        return catalogue
    unknown = [
        ToolDefinition(name=name, description="", input_schema={"type": "object"}, effect="read")
        for name in missing
    ]
    return Catalogue(tools=(*catalogue.tools, *unknown), default_scopes=catalogue.default_scopes)
