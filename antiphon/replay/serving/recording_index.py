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

from antiphon.recording.lines import End, EventLine, Line, RecordLine
from antiphon.replay.forking.point import Beginning, beginning_of
from antiphon.replay.requests import whole_request
from antiphon.replay.steps.replay_state import DataT, RecordingContent, RecordT

FROM_OUTSIDE = (
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
"""Events of people and timers. They are sent again when the events before them have happened again, at any time."""


def _is_from_outside(event: AnyEvent) -> bool:
    """Return whether an event has no cause in its session, such as a failure that a person reported."""
    is_reported = isinstance(event.data, ComponentFailed) and event.causationid is None
    return is_reported or isinstance(event.data, FROM_OUTSIDE)


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
    """The calls of one event, and their failure, if any."""

    record: ExchangeRecord
    calls: tuple[RecordedRequest, ...]
    failure: ReasoningFailed | SummaryFailed | None


class RecordingIndex:
    """The events of one session, in order, with the outputs of each."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Read a recording. Raises UnreadableEvent when it is not whole, or has nothing to run again."""
        self.events: list[EventLine] = []
        self.records: dict[UUID, AnyRecord] = {}
        """By the event that was handled; for a fork, only its own events."""
        self.known = RecordingContent()
        """All catalogues, specifications and contents."""
        self.beginning = self._read(lines)
        """The state from which a fork resumes; None where everything begins with the query."""
        if self.beginning is not None:
            delivered = {line.event.id: line for line in self.beginning.deliveries}
            self.events = [delivered.get(line.event.id, line) for line in self.events]
        self.taken_over = 0 if self.beginning is None else self.beginning.taken_over
        """The number of events before the first that happens again."""
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
        """By the event that requested them."""

    def _read(self, lines: Iterable[Line]) -> Beginning | None:
        """Read all lines; return the state from which a fork resumes. Raises UnreadableEvent."""
        is_whole, read, behind_fork = False, list[Line](), 0
        for line in lines:
            read.append(line)
            match line:
                case RecordLine(record=ForkRecord()):
                    behind_fork = len(read)
                    self.records.clear()
                case EventLine():
                    self.events.append(line)
                case RecordLine(record=record):
                    self.records[record.of] = record
                case End():
                    is_whole = True
                case _:
                    self.known.read(line)
        if not is_whole:
            raise UnreadableEvent("the end line is missing: the file is incomplete.")
        if not self.events or not isinstance(self.events[0].event.data, QuerySubmitted):
            raise UnreadableEvent("it does not begin with a query.")
        return beginning_of(read[:behind_fork]) if behind_fork else None

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

    def place_of(self, of: UUID) -> int:
        """Return the number of events before the first output of an event.

        For an event without outputs: the number of events before its decision.
        """
        if outputs := self.outputs(of):
            return min(line.n for line in outputs) - 1
        return self._silent.get(of, 0)

    def decision_before(self, of: UUID) -> UUID | None:
        """Return the event that the coordinator decided before an event; None for the first and unrecorded ones."""
        return self._decisions_before.get(of)

    @cached_property
    def _decisions_before(self) -> Mapping[UUID, UUID]:
        decisions = [record.of for record in self.records_of(DecisionRecord)]
        return dict(zip(decisions[1:], decisions, strict=False))

    @cached_property
    def _silent(self) -> Mapping[UUID, int]:
        """Return, for each coordinator's event without outputs, the last event of the decisions before it."""
        places: dict[UUID, int] = {}
        last = 0
        for record in self.records_of(DecisionRecord):
            places[record.of] = last
            last = max([last, *(output.n for output in self.outputs(record.of))])
        last = 0
        for line in self.events:
            if line.event.data.inbox == "coordinator":
                places.setdefault(line.event.id, last)
                last = max([last, *(output.n for output in self.outputs(line.event.id))])
        return places

    def failure(self, of: UUID, component: Component) -> ErrorInfo | None:
        """Return the reason why the event was set aside, if the component could not handle it."""
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
        """Return the tool catalogue of that hash; an empty one when it was not recorded."""
        return self.known.catalogues.get(content_hash, Catalogue())

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
        calls = (RecordedRequest(whole_request(call, self.known.contents), call) for call in record.calls)
        return Exchange(record, tuple(calls), failure)
