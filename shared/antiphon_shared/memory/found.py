"""What a session has found by its end, for whoever composes its answer. Pure."""

from dataclasses import dataclass

from antiphon_shared.events import AssemblyRequested, ReasoningCompleted, ToolsCompleted
from antiphon_shared.events.session import Status
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.layers import Memory
from antiphon_shared.memory.note import read_note
from antiphon_shared.text.citations import cited_ids


@dataclass(frozen=True, slots=True)
class Read:
    """What the session's record holds of what a request for its answer names."""

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
    steps: tuple[tuple[str, str], ...] = ()
    """Name and output of each finished step."""


@dataclass(frozen=True, slots=True)
class Found:
    """The session's memory with its last round filed, and its last reply."""

    memory: Memory
    reply: ReasoningCompleted | None = None
    unfinished: tuple[tuple[str, str], ...] = ()
    """Id and tool of each call that had not ended, and of each write that had not begun."""
    missing: tuple[str, ...] = ()
    """What could not be read."""
    steps: tuple[tuple[str, str], ...] = ()
    """Name and output of each finished step."""


def found_of(request: AssemblyRequested, read: Read) -> Found:
    """Return what was read, with the round filed that was not."""
    results, unfinished = read.results, tuple[tuple[str, str], ...]()
    if results is None and read.batch is not None:
        results = read.batch
        reported = {result.call_id for result in results.results}
        calls = read.reasoning.tool_calls if read.reasoning else ()
        unfinished = tuple((call.id, call.name) for call in calls if call.id not in reported)
    filed = file_round(read.memory, read.reasoning, results, untrusted=request.untrusted)
    return Found(read.memory.plus(filed), read.reply, unfinished, read.missing, read.steps)


def answer_in(reply: ReasoningCompleted | None, status: Status, memory: Memory) -> str | None:
    """Return the reply's text without its note, when it is an answer.

    Words beside calls that never ran are only a plan.
    """
    if reply is None:
        return None
    _, text = read_note(reply.text)
    if not text.strip():
        return None
    is_plan = bool(reply.tool_calls) and status != "complete"
    if is_plan and memory.facts and not cited_ids(text):
        return None
    return text
