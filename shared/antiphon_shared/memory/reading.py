"""Reads of a session's record at its end: its log, its memory, and the journal of a batch in flight."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from antiphon_shared.bus.handling import MEMORY, SessionStore
from antiphon_shared.bus.reads import Completed, together
from antiphon_shared.events import (
    AnyEvent,
    AssemblyRequested,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ToolsCompleted,
)
from antiphon_shared.events.step_records import MaterialRead
from antiphon_shared.memory.findings import ReadRecord, lost_filing
from antiphon_shared.memory.layers import MEMORY_DELTA, MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolCall, ToolError, ToolResult
from antiphon_shared.tools.journal import begun_entry, journal_name, outcomes
from antiphon_shared.values import Round

DataT = TypeVar("DataT", bound=EventData)
BEGUN = ToolError(
    error_type="outcome_unknown",
    message="The session ended while the call was running.",
    suggested_action="Check whether it took effect before doing it again.",
)
"""The error of a write in a batch in flight that had begun and not ended."""


@dataclass
class Reading:
    """The readable part of a session's record; unreadable parts are noted."""

    session: SessionStore
    missing: list[str] = field(default_factory=list)
    filings: int = 0
    """The number of deltas in memory."""
    batch: ToolsCompleted | None = None
    """The results so far of a batch in flight."""

    @property
    def record(self) -> MaterialRead:
        """Return the inputs of the answer that a replay needs, from these reads."""
        return MaterialRead(filings=self.filings, batch=self.batch, missing=tuple(self.missing))

    async def of(self, request: AssemblyRequested) -> ReadRecord:
        """Read the parts that the request for an answer names."""
        deltas, question, reply, reasoning, results = await together(
            self._deltas(self.session.items(MEMORY)),
            self._event(request.question, QuerySubmitted),
            self._event(request.reply, ReasoningCompleted),
            self._event(request.reasoning, ReasoningCompleted),
            self._event(request.results, ToolsCompleted),
        )
        if results is None and request.batch is not None:
            await self._read_batch(request.batch, reasoning.tool_calls if reasoning else ())
        outputs = [(step.step, await self._event(step.reply, ReasoningCompleted)) for step in request.steps]
        steps = tuple((name, output.text) for name, output in outputs if output is not None)
        memory = Memory.of(question.query if question else "", deltas)
        return ReadRecord(memory, reply, reasoning, results, self.batch, tuple(self.missing), steps)

    def _event(self, log_entry: str | None, kind: type[DataT]) -> Awaitable[DataT | None]:
        """Return the named event, if one is named, and if it exists and is of the expected kind."""
        if log_entry is None:
            return Completed(None)
        return self._read_event(log_entry, kind, self.session.event(log_entry))

    async def _read_event(self, log_entry: str, kind: type[DataT], read: Awaitable[AnyEvent]) -> DataT | None:
        try:
            data: EventData | None = (await read).data
        except UnreadableEvent:
            data = None
        if isinstance(data, kind):
            return data
        self.missing.append(log_entry)
        return None

    async def _deltas(self, read: Awaitable[list[bytes]]) -> tuple[MemoryDelta, ...]:
        deltas = []
        items = await read
        self.filings = len(items)
        for number, item in enumerate(items, 1):
            try:
                deltas.append(MEMORY_DELTA.read(item))
            except UnreadableEvent:
                self.missing.append(lost_filing(number))
        return tuple(deltas)

    async def _read_batch(self, round: Round, calls: Sequence[ToolCall]) -> None:
        """Read the results so far of a batch in flight; the outcome of a begun write is unknown."""
        journal = await self.session.settled(journal_name(round))
        settled = outcomes(journal, calls or None)
        ids = {result.call_id for result in settled}
        begun = [
            _of_unknown_outcome(index, call)
            for index, call in enumerate(calls)
            if call.id not in ids and begun_entry(call.id) in journal
        ]
        self.batch = ToolsCompleted(round=round, results=(*settled, *begun))


def _of_unknown_outcome(index: int, call: ToolCall) -> ToolResult:
    return ToolResult(index=index, call_id=call.id, tool=call.name, status="error", error=BEGUN)
