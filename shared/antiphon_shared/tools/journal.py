"""The journal of a batch: the calls that have begun, and their outcomes. Pure.

One hash per round. Each call's outcome is stored under its id; an entry of its own marks a write that has
begun. The dispatcher writes the journal; the assembler reads that of a batch still in flight at the deadline.
"""

from collections.abc import Mapping, Sequence

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.stored import Kind
from antiphon_shared.tools.calls import ToolCall, ToolResult

_OUTCOME_KIND: Kind[ToolResult] = Kind("an outcome", ToolResult, writes_defaults=False)
_BEGUN = "begun:"
_OUTCOME = "outcome:"


def journal_name(round: int) -> str:
    """Return the name of a round's journal within its session."""
    return f"journal:{round}"


def result_name(handle: str) -> str:
    """Return the name under which a session stores the whole of a result that is shown in part only."""
    return f"result:{handle}"


def outcome_entry(call_id: str) -> str:
    """Return the name of the entry with a call's outcome."""
    return f"{_OUTCOME}{call_id}"


def begun_entry(call_id: str) -> str:
    """Return the name of the entry that marks a write as begun."""
    return f"{_BEGUN}{call_id}"


def write_outcome(result: ToolResult, format: int) -> bytes:
    """Return an outcome as a journal entry of a session of `format`."""
    return _OUTCOME_KIND.write(result, format)


def read_outcome(content: bytes | None) -> ToolResult | None:
    """Return the outcome in a journal entry, or None if it is missing or unreadable."""
    if content is None:
        return None
    try:
        return _OUTCOME_KIND.read(content)
    except UnreadableEvent:
        return None


def outcomes(settled: Mapping[str, bytes], calls: Sequence[ToolCall] | None = None) -> tuple[ToolResult, ...]:
    """Return the outcomes in a journal, in the order of the batch, by default of all calls."""
    stored = [read_outcome(content) for entry, content in settled.items() if entry.startswith(_OUTCOME)]
    ids = {call.id for call in calls or ()}
    results = [result for result in stored if result and (not ids or result.call_id in ids)]
    return tuple(sorted(results, key=lambda result: result.index))
