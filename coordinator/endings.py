"""The end of a session: request its answer, or let the coordinator answer if no assembler does. Pure."""

from datetime import datetime, timedelta

from antiphon_shared.bus.handling import CancelTimer, Send, SetTimer
from antiphon_shared.events import (
    AnyEvent,
    AssemblyOverdue,
    AssemblyRequested,
    ChildEnded,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ResponseReady,
    ToolsCompleted,
)
from antiphon_shared.events.session import Response, Status, TerminationReason, Uncertainty
from antiphon_shared.process.ids import CHILD
from antiphon_shared.process.stream_ids import time_of
from antiphon_shared.values import LogEntry

from coordinator import people
from coordinator.decision import Decision, LoggedEvent
from coordinator.requests import DEADLINE, MODEL, OVERDUE, assembly_of, overdue, request_assembly
from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import replace

NEARLY = timedelta(milliseconds=100)
"""The tolerance for clocks of engines and timers, which may reach the deadline a little early."""
_BUDGET_REASONS: tuple[TerminationReason, ...] = (
    "max_rounds_reached",
    "max_tool_rounds_reached",
    "max_tool_calls_reached",
    "token_budget_exhausted",
    "cost_budget_exhausted",
)
_LISTED_MAX = 10
_LOOKS_MAX = 3


def end(
    session: Session,
    event: AnyEvent,
    status: Status,
    reason: TerminationReason,
    reply: LogEntry | None = None,
    has_result: bool = False,
) -> Decision:
    """Request the session's answer from the facts it has, and stop its work in flight.

    `has_result`: the reply is an answer in the demanded shape.
    """
    has_form = session.output.is_demanded or session.steps.number > 0
    if has_form and session.output.refusals and reason in _BUDGET_REASONS and not has_result:
        reason = "validation_incomplete" if session.output.is_unvalidated else "output_invalid"
    missing = () if has_result else _result_missing(session)
    added = (*people.people_uncertainty(session), *_unseen_facts(session), *_cost_unknown(session), *missing)
    decision = request_assembly(session.with_uncertainties(*added), event, status, reason, reply, has_result)
    is_at_work = session.phase in ("reasoning", "tools") and event.causationid not in session.awaiting
    return replace(decision, stops_work=is_at_work or session.summaries.awaiting is not None)


def close(session: Session) -> Decision:
    """Close the session, which has its answer."""
    closed = replace(session, phase="closed", awaiting=())
    timers = tuple(map(CancelTimer, (DEADLINE, OVERDUE, MODEL)))
    return Decision(closed, timers=timers, closes=True)


def notify_parent(decision: Decision, event: EventData, question: EventData | None) -> Decision:
    """Return the decision, with the answer sent to the parent session when the session closes with one."""
    parent = question.parent if isinstance(question, QuerySubmitted) else None
    if parent is None or not (decision.closes and isinstance(event, ResponseReady)):
        return decision
    response = Response(**event.model_dump())
    ended = ChildEnded(round=parent.round, call_id=parent.call_id, response=response)
    return replace(decision, sends=(*decision.sends, Send(parent.session, ended)))


def has_parent(session: Session) -> bool:
    """Return whether another session began this one."""
    return CHILD in session.id


def set_timer_again(session: Session) -> Decision:
    """Set the timer again after a dead letter of an ending session, which may be the event of its answer or its timer.

    When the timer fires, a session that has an answer is closed.
    """
    if session.looks_again >= _LOOKS_MAX:
        return Decision(session)
    again = replace(session, looks_again=session.looks_again + 1)
    return Decision(again, timers=(overdue(session),))


def end_without_assembler(session: Session, why: str) -> Decision:
    """Take the last fallback step: the coordinator answers by itself, unless the session has an answer."""
    return Decision(session, own_answer_reason=why, unless_answered=True)


