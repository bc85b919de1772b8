"""From what could be read of a session to what its answer is made of. Pure."""

from dataclasses import dataclass

from antiphon_shared.events import AnyEvent, AssemblyRequested, ReasoningCompleted, ToolsCompleted
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.layers import Memory

from response_assembler.compose import Material
from response_assembler.uncertainty import doubt


@dataclass(frozen=True, slots=True)
class Read:
    """What the session's record holds of what a request names."""

    memory: Memory
    reply: ReasoningCompleted | None = None
    reasoning: ReasoningCompleted | None = None
    """The last round's, where it is not in memory yet."""
    results: ToolsCompleted | None = None
    """Likewise."""
    batch: ToolsCompleted | None = None
    """What a batch still under way has brought, in place of its results."""
    missing: tuple[str, ...] = ()
    """What could not be read."""


def material_of(event: AnyEvent, request: AssemblyRequested, read: Read) -> Material:
    """The memory with the round filed that was not, and what is doubtful. `event` brought the request."""
    results, unfinished = read.results, tuple[tuple[str, str], ...]()
    if results is None and read.batch is not None:
        results = read.batch
        told = {result.call_id for result in results.results}
        calls = read.reasoning.tool_calls if read.reasoning else ()
        unfinished = tuple((call.id, call.name) for call in calls if call.id not in told)
    filed = file_round(read.memory, read.reasoning, results, untrusted=request.untrusted)
    return Material(
        session_id=event.subject,
        request=request,
        requested_at=event.time,
        memory=read.memory.plus(filed),
        reply=read.reply,
        unfinished=unfinished,
        doubts=tuple(doubt("record_missing", about=what) for what in read.missing),
    )
