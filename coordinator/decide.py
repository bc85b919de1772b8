"""What happens next: a pure function of the session and the event.

The session waits for the reply to one request at a time, by that request's id. Whatever else arrives, late,
twice, or from elsewhere, changes nothing.
"""

from datetime import timedelta

from coordinator import limits
from coordinator.session import Decision, Opening, Session
from shared.briefing import Level
from shared.bus.handling import CancelTimer, SetTimer
from shared.events import (
    AnyEvent,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingReady,
    BriefingRequested,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ResponseReady,
    SessionOpened,
    ToolsCompleted,
    ToolsRequested,
)
from shared.ids import child_id, idempotency_key
from shared.session import Response, Status, TerminationReason, Uncertainty
from shared.tools import RequestedCall, ToolCall
from shared.values import LogEntry

LEVELS: tuple[Level, ...] = ("full", "simplified", "minimal")
"""Of the briefing, by how often the model has failed in the round; after the last it is not asked again."""
DEADLINE, OVERDUE = "deadline", "assembly"


def open_session(event: AnyEvent, log_entry: LogEntry, query: QuerySubmitted, opening: Opening) -> Decision:
    """A query becomes a session: its bounds are fixed, and the first briefing is asked for."""
    bounds = limits.resolve(query.options, opening.limits)
    deadline = event.time + timedelta(seconds=bounds.deadline_s)
    session = Session(
        id=event.subject,
        question=log_entry,
        limits=bounds,
        catalogue=opening.catalogue,
        tools=limits.offered(query.options, opening),
        model=query.options.model or "",
        opened=event.time,
        deadline=deadline,
        uncertainty=_doubts_at_opening(query, opening),
    )
    opened = SessionOpened(
        limits=bounds,
        options=query.options,
        catalogue=session.catalogue,
        tools=session.tools,
        model=session.model,
        deadline=deadline,
    )
    decision = _request_briefing(session, event, before=(opened,))
    return Decision(decision.session, decision.commands, (SetTimer(DEADLINE, deadline, DeadlineReached()),))


def decide(session: Session, event: AnyEvent, log_entry: LogEntry) -> Decision:
    """One event in, the session's next step out. `log_entry` is where the event stands in the log."""
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
            return _assemble(session, event, "cancelled", "cancelled")
        case DeadlineReached():
            return _assemble(session, event, "partial", "deadline_exceeded")
        case ComponentFailed() as failure:
            return _on_failure(session, event, failure)
        case _ if event.causationid is None or event.causationid != session.awaiting:
            return Decision(session)
        case BriefingReady() as ready:
            return _on_briefing(session, event, ready)
        case ReasoningCompleted() as reply:
            return _on_reply(session, event, log_entry, reply)
        case ReasoningFailed() as failure:
            spent = session.model_copy(update={"usage": session.usage.plus(failure.usage)})
            return _on_reasoning_failure(spent, event, failure.error.message)
        case ToolsCompleted() as completed:
            return _on_results(session, event, log_entry, completed)
        case _:
            return Decision(session)


def _on_briefing(session: Session, event: AnyEvent, ready: BriefingReady) -> Decision:
    """The briefing holds what was filed; now the limits decide whether, and how, the model is asked."""
    filed = session.model_copy(update={"reasoning": None, "results": None})
    left = limits.tokens_left(filed)
    if left <= ready.briefing.tokens:
        return _assemble(filed, event, "partial", "token_budget_exhausted")
    reason = limits.last_round_reason(filed, ready.briefing.tokens)
    request = ReasoningRequested(
        round=filed.round,
        briefing=ready.briefing.digest,
        catalogue=filed.catalogue,
        tools=() if reason else filed.tools,
        last_round_because=limits.explain(reason, filed),
        model=filed.model,
        tokens_left=left,
        deadline=filed.deadline,
    )
    asked = filed.model_copy(
        update={"phase": "reasoning", "awaiting": child_id(event.id, 0), "last_round": reason}
    )
    return Decision(asked, (request,))


def _on_reply(session: Session, event: AnyEvent, log_entry: LogEntry, reply: ReasoningCompleted) -> Decision:
    """The model's reply ends the session, or asks for tools."""
    heard = session.model_copy(
        update={
            "usage": session.usage.plus(reply.usage),
            "rounds_used": session.round,
            "reasoning": log_entry,
            "reasoning_failures": 0,
        }
    )
    is_last = heard.last_round is not None
    if reply.stop_reason == "refusal":
        return _assemble(heard, event, "failed", "model_refused", log_entry)
    if reply.tool_calls and not is_last and heard.tools:
        if limits.tokens_left(heard) <= 0:
            return _assemble(heard, event, "partial", "token_budget_exhausted", log_entry)
        return _request_tools(heard, event, reply.tool_calls)
    if reply.stop_reason in ("max_tokens", "context_window"):
        return _assemble(heard, event, "partial", "reply_truncated", log_entry)
    if heard.last_round is not None:
        return _assemble(heard, event, "partial", heard.last_round, log_entry)
    return _assemble(heard, event, "complete", "natural_completion", log_entry)


def _request_tools(session: Session, event: AnyEvent, calls: tuple[ToolCall, ...]) -> Decision:
    """One batch. Calls beyond the session's limit go out as refused, so that every call is answered."""
    room = max(0, session.limits.max_tool_calls - session.tool_calls_used)
    refusal = f"the session's limit of {session.limits.max_tool_calls} tool calls is reached"
    requested = tuple(
        RequestedCall(
            **call.model_dump(),
            idempotency_key=idempotency_key(session.id, session.round, call.id),
            refused=None if n < room else refusal,
        )
        for n, call in enumerate(calls)
    )
    used = session.tool_calls_used + min(room, len(calls))
    request = ToolsRequested(
        round=session.round, calls=requested, allowed=session.tools, deadline=session.deadline
    )
    waiting = {"phase": "tools", "awaiting": child_id(event.id, 0), "tool_calls_used": used}
    return Decision(session.model_copy(update=waiting), (request,))


