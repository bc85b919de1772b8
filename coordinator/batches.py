"""The decision after a batch of tool calls: note its results, and begin the next round. Pure."""

from antiphon_shared.events import AnyEvent, ToolsCompleted
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.values import LogEntry

from coordinator import approvals, fallbacks, offer, outputs, repetitions
from coordinator.decision import Decision
from coordinator.endings import end
from coordinator.requests import request_briefing, unknown_call_name
from coordinator.session import Session
from coordinator.session_parts import Writes, replace


def after_results(
    session: Session, event: AnyEvent, log_entry: LogEntry, completed: ToolsCompleted, catalogue: Catalogue
) -> Decision:
    """Return the decision after a batch: begin the next round with its results."""
    succeeded = [
        name
        for result in completed.results
        if result.status == "ok"
        for name in (result.tool, result.substitute)
        if name in session.tools.usable
    ]
    untrusted = approvals.untrusted_calls(session, completed, catalogue)
    filled = replace(
        session,
        material=replace(
            session.material,
            results=log_entry,
            untrusted_calls=untrusted,
            has_untrusted=session.material.has_untrusted or bool(untrusted),
        ),
        writes=Writes(
            made=repetitions.after_results(session, completed),
            in_doubt=_calls_of_unknown_outcome(session, completed),
        ),
        tools=replace(session.tools, succeeded=tuple(dict.fromkeys((*session.tools.succeeded, *succeeded)))),
    )
    after = fallbacks.after_results(outputs.after_results(filled, completed), completed)
    return next_round(offer.after_results(after, completed), event)


def next_round(session: Session, event: AnyEvent) -> Decision:
    """Begin the next round, or end the session when no round is left."""
    if session.round >= session.limits.max_rounds:
        return end(session, event, "partial", "max_rounds_reached")
    decision = request_briefing(replace(session, round=session.round + 1), event)
    if session.tools.barren_rounds != 1:
        return decision
    return fallbacks.with_fallback_step(
        decision, "tools_failed", f"Every call failed: {', '.join(session.tools.failed_calls)}."
    )


def _calls_of_unknown_outcome(session: Session, completed: ToolsCompleted) -> tuple[str, ...]:
    """Return the calls of unknown outcome after a batch: its own, and earlier ones that it has not settled."""
    settled, unknown = set(), []
    for result in completed.results:
        call = unknown_call_name(result.tool, result.call_id)
        is_unknown = result.error is not None and result.error.error_type == "outcome_unknown"
        if is_unknown and result.repeated is None:
            unknown.append(call)
        else:
            settled.add(call)
        if result.repeated is not None and result.error is None:
            settled.add(unknown_call_name(result.tool, result.repeated.call_id))
        if result.settles:
            settled.add(unknown_call_name(result.tool, result.settles))
    return tuple(dict.fromkeys(call for call in (*session.writes.in_doubt, *unknown) if call not in settled))
