"""The filing of one round's outcome. Pure."""

from collections.abc import Collection
from typing import Literal

from pydantic_core import to_json

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.memory.briefing import id_ranges
from antiphon_shared.memory.filing.delta_builder import MemoryDeltaBuilder, Origin
from antiphon_shared.memory.filing.parts import parts_of
from antiphon_shared.memory.filing.queries import search_query
from antiphon_shared.memory.filing.recalled import recalled_parts
from antiphon_shared.memory.filing.sameness import KnownFacts
from antiphon_shared.memory.intent import Intent
from antiphon_shared.memory.layers import MemoryDelta, ReasoningNote, ToolUse
from antiphon_shared.memory.note import read_note
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.storable import storable, storable_text
from antiphon_shared.tools.advice import advice
from antiphon_shared.tools.calls import ErrorType, ToolError, ToolResult
from antiphon_shared.tools.relevance import FIND_TOOLS, RECALL, tool_names_in
from antiphon_shared.values import JsonObject, LogEntry

_NO_RESULTS = "found nothing"
_UNEXPLAINED = "The tool failed and did not say why."


def file_round(
    memory: Memory,
    reasoning: ReasoningCompleted | None,
    results: ToolsCompleted | None,
    *,
    filed_facts: KnownFacts | None = None,
    untrusted: Collection[str] = (),
    entry: LogEntry | None = None,
) -> MemoryDelta:
    """Return the delta of one round. A statement in memory is not filed twice.

    `filed_facts` is `KnownFacts.of(memory)`, kept up to date by a caller that files round after round; it is not
    changed. `untrusted` are the ids of the calls with untrusted content, `entry` the log entry of `results`.
    """
    notes = _notes(memory, reasoning)
    intents = _intents(memory, notes, reasoning or results)
    if results is None:
        return MemoryDelta(reasoning=notes, intents=intents)
    arguments_by_call = {call.id: call.arguments for call in reasoning.tool_calls} if reasoning else {}
    filed = {use.call_id for use in memory.tool_usage if use.round == results.round}
    builder = MemoryDeltaBuilder(memory, KnownFacts.of(memory) if filed_facts is None else filed_facts)
    uses: list[ToolUse] = []
    for result in results.results:
        if result.call_id in filed:
            continue
        origin = Origin(
            results.round, result.call_id, result.substitute or result.tool, result.call_id in untrusted
        )
        arguments = storable(arguments_by_call.get(result.call_id, {}))
        uses.append(_use_of(result, origin, arguments, _file_result(builder, result, origin), entry))
    return builder.delta.model_copy(
        update={"reasoning": notes, "tool_usage": tuple(uses), "intents": intents}
    )


def _intents(
    memory: Memory, notes: tuple[ReasoningNote, ...], brought: ReasoningCompleted | ToolsCompleted | None
) -> tuple[Intent, ...]:
    """Return the session's intents that are new: with the first round, and with each note that changes them."""
    if brought is None:
        return ()
    if not any(one.note for one in notes):
        now = memory.intent_after(brought.round)
        return (now,) if now else ()
    first = None if memory.intents else memory.intent_after(brought.round)
    now = memory.plus(MemoryDelta(reasoning=notes, intents=(first,) if first else ())).intent_after(
        brought.round
    )
    return tuple(one for one in (first, now) if one)


def _notes(memory: Memory, reasoning: ReasoningCompleted | None) -> tuple[ReasoningNote, ...]:
    if reasoning is None:
        return ()
    note, words = read_note(storable_text(reasoning.text))
    entry = ReasoningNote(round=reasoning.round, text=words if words.strip() else "", note=note)
    is_news = (entry.text or note is not None) and entry not in memory.reasoning
    return (entry,) if is_news else ()


def _file_result(builder: MemoryDeltaBuilder, result: ToolResult, origin: Origin) -> tuple[str, ...]:
    """File a result, and return the ids of its facts, new or known."""
    if result.status == "error" or _tools_in(result) is not None:
        return ()
    data = storable(result.data)
    recalled = recalled_parts(data) if result.tool == RECALL else None
    if recalled is not None:
        return tuple(id for one in recalled for id in builder.file_again(one, origin.is_untrusted))
    return builder.file(parts_of(data), origin)


def _use_of(
    result: ToolResult,
    origin: Origin,
    arguments: JsonObject,
    facts: tuple[str, ...],
    entry: LogEntry | None,
) -> ToolUse:
    outcome, what_happened, message = _outcome_of(result, facts)
    return ToolUse(
        round=origin.round,
        call_id=result.call_id,
        tool=result.tool,
        arguments=arguments,
        query="" if result.tool == RECALL else search_query(arguments),
        outcome=outcome,
        message=message,
        what_happened=what_happened,
        advice="" if outcome == "ok" else advice(outcome),
        facts=id_ranges(facts),
        repeated=result.repeated.call_id if result.repeated else "",
        repeated_because=_why_not_run(result),
        settles=result.settles,
        substitute=result.substitute,
        substitute_because=_why_substituted(result),
        handle=result.handle,
        is_untrusted=origin.is_untrusted,
        results=entry,
    )


def _outcome_of(result: ToolResult, facts: tuple[str, ...]) -> tuple[ErrorType | Literal["ok"], str, str]:
    """Return `ok` or the error type, the event in words, and the message for the model."""
    if result.status == "error":
        if result.error is None:
            return "internal_error", _UNEXPLAINED, _UNEXPLAINED
        error = result.error
        return error.error_type, storable_text(error.message), storable_text(_message_of(error))
    if names := _tools_in(result):
        return "ok", "", storable_text(f"found {', '.join(names)}; they can be called now")
    return "ok", "", "" if facts else _NO_RESULTS


def _why_substituted(result: ToolResult) -> str:
    if not result.substitute or result.substitute_because:
        return result.substitute_because
    return f"{result.tool} could not answer; {result.substitute} was used in its place."


def _why_not_run(result: ToolResult) -> str:
    """Return the line about a repetition; empty for a refusal, whose error has it."""
    return result.repeated.line(result.tool) if result.repeated and result.error is None else ""


def _tools_in(result: ToolResult) -> tuple[str, ...] | None:
    is_search = result.tool == FIND_TOOLS and result.status == "ok"
    return tool_names_in(result.data) if is_search else None


def _message_of(error: ToolError) -> str:
    """Return the message of a failure for the model: the error, a valid call, and what to do next."""
    parts = [f"{error.code}: {error.message}" if error.code else error.message]
    if error.example_valid_call is not None:
        parts.append(f"Valid arguments: {to_json(storable(error.example_valid_call)).decode()}.")
    parts.append(error.suggested_action)
    if error.retry_after_s is not None:
        parts.append(f"It may work again in {error.retry_after_s:g} s.")
    return " ".join(filter(None, parts))
