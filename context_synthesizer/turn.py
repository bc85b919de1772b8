"""One round of a session: file its results, and make the next briefing. Pure, except for the cached index."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from antiphon_shared.events import (
    BriefingReady,
    BriefingRequested,
    QuerySubmitted,
    ReasoningCompleted,
    SummaryCompleted,
    ToolsCompleted,
)
from antiphon_shared.formats import FORMAT, in_format
from antiphon_shared.memory.filing import file_conversation, truncate_delta
from antiphon_shared.memory.layers import MEMORY_DELTA, MemoryDelta, Summary

from context_synthesizer.session_index_cache import CachedIndex
from context_synthesizer.step import StepText, step_text
from context_synthesizer.summaries import check_summary

_RATE_UNKNOWN = 1.15
"""Tokens per estimated token before the model has counted any; dialogue reaches 1.11."""
_RATE_MARGIN = 0.05
"""The margin for differences of the rate between briefings of one session."""


@dataclass(frozen=True, slots=True)
class RoundEvents:
    """The events of the session's log that a request names."""

    reasoning: ReasoningCompleted | None = None
    results: ToolsCompleted | None = None
    summary: SummaryCompleted | None = None


@dataclass(frozen=True, slots=True)
class BuiltBriefing:
    """A briefing: its event, and the texts to which the event refers."""

    ready: BriefingReady
    text: str
    to_summarize: str | None


def step_of(
    request: BriefingRequested, query: QuerySubmitted | None, reply: ReasoningCompleted | None
) -> StepText | None:
    """Return the step's part of the briefing, if the query has steps; `reply` holds the step's input."""
    if request.step is None or query is None or not query.options.step_list:
        return None
    return step_text(request.step, request.round, query.options.step_list, reply)


def file_round_delta(
    cached: CachedIndex, request: BriefingRequested, round_events: RoundEvents
) -> tuple[MemoryDelta, str]:
    """Return the delta of the round, which is not added yet, and why its summary was refused, if it was."""
    if request.conversation:  # the first delta contains only the conversation
        delta = file_conversation(cached.session_index.memory, request.conversation)
    else:
        delta = cached.session_index.filed(
            round_events.reasoning, round_events.results, untrusted=request.untrusted, entry=request.results
        )
    summary = check_summary(round_events.summary, cached.session_index.memory) if round_events.summary else ""
    if isinstance(summary, Summary) and summary not in cached.session_index.memory.summaries:
        delta = delta.model_copy(update={"summaries": (summary,)})
    return delta, summary if isinstance(summary, str) else ""


def store_delta(cached: CachedIndex, delta: MemoryDelta, memory_bytes_max: int, format: int) -> bytes:
    """Add a delta to the index, within the memory's bound; return the item to store, empty for an empty delta.

    `format` is that of the session.
    """
    if delta.is_empty:
        return b""
    delta = in_format(delta, format)
    item = MEMORY_DELTA.write(delta, FORMAT)
    bytes_left = memory_bytes_max - cached.bytes
    if len(item) > bytes_left:
        delta = truncate_delta(delta, bytes_left)
        item = MEMORY_DELTA.write(delta, FORMAT)
    cached.add(item, delta)
    return item


def write_briefing(
    cached: CachedIndex,
    request: BriefingRequested,
    salience: Mapping[str, float],
    summary_refused: str,
    step: StepText | None = None,
) -> BuiltBriefing:
    """Return the requested briefing, from all filed deltas.

    `salience` replaces the filed salience of some facts, for this briefing.
    """
    cached.session_index.weigh(salience)
    briefing = cached.session_index.briefing(request.round, request.max_rounds, request.level, step)
    left_out = cached.session_index.to_summarize(briefing, step) if request.may_summarize else None
    ready = BriefingReady(
        round=request.round,
        briefing=briefing.outline,
        to_summarize=left_out[1] if left_out else None,
        salience=dict(salience),
        summary_refused=summary_refused,
    )
    return BuiltBriefing(ready, briefing.text, left_out[0] if left_out else None)


def tokens_max(briefing_tokens: int, tokens_per_estimated: float) -> int:
    """Return the budget in estimated tokens that keeps a briefing within its setting in the model's own tokens.

    `tokens_per_estimated` is the mean of the session's prompts; 1 before the model has counted any. A margin is added,
    as the next briefing may have more tokens. The sum is rounded up to tenths, so that it changes seldom, as each
    change plans the briefing again.
    """
    rate = _RATE_UNKNOWN if tokens_per_estimated == 1 else tokens_per_estimated
    return int(briefing_tokens / (ceil(round((rate + _RATE_MARGIN) * 10, 6)) / 10))
