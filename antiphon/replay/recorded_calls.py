"""The tool calls in a recording, with their arguments and results. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from antiphon_shared.events import SessionOpened, ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolDefinition, ToolError, ToolResult
from antiphon_shared.tools.placeholders import has_placeholder

from antiphon.recording.lines import CatalogueLine, EventLine, Line, RecordLine
from tool_dispatcher.batch import resolve

_UNRESOLVED = (ValueError, AssertionError, IndexError)
"""The errors of placeholders that the plan has refused."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A recorded call."""

    event: int
    """The number of the `tools.completed` with its result."""
    round: int
    session_id: str
    tenant: str
    call: RequestedCall
    arguments: dict[str, Any] | None
    """The arguments as the tool received them; None if a value in them is unknown."""
    result: ToolResult
    definition: ToolDefinition | None
    """The definition of the tool in the session's catalogue."""
    is_refused: bool
    """Whether the tool was not called, because the dispatcher refused the call."""

    @property
    def writes(self) -> bool:
        return self.definition is not None and self.definition.effect == "write"


def batches_of(lines: Iterable[Line]) -> Iterator[tuple[RecordedCall, ...]]:
    """Yield the calls of each completed batch, in order."""
    catalogues: dict[str, Catalogue] = {}
    catalogue: Mapping[str, ToolDefinition] = {}
    requests: dict[UUID, ToolsRequested] = {}
    waiting: dict[UUID, tuple[EventLine, ToolsRequested, ToolsCompleted]] = {}
    for line in lines:
        match line:
            case CatalogueLine():
                catalogues[line.hash] = line.catalogue
            case EventLine(event=event):
                match event.data:
                    case SessionOpened() as opened:
                        catalogue = catalogues.get(opened.catalogue, Catalogue()).by_name
                    case ToolsRequested() as request:
                        requests[event.id] = request
                    case ToolsCompleted() as completed if event.causationid in requests:
                        waiting[event.causationid] = (line, requests.pop(event.causationid), completed)
            case RecordLine(record=BatchRecord() as record) if record.of in waiting:
                yield tuple(_calls(*waiting.pop(record.of), catalogue, record))
    for batch in waiting.values():
        yield tuple(_calls(*batch, catalogue, None))


def calls_with_results(
    request: ToolsRequested, completed: ToolsCompleted
) -> Iterator[tuple[RequestedCall, dict[str, Any] | None, ToolResult]]:
    """Yield each call, its arguments as the tool received them (None if unknown), and its result."""
    results: list[ToolResult | None] = [None] * len(request.calls)
    for result in completed.results:
        if result.index < len(results):
            results[result.index] = result
    for call, got in zip(request.calls, results, strict=True):
        if got is not None:
            yield call, _arguments(call, results), got


def _calls(
    line: EventLine,
    request: ToolsRequested,
    completed: ToolsCompleted,
    catalogue: Mapping[str, ToolDefinition],
    record: BatchRecord | None,
) -> Iterator[RecordedCall]:
    for call, arguments, result in calls_with_results(request, completed):
        yield RecordedCall(
            event=line.n,
            round=request.round,
            session_id=line.event.subject,
            tenant=request.tenant,
            call=call,
            arguments=arguments,
            result=result,
            definition=catalogue.get(call.name),
            is_refused=_is_refused(call, result, record),
        )


def _is_refused(call: RequestedCall, result: ToolResult, record: BatchRecord | None) -> bool:
    if call.refused is not None or call.problem is not None:
        return True
    if record is None or result.index not in record.refused:
        return False
    # Arguments that were invalid may be valid today.
    return record.refused[result.index].error_type != "validation_error"


def _arguments(call: RequestedCall, results: Sequence[ToolResult | None]) -> dict[str, Any] | None:
    if not has_placeholder(call.arguments):
        return call.arguments
    try:
        resolved = resolve(call, results)
    except _UNRESOLVED:
        return None
    return None if isinstance(resolved, ToolError) else resolved
