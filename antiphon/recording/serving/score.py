"""One recording as those need it who play a part in its rerun. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from antiphon.recording.lines import CatalogueLine, ContentLine, End, EventLine, Line, RecordLine
from antiphon.recording.requests import whole_request
from shared.errors import ErrorInfo, UnreadableEvent
from shared.events import (
    ApprovalDecided,
    AssemblyOverdue,
    CancellationRequested,
    Component,
    ComponentFailed,
    DeadlineReached,
    EventData,
    ModelDue,
    PersonOverdue,
    QuerySubmitted,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    SessionOpened,
    SummaryFailed,
)
from shared.step_records import AnyRecord, DecisionRecord, ExchangeRecord, ForkRecord, ModelCall, StepRecord
from shared.tools import Catalogue

DataT = TypeVar("DataT", bound=EventData)
RecordT = TypeVar("RecordT", bound=StepRecord)

FROM_OUTSIDE = (
    CancellationRequested,
    ApprovalDecided,
    QuestionAnswered,
    DeadlineReached,
    PersonOverdue,
    ModelDue,
    AssemblyOverdue,
)
"""What people and timers say. It is said again when what preceded it has happened again, whatever the clock shows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One call to a model: the request made whole, and what came of it."""

    request: Mapping[str, Any]
    call: ModelCall

    @property
    def is_unanswered(self) -> bool:
        """Whether the time was over, or the step dropped, before there was a reply or an error."""
        return self.call.reply is None and self.call.error is None


@dataclass(frozen=True, slots=True)
class Exchange:
    """The calls that one event took, and how they ended where they failed."""

    record: ExchangeRecord
    calls: tuple[Asked, ...]
    failure: ReasoningFailed | SummaryFailed | None


class Score:
    """The events of one session, in order, with what came of each."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Raises UnreadableEvent when the recording is not whole, or holds nothing to run again."""
        self.events: list[EventLine] = []
        self.records: dict[UUID, AnyRecord] = {}
        self.catalogues: dict[str, Catalogue] = {}
        self._contents: dict[str, Any] = {}
        self.is_fork = False
        """Whether it was changed in its middle."""
        is_whole = False
        for line in lines:
            match line:
                case RecordLine(record=ForkRecord()):
                    self.is_fork = True
                case EventLine():
                    self.events.append(line)
                case RecordLine(record=record):
                    self.records[record.of] = record
                case CatalogueLine():
                    self.catalogues[line.hash] = line.catalogue
                case ContentLine():
                    self._contents[line.hash] = line.content
                case End():
                    is_whole = True
        if not is_whole:
            raise UnreadableEvent("it has no end line: it was cut off.")
        if not self.events or not isinstance(self.events[0].event.data, QuerySubmitted):
            raise UnreadableEvent("it does not begin with a query.")
        self.query = self.events[0].event
        self.session_id = self.query.subject
        self.by_id = {line.event.id: line for line in self.events}
        self.outside = [line for line in self.events if isinstance(line.event.data, FROM_OUTSIDE)]
        self._outputs: dict[UUID, list[EventLine]] = {}
        for line in self.events:
            if line.event.causationid is not None and not isinstance(line.event.data, FROM_OUTSIDE):
                self._outputs.setdefault(line.event.causationid, []).append(line)
        if any(self.all_of(ReasoningCompleted)) and not any(self.records_of(ExchangeRecord)):
            raise UnreadableEvent(
                "it holds no exchanges with a model.",
                hint="Record sessions with ANTIPHON_BUS_RECORDING=true, which is the default.",
            )
        self.exchanges: Mapping[UUID, Exchange] = {
            record.of: self._exchange(record) for record in self.records_of(ExchangeRecord)
        }
        """By the event that asked for them."""

    def outputs(self, of: UUID) -> Sequence[EventLine]:
        """What came of an event."""
        return self._outputs.get(of, ())

    def output(self, of: UUID, kind: type[DataT]) -> DataT | None:
        """The first of them that is of that kind."""
        return next((line.event.data for line in self.outputs(of) if isinstance(line.event.data, kind)), None)

    def all_of(self, kind: type[DataT]) -> Iterable[tuple[EventLine, DataT]]:
        """The events of one kind."""
        return ((line, line.event.data) for line in self.events if isinstance(line.event.data, kind))

    def records_of(self, kind: type[RecordT]) -> Iterable[RecordT]:
        """The records of one kind."""
        return (record for record in self.records.values() if isinstance(record, kind))

    def place_of(self, of: UUID) -> int:
        """How many events were there before the first that came of it.

        Where nothing came of it: before it was decided on that nothing does, or that it changes the session alone.
        """
        if outputs := self.outputs(of):
            return min(line.n for line in outputs) - 1
        return self._silent.get(of, 0)

    @cached_property
    def _silent(self) -> Mapping[UUID, int]:
        """Of each event of the coordinator's that nothing came of, the last event of the decisions before it."""
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
        """Why the event was set aside, if the component could not handle it."""
        failed = self.output(of, ComponentFailed)
        return failed.error if failed is not None and failed.component == component else None

    def is_unanswered(self, of: UUID) -> bool:
        """Whether nothing came of an event before the session, or the recording, ended."""
        return of in self.by_id and of not in self._outputs and of not in self.records

    def catalogue(self, content_hash: str) -> Catalogue:
        """The tool catalogue of that hash; empty when it was not recorded."""
        return self.catalogues.get(content_hash, Catalogue())

    @cached_property
    def opened(self) -> SessionOpened | None:
        return next((data for _, data in self.all_of(SessionOpened)), None)

    @cached_property
    def response(self) -> ResponseReady | None:
        return next((data for _, data in self.all_of(ResponseReady)), None)

    def _exchange(self, record: ExchangeRecord) -> Exchange:
        failure = self.output(record.of, ReasoningFailed) or self.output(record.of, SummaryFailed)
        calls = (Asked(whole_request(call, self._contents), call) for call in record.calls)
        return Exchange(record, tuple(calls), failure)
