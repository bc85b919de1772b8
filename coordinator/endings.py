"""How a session ends: its answer is asked for, or given by the coordinator itself where nobody else does. Pure."""

from dataclasses import replace

from antiphon_shared.bus.handling import CancelTimer
from antiphon_shared.events import AnyEvent
from antiphon_shared.events.session import Response, Status, TerminationReason, Uncertainty
from antiphon_shared.values import LogEntry

from coordinator import people
from coordinator.requests import DEADLINE, MODEL, OVERDUE, overdue, request_assembly
from coordinator.session import Decision, Session, doubt

_NAMED_MAX = 10
_LOOKS_MAX = 3


def end(
    session: Session,
    event: AnyEvent,
    status: Status,
    reason: TerminationReason,
    reply: LogEntry | None = None,
) -> Decision:
    """The session's one answer is put together from what there is; work that still goes on for it is stopped."""
    doubts = (*people.missing(session), *_left_out(session), *_cost_unknown(session))
    decision = request_assembly(session.doubting(*doubts), event, status, reason, reply)
    is_at_work = session.phase in ("reasoning", "tools") and event.causationid != session.awaiting
    return replace(decision, stops_work=is_at_work or session.summary_awaiting is not None)


def close(session: Session) -> Decision:
    """The answer is there."""
    closed = session.model_copy(update={"phase": "closed", "awaiting": None})
    timers = tuple(map(CancelTimer, (DEADLINE, OVERDUE, MODEL)))
    return Decision(closed, timers=timers, closes=True)


def look_again(session: Session) -> Decision:
    """A message of an ending session was set aside: perhaps the one that told of its answer, or of none in time.

    Whichever it was, the timer tells it anew, and a session that is answered is closed then.
    """
    if session.looks_again >= _LOOKS_MAX:
        return Decision(session)
    again = session.model_copy(update={"looks_again": session.looks_again + 1})
    return Decision(again, timers=(overdue(session),))


def answer_oneself(session: Session, event: AnyEvent, why: str) -> Decision:
    """The last rung: a response without the assembler. It counts only if there is no other."""
    elapsed_ms = max(0, round((event.time - session.opened).total_seconds() * 1000))
    failed = doubt("component_failed", why, "response_assembler", "serious")
    response = Response(
        session_id=session.id,
        status="failed",
        answer=f"{why} What was found is kept in the session's log.",
        termination_reason="internal_error",
        uncertainty=(*session.uncertainty, *in_doubt(session), failed),
        rounds_used=session.rounds_used,
        tool_calls_used=session.tool_calls_used,
        usage=session.usage,
        duration_ms=elapsed_ms,
    )
    return Decision(session, answer=response)


def in_doubt(session: Session) -> tuple[Uncertainty, ...]:
    """Each write that may have taken effect."""
    return tuple(
        doubt(
            "outcome_unknown",
            f"Whether `{call.partition(' ')[0]}` took effect is unknown. Check before doing it again.",
            call,
            "serious",
        )
        for call in session.in_doubt
    )


def _left_out(session: Session) -> tuple[Uncertainty, ...]:
    """What is to be said of facts that mattered, and that the model has not seen."""
    if not session.missed:
        return ()
    count, first = len(session.missed), ", ".join(session.missed[:_NAMED_MAX])
    facts = "1 fact" if count == 1 else f"{count} facts"
    named = first if count <= _NAMED_MAX else f"{first} and {count - _NAMED_MAX} more"
    message = f"{facts} close to the question did not fit into the last briefing: {named}."
    return (doubt("evidence_left_out", message, first),)


def _cost_unknown(session: Session) -> tuple[Uncertainty, ...]:
    """A bound that could not be kept is told."""
    most = session.limits.max_cost_usd
    if most is None or session.usage.cost_usd is not None:
        return ()
    message = (
        f"What the model cost is not known, so the bound of ${most:g} was not kept; its prices are not set."
    )
    return (doubt("cost_unknown", message, "max_cost_usd"),)
