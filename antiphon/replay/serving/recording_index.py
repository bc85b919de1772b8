"""The content of a recording that a rerun needs. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    AssemblyOverdue,
    CancellationRequested,
    Component,
    ComponentFailed,
    DeadlineReached,
    InputGiven,
    ModelDue,
    NodeDue,
    OutcomeSettled,
    PersonOverdue,
    QuerySubmitted,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    ResumeRequested,
    RunOpened,
    SessionOpened,
    SummaryFailed,
)
from antiphon_shared.events.step_records import (
    AnyRecord,
    DecisionRecord,
    ExchangeRecord,
    ForkRecord,
    ModelCall,
)
from antiphon_shared.process.errors import ErrorInfo, UnreadableEvent
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.lines import DataT, End, EventLine, Line, RecordLine, RecordT
from antiphon.replay.forking.point import Beginning, beginning_of
from antiphon.replay.requests import complete_request
from antiphon.replay.steps.replay_state import RecordingContent

OUTSIDE_EVENTS = (
    CancellationRequested,
    ApprovalDecided,
    QuestionAnswered,
    DeadlineReached,
    PersonOverdue,
    ModelDue,
    AssemblyOverdue,
    NodeDue,
    InputGiven,
    OutcomeSettled,
    ResumeRequested,
)
"""Events of people and timers, which are sent again after the events before them."""


def _is_from_outside(event: AnyEvent) -> bool:
    """Return whether an event has no cause in its session; a failure that a person reported has none either."""
    is_reported = isinstance(event.data, ComponentFailed) and event.causationid is None
    return is_reported or isinstance(event.data, OUTSIDE_EVENTS)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A call to a model: the whole request, and its result."""

    request: Mapping[str, Any]
    call: ModelCall

    @property
    def is_unanswered(self) -> bool:
        """Return whether the call has neither reply nor error: time was over, or the step was dropped."""
        return self.call.reply is None and self.call.error is None


@dataclass(frozen=True, slots=True)
class Exchange:
    """The calls for one event, and their failure, if any."""

    record: ExchangeRecord
    calls: tuple[RecordedRequest, ...]
    failure: ReasoningFailed | SummaryFailed | None


