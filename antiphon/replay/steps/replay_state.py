"""The state of a replay: the content that was read, a recorded step, and the repeated step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from antiphon_shared.events import COMPONENTS, Component, EventData, ResponseReady, RunOpened, SessionOpened
from antiphon_shared.events.step_records import DecisionRecord, ExchangeRecord, StepRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import child_id
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.lines import CatalogueLine, ContentLine, DataT, EventLine, Line, SpecificationLine
from antiphon.replay.differences import Difference, NodeValueDifference
from coordinator.decision import LoggedEvent

COMPONENT_OF: dict[str, Component] = {
    "decision": "coordinator",
    "run": "coordinator",
    "briefing": "context_synthesizer",
    "exchange": "reasoning_engine",
    "batch": "tool_dispatcher",
    "assembly": "response_assembler",
}
"""The component of a step, by the kind of its record."""
assert set(COMPONENT_OF.values()) == set(COMPONENTS)


class Step(NamedTuple):
    """A recorded step: the event that was handled, and its outputs."""

    line: EventLine
    record: StepRecord
    outputs: Sequence[EventLine]

    @property
    def closes(self) -> bool:
        """Return whether the step is a decision that ended the session or the run."""
        if isinstance(self.record, DecisionRecord):
            return self.record.closes
        return self.output(ResponseReady) is not None

    @property
    def sent(self) -> list[EventData]:
        """Return the data of the outputs."""
        return [one.event.data for one in self.outputs]

    def output(self, kind: type[DataT]) -> DataT | None:
        """Return the first output of that kind."""
        return next((one for one in self.sent if isinstance(one, kind)), None)


class RepeatedStep(NamedTuple):
    """A step as repeated by today's code."""

    outputs: tuple[EventData, ...] = ()
    """Today's outputs."""
    others: tuple[tuple[str, Difference], ...] = ()
    """The differences that are not in the outputs, each with its kind, as in `Divergence.output`."""
    record: StepRecord | None = None
    """Today's record of the step; None if today's code decides no part of it."""
    texts: tuple[str, str, str] | None = None
    """A changed briefing: its recorded digest, the text that was sent, and today's text."""
    digests: tuple[str, str] | None = None
    """The recorded and today's digest of the step's change, if they differ."""
    unchecked: str = ""
    """The reason why a compared step does not count as checked; empty if it does."""
    sends: tuple[NodeValueDifference, ...] = ()
    """The differences in the events for other sessions."""


@dataclass
class RecordingContent:
    """The events, catalogues, specifications and contents read so far."""

    lines: dict[UUID, EventLine] = field(default_factory=dict)
    by_entry: dict[str, EventLine] = field(default_factory=dict)
    catalogues: dict[str, Catalogue] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)
    specifications: dict[str, dict[str, Any]] = field(default_factory=dict)
    opened: SessionOpened | RunOpened | None = None
    forgotten: list[str] = field(default_factory=list)
    """The log entries of the events that were dropped."""

    def read(self, line: Line) -> None:
        """Add the content of a line, except its record."""
        match line:
            case EventLine():
                self.add(line)
            case CatalogueLine():
                self.catalogues[line.hash] = line.catalogue
            case ContentLine():
                self.contents[line.hash] = line.content
            case SpecificationLine():
                self.specifications[line.hash] = line.specification

    def add(self, line: EventLine) -> None:
        if self.opened is None and isinstance(line.event.data, SessionOpened | RunOpened):
            self.opened = line.event.data
        self.lines[line.event.id] = line
        self.by_entry[line.entry] = line

    def forget(self, entry: str) -> None:
        """Drop an event that no later step needs, to save memory."""
        line = self.by_entry.pop(entry, None)
        if line is not None:
            self.lines.pop(line.event.id, None)
            self.forgotten.append(entry)

    def data(self, entry: str | None, kind: type[DataT]) -> DataT | None:
        """Return the data of the event at a log entry; None if `entry` is None. Raises UnreadableEvent."""
        if entry is None:
            return None
        line = self.by_entry.get(entry)
        if line is None or not isinstance(line.event.data, kind):
            raise UnreadableEvent(f"the recording has no {kind.type} at {entry}.")
        return line.event.data

    def logged_event(self, id: UUID | None) -> LoggedEvent | None:
        """Return the event of that id in the form that decisions need, or None."""
        line = None if id is None else self.lines.get(id)
        return None if line is None else LoggedEvent(line.entry, line.event)

    def catalogue(self, content_hash: str) -> Catalogue:
        """Return the catalogue of that hash; empty for an empty hash. Raises UnreadableEvent if it was not recorded."""
        if not content_hash:
            return Catalogue()
        if content_hash not in self.catalogues:
            raise UnreadableEvent(f"the recording lacks the tool catalogue {content_hash}.")
        return self.catalogues[content_hash]

    def handled(self, record: StepRecord) -> EventLine:
        """Return the event that a step has handled. Raises UnreadableEvent if it is missing."""
        line = self.lines.get(record.of)
        if line is None:
            raise UnreadableEvent(f"a record names the missing event {record.of}.")
        return line

    def outputs_of(self, record: StepRecord, handled: EventLine) -> list[EventLine]:
        """Return the outputs of a record's step. Raises UnreadableEvent if an output or a content is missing."""
        outputs = [line for id in output_ids(record) if (line := self.lines.get(id))]
        if len(outputs) < record.outputs:
            raise UnreadableEvent(f"an event that event {handled.n} led to is missing.")
        hashes = set(record.contents) if isinstance(record, ExchangeRecord) else set()
        if lacking := min(hashes - self.contents.keys(), default=""):
            raise UnreadableEvent(
                f"the record of event {handled.n} names the content {lacking}, which no earlier line holds."
            )
        return outputs


def output_ids(record: StepRecord) -> list[UUID]:
    """Return the ids of the events that a step has sent."""
    return [child_id(record.of, number) for number in range(record.outputs)]


Redo = Callable[[Step, RecordingContent], RepeatedStep]
"""A function that repeats a step. Raises UnreadableEvent if the recording lacks an input."""
