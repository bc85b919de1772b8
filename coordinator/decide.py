"""What happens next: a pure function of the session and the event.

The session waits for the reply to one request at a time, by that request's id. Whatever else arrives, late,
twice, or from elsewhere, changes nothing.
"""

from datetime import timedelta

from coordinator import approvals, limits, offer, people, questions, summaries
from coordinator.requests import (
    DEADLINE,
    LEVELS,
    OVERDUE,
    hand_out,
    request_assembly,
    request_briefing,
    request_reasoning,
    request_tools,
)
from coordinator.session import Decision, Session, doubt
from shared.bus.handling import CancelTimer
from shared.events import (
    AnyEvent,
    ApprovalDecided,
    AssemblyOverdue,
    BriefingReady,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    PersonOverdue,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    SummaryCompleted,
    SummaryFailed,
    ToolsCompleted,
)
from shared.outages import NO_OUTAGES, Outages
from shared.session import Response, Status, TerminationReason, Uncertainty
from shared.tools import Catalogue
from shared.values import LogEntry

_MISSED_NAMED = 10
_NEARLY = timedelta(milliseconds=100)
"""An engine gives up at the deadline by its own clock."""


def decide(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    catalogue: Catalogue,
    outages: Outages = NO_OUTAGES,
) -> Decision:
    """One event in, the session's next step out. `log_entry` is where the event stands in the log.

    `catalogue` is the one the session was opened with; empty when it is not kept any more. `outages` is what is
    out of order by now.
    """
    if session.phase == "closed":
        return Decision(session)
    match event.data:
        case ResponseReady():
            return _close(session)
        case AssemblyOverdue() if session.phase == "assembling":
            return _answer_oneself(session, event, "The answer could not be put together in time.")
        case ComponentFailed(component="response_assembler", failed_event=failed) if (
            failed == session.awaiting
        ):
            return _answer_oneself(session, event, "The answer could not be put together.")
        case _ if session.phase == "assembling":
            return Decision(session)
        case CancellationRequested():
            return _end(session, event, "cancelled", "cancelled")
        case DeadlineReached():
            return _end(session, event, "partial", "deadline_exceeded")
        case ComponentFailed() as failure:
            return _on_failure(session, event, failure)
        case SummaryCompleted() | SummaryFailed() as summary:
            return Decision(summaries.after_reply(session, event, log_entry, summary))
        case ApprovalDecided() as decision:
            decided = approvals.after_decision(session, log_entry, decision)
            return _on_person(session, decided, event, catalogue)
        case QuestionAnswered() as answer:
            answered = questions.after_answer(session, log_entry, answer)
            return _on_person(session, answered, event, catalogue)
        case PersonOverdue(round=overdue):
            is_waiting = session.phase == "approval" and overdue == session.round
            return _on_person(session, people.given_up(session) if is_waiting else session, event, catalogue)
        case _ if event.causationid is None or event.causationid != session.awaiting:
            return Decision(session)
        case BriefingReady() as ready:
            return _on_briefing(session, event, ready, catalogue)
        case ReasoningCompleted() as reply:
            return _on_reply(session, event, log_entry, reply, catalogue)
        case ReasoningFailed() as failure:
            spent = session.model_copy(update={"usage": session.usage.plus(failure.usage)})
            return _on_reasoning_failure(spent, event, failure.error.message)
        case ToolsCompleted() as completed:
            return _on_results(session, event, log_entry, completed, catalogue)
        case _:
            return Decision(session)


def _on_briefing(session: Session, event: AnyEvent, ready: BriefingReady, catalogue: Catalogue) -> Decision:
    """The briefing holds what was filed; now the limits decide whether, and how, the model is asked."""
    outline = ready.briefing
    filed = session.model_copy(
        update={
            "reasoning": None,
            "results": None,
            "untrusted_calls": (),
            "has_omissions": session.has_omissions or bool(outline.omitted or outline.shortened),
            "missed": outline.missed,
            "summary_failures": session.summary_failures + bool(ready.summary_refused),
        }
    )
    left = limits.tokens_left(filed)
    if left <= limits.calibrated(filed, outline.tokens):
        return _end(filed, event, "partial", "token_budget_exhausted")
    return summaries.asked_beside(request_reasoning(filed, event, ready, left, catalogue), event, ready)


def _on_reply(
    session: Session, event: AnyEvent, log_entry: LogEntry, reply: ReasoningCompleted, catalogue: Catalogue
) -> Decision:
    """The model's reply ends the session, or asks for tools."""
    heard = session.model_copy(
        update={
            "usage": session.usage.plus(reply.usage),
            "rounds_used": session.round,
            "reasoning": log_entry,
            "reasoning_failures": 0,
            **_calibration(session, reply),
        }
    )
    is_last = heard.last_round is not None
    if reply.stop_reason == "refusal":
        return _end(heard, event, "failed", "model_refused", log_entry)
    if reply.tool_calls and not is_last and heard.tools:
        if limits.tokens_left(heard) <= 0:
            return _end(heard, event, "partial", "token_budget_exhausted", log_entry)
        return request_tools(offer.after_reply(heard, catalogue, reply), event, reply.tool_calls, catalogue)
    if reply.stop_reason in ("max_tokens", "context_window"):
        return _end(heard, event, "partial", "reply_truncated", log_entry)
    if heard.last_round is not None:
        return _end(heard, event, "partial", heard.last_round, log_entry)
    return _end(heard, event, "complete", "natural_completion", log_entry)


