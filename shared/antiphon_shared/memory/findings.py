"""The findings of a session at its end, for its answer. Pure."""

from dataclasses import dataclass

from antiphon_shared.events import AssemblyRequested, ReasoningCompleted, ToolsCompleted
from antiphon_shared.events.session import Status
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.note import read_note
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.citations import cited_ids


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """The readable part of the session's record that a request for its answer names."""

    memory: Memory
    reply: ReasoningCompleted | None = None
    reasoning: ReasoningCompleted | None = None
    """The last round's reasoning, when it is not in memory yet."""
    results: ToolsCompleted | None = None
    """The last round's results, when they are not in memory yet."""
    batch: ToolsCompleted | None = None
    """The results so far of a batch in flight, in place of its complete results."""
    missing: tuple[str, ...] = ()
    """The names of parts that could not be read."""
    steps: tuple[tuple[str, str], ...] = ()
    """The name and output of each finished step."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The session's memory with its last round filed, and its last reply."""

    memory: Memory
    reply: ReasoningCompleted | None = None
    unfinished: tuple[tuple[str, str], ...] = ()
    """The id and tool of each call that had not ended, and of each write that had not begun."""
    missing: tuple[str, ...] = ()
    """The names of parts that could not be read."""
    steps: tuple[tuple[str, str], ...] = ()
    """The name and output of each finished step."""


def lost_filing(number: int) -> str:
    """Return the name of a filing in memory that could not be read, for `missing`."""
    return f"memory of filing {number}"


def findings_of(request: AssemblyRequested, read: ReadRecord) -> Findings:
    """Return the findings, with the last round filed if it was not."""
    results, unfinished = read.results, tuple[tuple[str, str], ...]()
    if results is None and read.batch is not None:
        results = read.batch
        reported = {result.call_id for result in results.results}
        calls = read.reasoning.tool_calls if read.reasoning else ()
        unfinished = tuple((call.id, call.name) for call in calls if call.id not in reported)
    filed = file_round(read.memory, read.reasoning, results, untrusted=request.untrusted)
    return Findings(read.memory.plus(filed), read.reply, unfinished, read.missing, read.steps)


def answer_in(reply: ReasoningCompleted | None, status: Status, memory: Memory) -> str | None:
    """Return the reply's text without its note, when it is an answer.

    Text of a reply whose calls never ran is only a plan.
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
