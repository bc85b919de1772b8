"""A recorded run: its decisions in order, and the node of each event. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    ChildBegun,
    ChildEnded,
    ComponentFailed,
    EventData,
    InputGiven,
    InputRequested,
    NodeDue,
    PersonOverdue,
    QuerySubmitted,
    RunOpened,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.step_records import ForkRecord, LeftOut, RunRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.graph import Graph

from antiphon.recording.lines import EventLine, Header, Line, RecordLine
from antiphon.replay.by_specification.acts import begun_with_questions
from antiphon.replay.checks.run_outputs import node_of
from antiphon.replay.checks.specifications import graph_of, specification_in
from antiphon.replay.steps.replay_state import RecordingContent, Step


@dataclass
class RecordedRun:
    """A run, read from its recording."""

    session_id: str = ""
    content: RecordingContent = field(default_factory=RecordingContent)
    decisions: list[Step] = field(default_factory=list)
    nodes: dict[int, str] = field(default_factory=dict)
    """The node of each request, by the request's number."""
    calls: dict[int, ToolsRequested] = field(default_factory=dict)
    questions: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The question of each request that opened a session."""
    lacks: str = ""
    """The reason why some decisions are unknown."""

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "RecordedRun":
        """Read a recording. Raises UnreadableEvent."""
        run = cls()
        for line in lines:
            run._read(line)
        return run

    @property
    def query(self) -> QuerySubmitted | None:
        """Return the query that opened the run, or None if the session is not a run."""
        first = self.decisions[0].line.event.data if self.decisions else None
        return first if isinstance(first, QuerySubmitted) else None

    @property
    def opened(self) -> RunOpened | None:
        """Return the event that fixes the specification and the tools of the run."""
        return self.content.opened if isinstance(self.content.opened, RunOpened) else None

    @property
    def domain(self) -> str:
        """Return the domain of its specification; empty if that was not recorded."""
        opened = self.opened
        fields = self.content.specifications.get(opened.specification) if opened else None
        return str(fields.get("domain", "")) if fields else ""

    def graph(self) -> Graph | None:
        """Return its workflow; None if the specification was not recorded or is no longer readable."""
        opened = self.opened
        if opened is None:
            return None
        try:
            return graph_of(specification_in(self.content, opened.specification), opened.workflow)
        except UnreadableEvent:
            return None

    def node(self, data: EventData) -> str | None:
        """Return the node of an outside event; None for an event of the whole run."""
        match data:
            case ToolsCompleted() | ChildEnded() | InputGiven() | ApprovalDecided() | PersonOverdue():
                return self.nodes.get(data.round)
            case NodeDue():
                return data.node
            case ComponentFailed():
                request = self.failed(data)
                return None if request is None else self.nodes.get(request.round)
            case _:
                return None

    def failed(self, data: ComponentFailed) -> ToolsRequested | ToolsCompleted | None:
        """Return the call that a component could not handle."""
        logged = self.content.logged_event(data.failed_event)
        failure = logged.event.data if logged else None
        return failure if isinstance(failure, ToolsRequested | ToolsCompleted) else None

    def _read(self, line: Line) -> None:
        match line:
            case Header():
                self.session_id = line.session_id
            case EventLine():
                self.content.add(line)
                self.note(line.event)
            case RecordLine(record=RunRecord() as record):
                self._decision(record)
            case RecordLine(record=LeftOut(component="coordinator")):
                self.lacks = "the record of a decision was too large to be stored"
            case RecordLine(record=ForkRecord()):
                self.lacks = "the run was forked, and decided by two specifications"
            case _:
                self.content.read(line)

    def note(self, event: AnyEvent) -> None:
        """Note the node of a request."""
        data = event.data
        match data:
            case ToolsRequested() | ChildBegun() | InputRequested() | ApprovalRequested():
                if node := node_of(data):
                    self.nodes.setdefault(data.round, node)
        if isinstance(data, ToolsRequested):
            self.calls[data.round] = data

    def _decision(self, record: RunRecord) -> None:
        line = self.content.handled(record)
        step = Step(line, record, self.content.outputs_of(record, line))
        self.decisions.append(step)
        questions = begun_with_questions(step.sent, record.sends)
        self.questions |= {begun.round: question for begun, question in questions}
