"""What a replay has read of a recording so far, and what came of an event today."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from antiphon_shared.events import COMPONENTS, Component, EventData, RunOpened, SessionOpened
from antiphon_shared.events.step_records import StepRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.lines import EventLine
from antiphon.recording.replaying.differences import AtNode, Difference
from coordinator.decision import Logged

DataT = TypeVar("DataT", bound=EventData)
RecordT = TypeVar("RecordT", bound=StepRecord)
COMPONENT_OF: dict[str, Component] = {
    "decision": "coordinator",
    "run": "coordinator",
    "briefing": "context_synthesizer",
    "exchange": "reasoning_engine",
    "batch": "tool_dispatcher",
    "assembly": "response_assembler",
}
"""By the kind of its record, who takes a step."""
assert set(COMPONENT_OF.values()) == set(COMPONENTS)


class Step(NamedTuple):
    """One recorded step: the event that was handled, and the events that came of it."""

    line: EventLine
    record: StepRecord
    outputs: Sequence[EventLine]


class Redone(NamedTuple):
    """The same step, done by today's code."""

    outputs: tuple[EventData, ...] = ()
    """What comes of it today; compared with what came of it then."""
    others: tuple[tuple[str, Difference], ...] = ()
    """What differs beside the outputs, by what it is: as `Divergence.output` says."""
    record: StepRecord | None = None
    """The step's record as it would be today; None where it holds nothing that today's code decides."""
    texts: tuple[str, str, str] | None = None
    """A briefing that has changed, by the digest it had: as it was sent, and as it would be."""
    digests: tuple[str, str] | None = None
    """Of what the step changed, as recorded and as today, where those differ."""
    unchecked: str = ""
    """Why the step does not count as checked although its events were compared; empty where it does."""
    sends: tuple[AtNode, ...] = ()
    """What differs in the events that it brings into other sessions."""


@dataclass
class Known:
    """The events, catalogues, specifications and contents that have been read."""

    lines: dict[UUID, EventLine] = field(default_factory=dict)
    by_entry: dict[str, EventLine] = field(default_factory=dict)
    catalogues: dict[str, Catalogue] = field(default_factory=dict)
    contents: dict[str, Any] = field(default_factory=dict)
    specifications: dict[str, dict[str, Any]] = field(default_factory=dict)
    opened: SessionOpened | RunOpened | None = None

    def add(self, line: EventLine) -> None:
        if self.opened is None and isinstance(line.event.data, SessionOpened | RunOpened):
            self.opened = line.event.data
        self.lines[line.event.id] = line
        self.by_entry[line.entry] = line

    def forget(self, entry: str) -> None:
        """Let go of an event that nothing names any more: results of tools are most of a recording."""
        line = self.by_entry.pop(entry, None)
        if line is not None:
            self.lines.pop(line.event.id, None)

    def data(self, entry: str | None, kind: type[DataT]) -> DataT | None:
        """What the event at a place of the log says; None for no place. Raises UnreadableEvent."""
        if entry is None:
            return None
        line = self.by_entry.get(entry)
        if line is None or not isinstance(line.event.data, kind):
            raise UnreadableEvent(f"the recording has no {kind.type} at {entry}.")
        return line.event.data

    def named(self, id: UUID | None) -> Logged | None:
        """The event of that id, as a decision takes it; None for none."""
        line = None if id is None else self.lines.get(id)
        return None if line is None else Logged(line.entry, line.event)

    def catalogue(self, content_hash: str) -> Catalogue:
        """The catalogue of that hash; empty for none. Raises UnreadableEvent when it was not recorded."""
        if not content_hash:
            return Catalogue()
        if content_hash not in self.catalogues:
            raise UnreadableEvent(f"the recording lacks the tool catalogue {content_hash}.")
        return self.catalogues[content_hash]


Redo = Callable[[Step, Known], Redone]
"""Does a step again. Raises UnreadableEvent when the recording lacks what it takes."""
