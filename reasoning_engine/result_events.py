"""From the end of the calls for one request to the engine's event. Pure."""

from dataclasses import dataclass
from functools import cache

from antiphon_shared.events import (
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
)
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.values import Usage

from reasoning_engine.failure import Failure, failure
from reasoning_engine.prompted import ToolStyle
from reasoning_engine.prompted.replies import read_prompted_reply
from reasoning_engine.reply import Reply
from reasoning_engine.shaped import with_tool_answer
from reasoning_engine.summarize import summary_in

NOT_SUPPORTED = ErrorInfo(
    code="not_supported",
    message="The offline model writes no summaries. The session continues without a summary.",
)
NO_SUMMARY = ErrorInfo(
    code="empty_reply", message="The model's reply is not a summary. The session continues without a summary."
)


@cache
def deadline_failure() -> Failure:
    """Return the failure of a request whose deadline has passed."""
    return failure("timeout", "The deadline passed before the model replied")


@dataclass(frozen=True, slots=True)
class CallsResult:
    """The result of the calls for one request, and their cost."""

    reply: Reply | Failure
    usage: Usage
    attempts: int
    """The number of calls, failed ones included."""
    duration_ms: int


def reasoning_event(
    request: ReasoningRequested,
    ended: CallsResult,
    model_id: str,
    prompt_tokens: int,
    tool_style: ToolStyle = "native",
) -> ReasoningCompleted | ReasoningFailed:
    """Return the event for a round's request; `prompt_tokens` is the estimate for one call."""
    reply = ended.reply
    if isinstance(reply, Reply):
        reply = _read_form(reply, request, tool_style)
    if isinstance(reply, Failure):
        return ReasoningFailed(
            round=request.round,
            error=reply.error,
            model=model_id,
            usage=ended.usage,
            attempts=ended.attempts,
            retry_after_s=reply.retry_after_s,
            duration_ms=ended.duration_ms,
        )
    return ReasoningCompleted(
        round=request.round,
        text=reply.text,
        tool_calls=reply.tool_calls,
        stop_reason=reply.stop_reason,
        refused=reply.refused,
        model=reply.model or model_id,
        usage=ended.usage,
        attempts=ended.attempts,
        prompt_tokens_estimated=prompt_tokens if ended.attempts == 1 else 0,
        duration_ms=ended.duration_ms,
    )


def _read_form(reply: Reply, request: ReasoningRequested, tool_style: ToolStyle) -> Reply:
    """Return the reply, with its answer and calls read from the form that was demanded."""
    is_shaped = request.output is not None
    if tool_style == "prompted":
        return read_prompted_reply(reply, request.tools, request.round, is_shaped)
    return with_tool_answer(reply, request.tools) if is_shaped else reply


def summary_event(
    request: SummaryRequested, ended: CallsResult, model_id: str
) -> SummaryCompleted | SummaryFailed:
    """Return the event for a request for a summary."""
    reply = ended.reply
    if isinstance(reply, Reply) and (text := summary_in(reply)):
        return SummaryCompleted(
            round=request.round,
            text=text,
            facts=request.facts,
            model=reply.model or model_id,
            usage=ended.usage,
            duration_ms=ended.duration_ms,
        )
    return SummaryFailed(
        round=request.round,
        error=reply.error if isinstance(reply, Failure) else NO_SUMMARY,
        model=model_id,
        usage=ended.usage,
        duration_ms=ended.duration_ms,
    )