def _on_results(
    session: Session, event: AnyEvent, log_entry: LogEntry, completed: ToolsCompleted
) -> Decision:
    """The batch is done; the next round begins with it."""
    is_barren = all(result.status == "error" for result in completed.results)
    update = {"results": log_entry, "barren_rounds": session.barren_rounds + 1 if is_barren else 0}
    return _next_round(session.model_copy(update=update), event)


def _on_failure(session: Session, event: AnyEvent, failure: ComponentFailed) -> Decision:
    """A message became a dead letter. The session goes on without its outcome, or ends with what it has."""
    if failure.component == "coordinator":
        doubt = _doubt(
            "component_failed", "A step of this session failed inside the coordinator.", "coordinator"
        )
        return _assemble(_doubting(session, doubt), event, "partial", "internal_error")
    if failure.failed_event != session.awaiting:
        return Decision(session)
    if failure.component == "reasoning_engine":
        return _on_reasoning_failure(session, event, failure.error.message)
    message = (
        f"The {failure.component.replace('_', ' ')} failed in round {session.round}: {failure.error.message}"
    )
    doubting = _doubting(session, _doubt("component_failed", message, failure.component))
    if failure.component == "tool_dispatcher":
        barren = doubting.model_copy(update={"barren_rounds": session.barren_rounds + 1})
        return _next_round(barren, event)
    return _assemble(doubting, event, "partial", "internal_error")


def _on_reasoning_failure(session: Session, event: AnyEvent, why: str) -> Decision:
    """Again with a smaller briefing, then with the smallest; then the answer is put together without the model."""
    failures = session.reasoning_failures + 1
    doubt = _doubt("model_failed", f"The model failed in round {session.round}: {why}", "model")
    failed = _doubting(session, doubt).model_copy(update={"reasoning_failures": failures})
    if failures == len(LEVELS):
        return _assemble(failed, event, "partial", "model_unavailable")
    return _request_briefing(failed, event)


def _next_round(session: Session, event: AnyEvent) -> Decision:
    if session.round >= session.limits.max_rounds:
        return _assemble(session, event, "partial", "max_rounds_reached")
    return _request_briefing(session.model_copy(update={"round": session.round + 1}), event)


def _request_briefing(session: Session, event: AnyEvent, before: tuple[EventData, ...] = ()) -> Decision:
    request = BriefingRequested(
        round=session.round,
        max_rounds=session.limits.max_rounds,
        question=session.question,
        level=LEVELS[session.reasoning_failures],
        reasoning=session.reasoning,
        results=session.results,
    )
    waiting = {"phase": "briefing", "awaiting": child_id(event.id, len(before))}
    return Decision(session.model_copy(update=waiting), (*before, request))


def _assemble(
    session: Session,
    event: AnyEvent,
    status: Status,
    reason: TerminationReason,
    reply: LogEntry | None = None,
) -> Decision:
    request = AssemblyRequested(
        question=session.question,
        status=status,
        termination_reason=reason,
        reply=reply,
        reasoning=session.reasoning,
        results=session.results,
        batch=session.round if session.phase == "tools" and session.results is None else None,
        uncertainty=session.uncertainty,
        rounds_used=session.rounds_used,
        tool_calls_used=session.tool_calls_used,
        usage=session.usage,
        opened=session.opened,
    )
    ending = session.model_copy(update={"phase": "assembling", "awaiting": child_id(event.id, 0)})
    overdue = SetTimer(OVERDUE, timedelta(seconds=session.limits.assembly_s), AssemblyOverdue())
    return Decision(ending, (request,), (overdue, CancelTimer(DEADLINE)))


def _answer_oneself(session: Session, event: AnyEvent, why: str) -> Decision:
    """The last rung: a response without the assembler. It counts only if there is no other."""
    elapsed_ms = max(0, round((event.time - session.opened).total_seconds() * 1000))
    response = Response(
        session_id=session.id,
        status="failed",
        answer=f"{why} What was found is kept in the session's log.",
        termination_reason="internal_error",
        uncertainty=(*session.uncertainty, _doubt("component_failed", why, "response_assembler")),
        rounds_used=session.rounds_used,
        tool_calls_used=session.tool_calls_used,
        usage=session.usage,
        duration_ms=elapsed_ms,
    )
    return Decision(session, answer=response)


def _close(session: Session) -> Decision:
    closed = session.model_copy(update={"phase": "closed", "awaiting": None})
    return Decision(closed, timers=(CancelTimer(DEADLINE), CancelTimer(OVERDUE)), closes=True)


def _doubts_at_opening(query: QuerySubmitted, opening: Opening) -> tuple[Uncertainty, ...]:
    missing = [name for name in query.options.tools or () if name not in opening.tools]
    doubts = [
        _doubt("tools_unavailable", f"There is no tool {name!r}; it was not used.", name) for name in missing
    ]
    if opening.is_catalogue_missing:
        message = "No tool dispatcher had published its tools when the session began."
        doubts.append(_doubt("tools_unavailable", message, "tools"))
    return tuple(doubts)


def _doubting(session: Session, doubt: Uncertainty) -> Session:
    return session.model_copy(update={"uncertainty": (*session.uncertainty, doubt)})


def _doubt(kind: str, message: str, about: str) -> Uncertainty:
    return Uncertainty(kind=kind, message=message[:1000], about=about)