class RecordingIndex:
    """The events of one session, in order, with the outputs of each."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Read a recording. Raises UnreadableEvent if it is incomplete or cannot be run again."""
        self.events: list[EventLine] = []
        self.records: dict[UUID, AnyRecord] = {}
        """The records by the event that was handled; of a fork, only those after its record."""
        self.content = RecordingContent()
        """All catalogues, specifications and contents."""
        self.beginning = self._read(lines)
        """The state from which a fork resumes; None if the recording is not of a fork."""
        if self.beginning is not None:
            delivered = {line.event.id: line for line in self.beginning.deliveries}
            self.events = [delivered.get(line.event.id, line) for line in self.events]
        self.taken_over = 0 if self.beginning is None else self.beginning.taken_over
        """The number of events that a fork has copied, which do not happen again."""
        self.query = self.events[0].event
        self.session_id = self.query.subject
        self.by_id = {line.event.id: line for line in self.events}
        own = self.events[self.taken_over :]
        self.outside = [line for line in own if _is_from_outside(line.event)]
        self._outputs: dict[UUID, list[EventLine]] = {}
        for line in own:
            if line.event.causationid is not None and not _is_from_outside(line.event):
                self._outputs.setdefault(line.event.causationid, []).append(line)
        has_replies = any(isinstance(line.event.data, ReasoningCompleted) for line in own)
        if has_replies and not any(self.records_of(ExchangeRecord)):
            raise UnreadableEvent(
                "it contains no exchanges with a model.",
                hint="Record sessions with ANTIPHON_BUS_RECORDING=true, which is the default.",
            )
        self.exchanges: Mapping[UUID, Exchange] = {
            record.of: self._exchange(record) for record in self.records_of(ExchangeRecord)
        }
        """The exchanges by the event that requested them."""

    def _read(self, lines: Iterable[Line]) -> Beginning | None:
        """Read all lines; return the state from which a fork resumes. Raises UnreadableEvent."""
        is_complete, read, lines_to_fork = False, list[Line](), 0
        for line in lines:
            read.append(line)
            match line:
                case RecordLine(record=ForkRecord()):
                    lines_to_fork = len(read)
                    self.records.clear()
                case EventLine():
                    self.events.append(line)
                case RecordLine(record=record):
                    self.records[record.of] = record
                case End():
                    is_complete = True
                case _:
                    self.content.read(line)
        if not is_complete:
            raise UnreadableEvent("the end line is missing: the file is incomplete.")
        if not self.events or not isinstance(self.events[0].event.data, QuerySubmitted):
            raise UnreadableEvent("it does not begin with a query.")
        return beginning_of(read[:lines_to_fork]) if lines_to_fork else None

    def outputs(self, of: UUID) -> Sequence[EventLine]:
        """Return the outputs of an event."""
        return self._outputs.get(of, ())

    def output(self, of: UUID, kind: type[DataT]) -> DataT | None:
        """Return the first output of that kind."""
        return next((line.event.data for line in self.outputs(of) if isinstance(line.event.data, kind)), None)

    def all_of(self, kind: type[DataT]) -> Iterable[tuple[EventLine, DataT]]:
        """Return the events of one kind."""
        return ((line, line.event.data) for line in self.events if isinstance(line.event.data, kind))

    def records_of(self, kind: type[RecordT]) -> Iterable[RecordT]:
        """Return the records of one kind."""
        return (record for record in self.records.values() if isinstance(record, kind))

    def events_before(self, of: UUID) -> int:
        """Return the number of events before the first output of an event, or before its decision without outputs."""
        if outputs := self.outputs(of):
            return min(line.n for line in outputs) - 1
        return self._events_before_decision.get(of, 0)

    @cached_property
    def decision_before(self) -> Mapping[UUID, UUID]:
        """Return, for each decided event but the first, the event that the coordinator decided on before."""
        decisions = [record.of for record in self.records_of(DecisionRecord)]
        return dict(zip(decisions[1:], decisions, strict=False))

    @cached_property
    def _events_before_decision(self) -> Mapping[UUID, int]:
        """Return, for each event of the coordinator, the number of the last output of earlier decisions."""
        counts: dict[UUID, int] = {}
        last = 0
        for record in self.records_of(DecisionRecord):
            counts[record.of] = last
            last = max([last, *(output.n for output in self.outputs(record.of))])
        last = 0
        for line in self.events:
            if line.event.data.inbox == "coordinator":
                counts.setdefault(line.event.id, last)
                last = max([last, *(output.n for output in self.outputs(line.event.id))])
        return counts

    def failure(self, of: UUID, component: Component) -> ErrorInfo | None:
        """Return the error of the component if it could not handle the event, else None."""
        failed = self.output(of, ComponentFailed)
        return failed.error if failed is not None and failed.component == component else None

    def is_unanswered(self, of: UUID) -> bool:
        """Return whether an event had no effect before the session, or the recording, ended."""
        return of in self.by_id and of not in self._outputs and of not in self.records

    @property
    def catalogue_hash(self) -> str:
        """Return the hash of the session's tool catalogue, or an empty text."""
        if self.beginning is not None:
            return self.beginning.session.tools.catalogue
        opened = self.opened or self.run
        return opened.catalogue if opened else ""

    def catalogue(self, content_hash: str) -> Catalogue:
        """Return the tool catalogue of that hash; an empty one if it was not recorded."""
        return self.content.catalogues.get(content_hash, Catalogue())

    @cached_property
    def run(self) -> RunOpened | None:
        """Return the opening of a run, or None if the session is not a run."""
        return next((data for _, data in self.all_of(RunOpened)), None)

    @cached_property
    def opened(self) -> SessionOpened | None:
        return next((data for _, data in self.all_of(SessionOpened)), None)

    @cached_property
    def response(self) -> ResponseReady | None:
        return next((data for _, data in self.all_of(ResponseReady)), None)

    def _exchange(self, record: ExchangeRecord) -> Exchange:
        failure = self.output(record.of, ReasoningFailed) or self.output(record.of, SummaryFailed)
        calls = (
            RecordedRequest(complete_request(call, self.content.contents), call) for call in record.calls
        )
        return Exchange(record, tuple(calls), failure)
