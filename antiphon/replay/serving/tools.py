"""Tools that answer from a recording: every call gets its recorded result, and no tool runs.

They replace the dispatcher's check of grants and its execution of units.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn
from uuid import UUID

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import AnyEvent, ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.formats import FORMAT
from antiphon_shared.memory.reading import BEGUN
from antiphon_shared.tools.calls import ToolCall, ToolDefinition, ToolError, ToolResult
from antiphon_shared.tools.journal import begun_entry, journal_name, outcome_entry, write_outcome
from antiphon_shared.tools.relevance import BUILT_INS
from antiphon_shared.values import JsonObject, JsonSchema

from antiphon.recording.hashes import sorted_json
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.turns import PATIENCE_S
from tool_dispatcher.access.gatekeeper import Gatekeeper, Permissions
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Unit
from tool_dispatcher.running.arguments import Arguments
from tool_dispatcher.running.batch_run import BatchRun
from tool_dispatcher.running.call import Caller

_CallKey = tuple[str, str]
"""The tool and the arguments of a call."""


_UNKNOWN = BatchRecord(of=UUID(int=0), batch_concurrency=1, collapse_above=1)
"""The record for a batch without one."""


class CallTrace:
    """The recorded results of one batch, and the order in which its units ended."""

    def __init__(self, results: Sequence[ToolResult | None], record: BatchRecord | None) -> None:
        self.results, self.record = results, record or _UNKNOWN
        self._turns = {unit: turn for turn, units in enumerate(self.record.ends) for unit in units}
        self._unused = [len(units) for units in self.record.ends]
        self._turn_ended = [asyncio.Event() for _ in self.record.ends]

    async def wait_for_turn(self, unit: Unit) -> None:
        """Wait until the units before this one have ended, up to a limit."""
        if turn := self._turns.get(unit.number, 0):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._turn_ended[turn - 1].wait()
            except TimeoutError:
                return

    def ended(self, unit: Unit) -> None:
        turn = self._turns.get(unit.number)
        if turn is not None:
            self._unused[turn] -= 1
            if self._unused[turn] <= 0:
                self._turn_ended[turn].set()

    async def restore_journal(self, request: ToolsRequested, session: SessionStore) -> bool:
        """Restore the journal as the worker that finished the batch found it; return whether it has any calls."""
        settled = [(outcome_entry(one.call_id), one) for one in self.record.settled.values()]
        begun = [
            (begun_entry(request.calls[index].id), result)
            for index in self.record.begun
            if index < len(request.calls) and (result := self.results[index]) is not None
        ]
        for entry, result in (*settled, *begun):
            await session.note(journal_name(request.round), entry, write_outcome(result, FORMAT))
        return bool(settled or begun)


current_trace: ContextVar[CallTrace] = ContextVar("current_trace")
"""The trace of the batch that is running."""


class RecordedResults:
    """The recorded results of a session's calls; the n-th equal call gets the n-th result."""

    def __init__(self, recording_index: RecordingIndex) -> None:
        self._recording_index = recording_index
        self._unused: dict[_CallKey, list[ToolResult]] = defaultdict(list)
        self._by_batch: dict[UUID, list[ToolResult | None]] = {}
        for line, request in recording_index.all_of(ToolsRequested):
            completed = recording_index.output(line.event.id, ToolsCompleted)
            for result in completed.results if completed else ():
                if result.index < len(request.calls):
                    self._unused[_call_identity(request.calls[result.index])].append(result)

    def trace_of(self, event: AnyEvent) -> CallTrace:
        """Return the trace of a batch, with the same results for a redelivery."""
        request, record = event.data, self._recording_index.records.get(event.id)
        assert isinstance(request, ToolsRequested)
        if event.id not in self._by_batch:
            self._by_batch[event.id] = [self._result(index, call) for index, call in enumerate(request.calls)]
        return CallTrace(self._by_batch[event.id], record if isinstance(record, BatchRecord) else None)

    def _result(self, index: int, call: ToolCall) -> ToolResult | None:
        results = self._unused[_call_identity(call)]
        return results.pop(0).model_copy(update={"index": index, "call_id": call.id}) if results else None