def _on_person(session: Session, heard: Session, event: AnyEvent, catalogue: Catalogue) -> Decision:
    """People were heard, or are waited for no longer; when no call waits for any, the batch goes out."""
    if heard is session or heard.undecided or heard.unanswered:
        return Decision(heard)
    return hand_out(heard, event, heard.pending, catalogue)


def _on_results(
    session: Session, event: AnyEvent, log_entry: LogEntry, completed: ToolsCompleted, catalogue: Catalogue
) -> Decision:
    """The batch is done; the next round begins with it."""
    is_barren = all(result.status == "error" for result in completed.results)
    succeeded = [
        name
        for result in completed.results
        if result.status == "ok"
        for name in (result.tool, result.substitute)
        if name in session.tools
    ]
    untrusted = approvals.untrusted_calls(session, completed, catalogue)
    update = {
        "results": log_entry,
        "untrusted_calls": untrusted,
        "barren_rounds": session.barren_rounds + 1 if is_barren else 0,
        "succeeded": tuple(dict.fromkeys((*session.succeeded, *succeeded))),
        "has_untrusted": session.has_untrusted or bool(untrusted),
    }
    return _next_round(offer.after_results(session.model_copy(update=update), completed), event)


def _on_failure(session: Session, event: AnyEvent, failure: ComponentFailed) -> Decision:
    """A message became a dead letter. The session goes on without its outcome, or ends with what it has."""
    if summaries.is_about(session, failure.failed_event):
        return Decision(summaries.after_failure(session))
    if failure.component == "coordinator":
        message = "A step of this session failed inside the coordinator."
        doubting = session.doubting(doubt("component_failed", message, "coordinator"))
        return _end(doubting, event, "partial", "internal_error")
    if failure.failed_event != session.awaiting:
        return Decision(session)
    if failure.component == "reasoning_engine":
        return _on_reasoning_failure(session, event, failure.error.message)
    message = (
        f"The {failure.component.replace('_', ' ')} failed in round {session.round}: {failure.error.message}"
    )
    doubting = session.doubting(doubt("component_failed", message, failure.component))
    if failure.component == "tool_dispatcher":
        barren = doubting.model_copy(update={"barren_rounds": session.barren_rounds + 1})
        return _next_round(barren, event)
    return _end(doubting, event, "partial", "internal_error")


def _on_reasoning_failure(session: Session, event: AnyEvent, why: str) -> Decision:
    """Again with a smaller briefing, then with the smallest; then the answer is put together without the model.

    A model that has run out of the session's time has not failed; the timer for that may come a little later.
    """
    if event.time >= session.deadline - _NEARLY:
        return _end(session, event, "partial", "deadline_exceeded")
    failures = session.reasoning_failures + 1
    model_failed = doubt("model_failed", f"The model failed in round {session.round}: {why}", "model")
    failed = session.doubting(model_failed).model_copy(update={"reasoning_failures": failures})
    if failures == len(LEVELS):
        return _end(failed, event, "partial", "model_unavailable")
    return request_briefing(failed, event)


def _next_round(session: Session, event: AnyEvent) -> Decision:
    if session.round >= session.limits.max_rounds:
        return _end(session, event, "partial", "max_rounds_reached")
    return request_briefing(session.model_copy(update={"round": session.round + 1}), event)


def _end(
    session: Session,
    event: AnyEvent,
    status: Status,
    reason: TerminationReason,
    reply: LogEntry | None = None,
) -> Decision:
    doubting = session.doubting(*people.missing(session), *_left_out(session))
    return request_assembly(doubting, event, status, reason, reply)


def _left_out(session: Session) -> tuple[Uncertainty, ...]:
    """What is to be said of facts that mattered, and that the model has not seen."""
    if not session.missed:
        return ()
    count, first = len(session.missed), ", ".join(session.missed[:_MISSED_NAMED])
    facts = "1 fact" if count == 1 else f"{count} facts"
    named = first if count <= _MISSED_NAMED else f"{first} and {count - _MISSED_NAMED} more"
    message = f"{facts} close to the question did not fit into the last briefing: {named}."
    return (doubt("evidence_left_out", message, first),)


def _calibration(session: Session, reply: ReasoningCompleted) -> dict[str, int]:
    """What the model has counted for a prompt, beside what was estimated; where both are known."""
    counted = reply.usage.input_tokens + reply.usage.cache_read_tokens + reply.usage.cache_write_tokens
    if not (counted and reply.prompt_tokens_estimated):
        return {}
    return {
        "tokens_counted": session.tokens_counted + counted,
        "tokens_estimated": session.tokens_estimated + reply.prompt_tokens_estimated,
    }


def _answer_oneself(session: Session, event: AnyEvent, why: str) -> Decision:
    """The last rung: a response without the assembler. It counts only if there is no other."""
    elapsed_ms = max(0, round((event.time - session.opened).total_seconds() * 1000))
    response = Response(
        session_id=session.id,
        status="failed",
        answer=f"{why} What was found is kept in the session's log.",
        termination_reason="internal_error",
        uncertainty=(*session.uncertainty, doubt("component_failed", why, "response_assembler", "serious")),
        rounds_used=session.rounds_used,
        tool_calls_used=session.tool_calls_used,
        usage=session.usage,
        duration_ms=elapsed_ms,
    )
    return Decision(session, answer=response)


def _close(session: Session) -> Decision:
    closed = session.model_copy(update={"phase": "closed", "awaiting": None})
    return Decision(closed, timers=(CancelTimer(DEADLINE), CancelTimer(OVERDUE)), closes=True)
