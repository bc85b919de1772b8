"""The decision after an attempt at a step: the next step, the next attempt, or the end of the session. Pure."""

from antiphon_shared.events import AnyEvent
from antiphon_shared.events.session import TerminationReason
from antiphon_shared.values import LogEntry

from coordinator.decision import Decision
from coordinator.endings import end
from coordinator.requests import request_briefing
from coordinator.session import Session, new_uncertainty
from coordinator.session_output import Output
from coordinator.session_parts import replace
from coordinator.steps import begin_attempt, note_of


def after_output(
    session: Session, event: AnyEvent, log_entry: LogEntry, limit: TerminationReason | None = None
) -> Decision:
    """Begin the next step with the output of the current one, the reply at `log_entry`; end at a limit."""
    replies = (*session.steps.replies, log_entry)
    done = replace(session, steps=replace(session.steps, replies=replies), output=Output())
    if limit or done.round >= done.limits.max_rounds:
        return end(done, event, "partial", limit or "max_rounds_reached")
    return _begin_attempt(done, event, done.steps.number + 1, 1)


def after_failure(
    session: Session, event: AnyEvent, because: tuple[str, ...], log_entry: LogEntry
) -> Decision:
    """Begin the step's next attempt, or end the session when no attempt is left."""
    steps = session.steps
    assert steps.plan is not None, "a step has failed"
    if steps.attempt < steps.plan.attempts:
        if session.round >= session.limits.max_rounds:
            return end(session, event, "partial", "max_rounds_reached", log_entry)
        return _begin_attempt(session, event, steps.number, steps.attempt + 1, because)
    attempts = "its one attempt" if steps.attempt == 1 else f"{steps.attempt} attempts"
    message = (
        f"Step `{steps.plan.name}` ({steps.number} of {len(steps.plans)}) failed in {attempts} of "
        f"{steps.plan.max_rounds} rounds. At the end: {' '.join(because)}"
    )
    failed = session.with_uncertainties(new_uncertainty("step_failed", message, steps.plan.name, "serious"))
    return end(failed, event, "partial", "step_failed", log_entry)


def _begin_attempt(
    session: Session, event: AnyEvent, number: int, attempt: int, because: tuple[str, ...] = ()
) -> Decision:
    attempted = begin_attempt(replace(session, round=session.round + 1), number, attempt, because)
    return request_briefing(attempted, event).with_events(note_of(attempted))