class RecordedCaller(Caller):
    """A caller that returns a unit's recorded results in its turn, and runs no tool."""

    def __init__(self, session_id: str, misses: list[Miss]) -> None:
        self._session_id, self._misses = session_id, misses

    async def run(
        self, unit: Unit, batch: BatchRun, earlier: Sequence[ToolResult | None]
    ) -> tuple[ToolResult, ...]:
        """See Caller."""
        trace = current_trace.get()
        results = [
            trace.results[index] or self._missed(index, batch.request.calls[index]) for index in unit.calls
        ]
        await trace.wait_for_turn(unit)
        settled = await batch.journal.settle(results)
        trace.ended(unit)
        return settled

    async def repeats(
        self, request: ToolsRequested, session_id: str, arguments: Mapping[int, Arguments]
    ) -> frozenset[int]:
        """See Caller."""
        return frozenset(current_trace.get().record.repeats)

    def _missed(self, index: int, call: ToolCall) -> ToolResult:
        request = f"`{call.name}` is not in the recording as a call with {_arguments_text(call)}"
        self._misses.append(Miss(self._session_id, "tool", request))
        error = ToolError(
            error_type="internal_error",
            message="The recording holds no such call.",
            suggested_action="Do not call it again: this is a rerun, and no tool is run.",
        )
        return ToolResult(index=index, call_id=call.id, tool=call.name, status="error", error=error)


class RecordedGatekeeper(Gatekeeper):
    """A gatekeeper with the recorded refusals, as grants may have expired and there are no real tools."""

    def __init__(self) -> None:
        """Create a gatekeeper without tools and keys."""

    async def permissions(self, request: ToolsRequested, session: SessionStore) -> Permissions:
        """See Gatekeeper."""
        record = current_trace.get().record
        refused = {index: error for index, error in record.refused.items() if index not in record.begun}
        return Permissions(refused=refused, denied=record.barred)


class RecordedTool(Tool):
    """A tool from its definition in the catalogue; errors of its arguments are recorded as results."""

    secret_paths = ()
    reconcile = None
    is_async = False

    def __init__(self, definition: ToolDefinition) -> None:
        self.name, self.description = definition.name, definition.description
        self.parameters, self.function = _Anything(), _never_called
        self.contract, self.input_schema = definition.contract, definition.input_schema

    @property
    def example(self) -> dict[str, Any] | None:
        return current_trace.get().record.examples.get(self.name)


def recorded_tools(recording_index: RecordingIndex) -> dict[str, Tool]:
    """Return the tools of a session by name, without built-in tools. Raises ValidationError."""
    tools = recording_index.catalogue(recording_index.catalogue_hash).tools
    return {one.name: RecordedTool(one) for one in tools if one.name not in BUILT_INS}


async def note_unfinished(batch: ToolsCompleted, session: SessionStore) -> None:
    """Write the recorded state of a batch in flight into its journal."""
    for result in batch.results:
        entry = begun_entry(result.call_id) if result.error == BEGUN else outcome_entry(result.call_id)
        await session.note(journal_name(batch.round), entry, write_outcome(result, FORMAT))


class _Anything:
    """Parameters that accept any arguments."""

    schema: JsonSchema = {"type": "object"}  # never changed

    def read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return arguments


def _never_called(arguments: JsonObject, context: object) -> NoReturn:
    raise AssertionError("a recorded tool is not run")


def _call_identity(call: ToolCall) -> _CallKey:
    return call.name, sorted_json(call.arguments).decode()


def _arguments_text(call: ToolCall) -> str:
    _, arguments = _call_identity(call)
    return arguments if len(arguments) <= 500 else f"{arguments[:500]}…"