def when_overdue(session: Session, ending: AssemblyRequested | None, now: datetime) -> Decision:
    """Wait for the assembler until the deadline, as it may be late only because of a burst or a restart.

    A cancelled session does not wait.
    """
    is_waited_for = ending is not None and ending.status != "cancelled"
    if is_waited_for and now < session.deadline - NEARLY:
        again = SetTimer(OVERDUE, session.deadline, AssemblyOverdue())
        return Decision(session, timers=(again,), unless_answered=True)
    return end_without_assembler(session, "The answer could not be put together in time.")


def when_cancelled(session: Session, ending: AssemblyRequested | None) -> Decision:
    """Answer at once when the session is cancelled while its answer is made; a second cancellation changes nothing."""
    if ending is not None and ending.status == "cancelled":
        return Decision(session)
    return end_without_assembler(session, "The session was cancelled before the answer was put together.")


def moment_of(event: AnyEvent, log_entry: LogEntry) -> datetime:
    """Return when an event happened; the log entry of a timer's event is later than the event's own time.

    After an entry of a foreign client, the log's ids may be no times; then the event's own time counts.
    """
    return max(event.time, time_of(log_entry) or event.time)


def ending_of(session: Session, needed: LoggedEvent | None) -> AssemblyRequested:
    """Return the request for the answer; if it cannot be read, make one from the session."""
    if needed is not None and isinstance(needed.event.data, AssemblyRequested):
        return needed.event.data
    return assembly_of(session, "partial", "internal_error", session.material.reasoning)


def after_own_failure(session: Session, event: AnyEvent, needed: LoggedEvent | None) -> Decision:
    """End the session with its results so far, after the coordinator has failed at a step."""
    message = "A step of this session failed inside the coordinator."
    session = session.with_uncertainties(new_uncertainty("component_failed", message, "coordinator"))
    reply = None
    if needed is not None and needed.event.causationid in session.awaiting:
        match needed.event.data:
            case ReasoningCompleted(round=round, usage=usage):
                reply = needed.entry
                session = replace(
                    session,
                    spent=replace(session.spent.plus(usage), rounds=round),
                    material=replace(session.material, reasoning=reply),
                )
            case ToolsCompleted():
                session = replace(session, material=replace(session.material, results=needed.entry))
    return end(session, event, "partial", "internal_error", reply)


def unknown_outcomes(session: Session) -> tuple[Uncertainty, ...]:
    """Return an uncertainty for each write that may have taken effect."""
    return tuple(
        new_uncertainty(
            "outcome_unknown",
            f"Whether `{call.partition(' ')[0]}` took effect is unknown. Check before doing it again.",
            call,
            "serious",
        )
        for call in session.writes.in_doubt
    )


def _unseen_facts(session: Session) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about important facts that the model has not seen."""
    if not session.material.missed:
        return ()
    count, first = len(session.material.missed), ", ".join(session.material.missed[:_LISTED_MAX])
    facts = "1 fact" if count == 1 else f"{count} facts"
    listed = first if count <= _LISTED_MAX else f"{first} and {count - _LISTED_MAX} more"
    message = f"{facts} close to the question did not fit into the last briefing: {listed}."
    return (new_uncertainty("evidence_left_out", message, first),)


def _result_missing(session: Session) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about an answer that lacks its demanded shape."""
    output = session.output
    if not output.is_demanded:
        return ()
    message = "The answer was to fit a schema, and none that does was given."
    if output.refusals:
        message += f" The last attempt was: {output.attempt} What was wrong: {' '.join(output.because)}"
    return (new_uncertainty("output_missing", message, "result", "serious"),)


def _cost_unknown(session: Session) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about a cost bound that could not be checked."""
    most = session.limits.max_cost_usd
    if most is None or session.spent.usage.cost_usd is not None:
        return ()
    message = f"The cost of the model is unknown, so the limit of ${most:g} was not enforced: its prices are not set."
    return (new_uncertainty("cost_unknown", message, "max_cost_usd"),)
