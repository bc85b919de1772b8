"""The async shell: gather what the session has, compose its answer, and let it be committed once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from antiphon_shared import faults
from antiphon_shared.bus.handling import (
    MEMORY,
    NOTHING,
    RESPONSE,
    Delivery,
    Handlers,
    Outcome,
    Put,
    SessionStore,
)
from antiphon_shared.events import (
    AssemblyRequested,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ToolsCompleted,
)
from antiphon_shared.events.session import RESPONSE_KIND
from antiphon_shared.events.step_records import AssemblyRecord
from antiphon_shared.memory.layers import MEMORY_DELTA, Memory, MemoryDelta
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolCall, ToolError, ToolResult
from antiphon_shared.tools.journal import begun_entry, journal_name, outcomes
from antiphon_shared.values import Round

from response_assembler.compose import Material, compose
from response_assembler.material import Read, material_of

DataT = TypeVar("DataT", bound=EventData)


async def on_assembly_requested(delivery: Delivery, session: SessionStore) -> Outcome:
    """Compose the session's answer from whatever of its record can be read; nothing if it has one already."""
    request = delivery.event.data
    assert isinstance(request, AssemblyRequested)
    version, answered = await session.document(RESPONSE)
    if answered is not None:
        return NOTHING
    reading = _Reading(session)
    response = compose(await _gather(delivery, request, reading))
    await faults.at("answer.composed")
    return Outcome(
        events=(response,),
        writes=(Put(RESPONSE, version, RESPONSE_KIND.write(response, delivery.event.format)),),
        record=AssemblyRecord(
            of=delivery.event.id,
            filings=reading.filings,
            batch=reading.batch,
            missing=tuple(reading.missing),
        ),
    )


HANDLERS: Handlers = {AssemblyRequested: on_assembly_requested}


@dataclass
class _Reading:
    """The session's record as far as it can be read; what cannot be is remembered."""

    session: SessionStore
    missing: list[str] = field(default_factory=list)
    filings: int = 0
    """How many there were in memory."""
    batch: ToolsCompleted | None = None
    """What a batch still under way has brought."""

    async def event(self, log_entry: str | None, kind: type[DataT]) -> DataT | None:
        """The event named, if one is, and if it is there and of the kind expected."""
        if log_entry is None:
            return None
        try:
            data = (await self.session.event(log_entry)).data
        except UnreadableEvent:
            data = None
        if isinstance(data, kind):
            return data
        self.missing.append(log_entry)
        return None

    async def deltas(self) -> tuple[MemoryDelta, ...]:
        deltas = []
        items = await self.session.items(MEMORY)
        self.filings = len(items)
        for number, item in enumerate(items, 1):
            try:
                deltas.append(MEMORY_DELTA.read(item))
            except UnreadableEvent:
                self.missing.append(f"memory of filing {number}")
        return tuple(deltas)

    async def read_batch(self, round: Round, calls: Sequence[ToolCall]) -> None:
        """Read what a batch still under way has brought so far; the outcome of a write only begun is unknown."""
        journal = await self.session.settled(journal_name(round))
        settled = outcomes(journal, calls or None)
        ids = {result.call_id for result in settled}
        begun = [
            _of_unknown_outcome(index, call)
            for index, call in enumerate(calls)
            if call.id not in ids and begun_entry(call.id) in journal
        ]
        self.batch = ToolsCompleted(round=round, results=(*settled, *begun))


async def _gather(delivery: Delivery, request: AssemblyRequested, reading: _Reading) -> Material:
    """The session's memory with the rounds filed that were not, its last reply, and what is missing."""
    deltas, question, reply, reasoning, results = await asyncio.gather(
        reading.deltas(),
        reading.event(request.question, QuerySubmitted),
        reading.event(request.reply, ReasoningCompleted),
        reading.event(request.reasoning, ReasoningCompleted),
        reading.event(request.results, ToolsCompleted),
    )
    if results is None and request.batch is not None:
        await reading.read_batch(request.batch, reasoning.tool_calls if reasoning else ())
    memory = Memory.of(question.query if question else "", deltas)
    read = Read(memory, reply, reasoning, results, reading.batch, tuple(reading.missing))
    return material_of(delivery.event, request, read)


def _of_unknown_outcome(index: int, call: ToolCall) -> ToolResult:
    error = ToolError(
        error_type="outcome_unknown",
        message="The session ended while the call was running.",
        suggested_action="Check whether it took effect before doing it again.",
    )
    return ToolResult(index=index, call_id=call.id, tool=call.name, status="error", error=error)
