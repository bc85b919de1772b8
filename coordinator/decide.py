"""The next step of a session: a function of the session and the event. Pure.

The session waits for the reply to one request at a time, and knows it by the request's id. A late or repeated
reply changes nothing.
"""

from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingReady,
    CancellationRequested,
    ChildEnded,
    ChildWaiting,
    ComponentFailed,
    DeadlineReached,
    ModelDue,
    PersonOverdue,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    SummaryCompleted,
    SummaryFailed,
    ToolsCompleted,
)
from antiphon_shared.values import LogEntry

from coordinator import (
    approvals,
    child_questions,
    child_runs,
    fallbacks,
    limits,
    offer,
    outputs,
    people,
    questions,
    summaries,
)
from coordinator.asking import after_briefing
from coordinator.batches import after_results, next_round
from coordinator.decision import Decision, Inputs, LoggedEvent
from coordinator.dispatchers import with_lack
from coordinator.endings import (
    NEARLY,
    after_own_failure,
    close,
    end,
    end_without_assembler,
    moment_of,
    set_timer_again,
    unknown_outcomes,
    when_cancelled,
    when_overdue,
)
from coordinator.requests import request_briefing, request_calls, request_tools
from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import Spent, replace


def decide(session: Session, event: AnyEvent, log_entry: LogEntry, inputs: Inputs) -> Decision:
    """Return the session's next step after one event, whose entry in the log is `log_entry`."""
    return _decide(session, event, log_entry, inputs).in_format(session.format)


def _decide(session: Session, event: AnyEvent, log_entry: LogEntry, inputs: Inputs) -> Decision:
    if session.phase == "closed":
        return Decision(session)
    match event.data:
        case ResponseReady():
            return close(session)
        case _ if session.phase == "assembling":
            return _while_assembling(session, event, log_entry, inputs.needed)
        case CancellationRequested():
            return end(session, event, "cancelled", "cancelled")
        case DeadlineReached():
            return end(with_lack(session, inputs.is_served), event, "partial", "deadline_exceeded")
        case ComponentFailed() as failure:
            return _on_failure(session, event, failure, inputs.needed)
        case SummaryCompleted() | SummaryFailed() as summary:
            return Decision(summaries.after_reply(session, event, log_entry, summary))
        case ApprovalDecided() | QuestionAnswered() | PersonOverdue():
            return _on_person(session, event, log_entry, inputs)
        case ModelDue(wait=due) if session.phase == "resting" and due == session.models.waits:
            return request_briefing(session, event)
        case ChildEnded() | ChildWaiting():
            return child_runs.after_child_event(session, event, inputs.needed)
        case _ if event.causationid not in session.awaiting:
            return Decision(session)
        case ToolsCompleted() if session.children.runs:
            return child_runs.after_batch(session, event)
        case BriefingReady() as ready:
            return after_briefing(session, event, ready, inputs.catalogue, inputs.outages)
        case ReasoningCompleted() as reply:
            return _on_reply(session, event, log_entry, reply, inputs)
        case ReasoningFailed() as failure:
            spent = replace(session, spent=session.spent.plus(failure.usage))
            return _on_reasoning_failure(spent, event, failure)
        case ToolsCompleted() as completed:
            return after_results(session, event, log_entry, completed, inputs.catalogue)
        case _:
            return Decision(session)


def _while_assembling(
    session: Session, event: AnyEvent, log_entry: LogEntry, needed: LoggedEvent | None
) -> Decision:
    """Return the decision on an event while the assembler puts the answer together."""
    ending = needed.event.data if needed is not None else None
    ending = ending if isinstance(ending, AssemblyRequested) else None
    match event.data:
        case AssemblyOverdue():
            return when_overdue(session, ending, moment_of(event, log_entry))
        case CancellationRequested():
            return when_cancelled(session, ending)
        case ComponentFailed(component="response_assembler", failed_event=failed) if (
            failed in session.awaiting
        ):
            return end_without_assembler(session, "The answer could not be put together.")
        case ComponentFailed(component="coordinator", failed_event=failed) if not summaries.is_about(
            session, failed
        ):
            return set_timer_again(session)
        case _:
            return Decision(session)


def _on_reply(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    reply: ReasoningCompleted,
    inputs: Inputs,
) -> Decision:
    """Return the decision after the model's reply: the session ends, or asks for tools."""
    received = replace(
        session,
        spent=_calibrated(replace(session.spent.plus(reply.usage), rounds=session.round), reply),
        material=replace(session.material, reasoning=log_entry),
        models=replace(session.models, round_failures=0, pauses=0),
    )
    if reply.stop_reason == "refusal":
        return end(received, event, "failed", "model_refused", log_entry)
    if reply.tool_calls and received.last_round is None and received.tools.usable:
        if limits.tokens_left(received) <= 0:
            return end(received, event, "partial", "token_budget_exhausted", log_entry)
        after = offer.after_reply(outputs.after_calls(received), inputs.catalogue, reply)
        return request_tools(after, event, reply.tool_calls, inputs.catalogue, inputs.earlier)
    return outputs.conclude(received, event, log_entry, reply, inputs.schema)


def _on_person(session: Session, event: AnyEvent, log_entry: LogEntry, inputs: Inputs) -> Decision:
    """Return the decision after a person's reply or timeout: the batch goes out when no call waits any more."""
    match event.data:
        case ApprovalDecided() as decision:
            after = approvals.after_decision(session, log_entry, decision)
        case QuestionAnswered() as answer:
            if of_run := child_questions.after_answer(session, answer):
                return of_run
            after = questions.after_answer(session, log_entry, answer)
        case PersonOverdue(round=overdue) if session.phase == "tools" and overdue == session.round:
            return child_runs.after_overdue(session, event, inputs.needed)
        case PersonOverdue(round=overdue) if session.phase == "approval" and overdue == session.round:
            after = people.without_answers(session)
        case _:
            return Decision(session)
    if after is session or after.people.undecided or after.people.unanswered:
        return Decision(after)
    allowed = offer.allowed(after, inputs.catalogue)
    return request_calls(after, event, after.people.pending, inputs.catalogue, allowed)


def _on_failure(
    session: Session, event: AnyEvent, failure: ComponentFailed, needed: LoggedEvent | None
) -> Decision:
    """Return the decision after a dead letter: the session continues without its outcome, or ends."""
    if summaries.is_about(session, failure.failed_event):
        return Decision(summaries.after_failure(session))
    if failure.component == "coordinator":
        return after_own_failure(session, event, needed)
    if failure.failed_event not in session.awaiting:
        return Decision(session)
    if failure.component == "reasoning_engine":
        return _on_reasoning_failure(session, event, fallbacks.failed_reply(session, failure.error))
    message = (
        f"The {failure.component.replace('_', ' ')} failed in round {session.round}: {failure.error.message}"
    )
    reported = session.with_uncertainties(new_uncertainty("component_failed", message, failure.component))
    if failure.component == "tool_dispatcher":
        freed, sends = child_runs.without_batch(reported.with_uncertainties(*unknown_outcomes(session)))
        decision = next_round(fallbacks.after_lost_batch(freed, ("the whole batch",)), event)
        return replace(decision, sends=(*decision.sends, *sends))
    return end(reported, event, "partial", "internal_error")


def _on_reasoning_failure(session: Session, event: AnyEvent, failed: ReasoningFailed) -> Decision:
    """Take the next fallback step.

    At the deadline, the session ends for lack of time, not for the failure; the deadline's timer may fire later.
    """
    if event.time >= session.deadline - NEARLY:
        return end(session, event, "partial", "deadline_exceeded")
    after, fallback = fallbacks.after_failure(session, event, failed)
    if fallback is None:
        is_refused = after.models.unusable != session.models.unusable
        reported = (
            after.with_uncertainties(fallbacks.refusal_uncertainty(session, failed)) if is_refused else after
        )
        return request_briefing(reported, event)
    after = after.with_uncertainties(fallbacks.failure_uncertainty(session, failed.error, fallback))
    if fallback == "facts_without_model":
        decision = end(after, event, "partial", "model_unavailable")
    else:
        decision = request_briefing(after, event)
    return fallbacks.with_fallback_step(decision, fallback, failed.error.message)


def _calibrated(spent: Spent, reply: ReasoningCompleted) -> Spent:
    """Return `spent` with the model's count for a prompt and our estimate, when both are known."""
    counted = reply.usage.input_tokens + reply.usage.cache_read_tokens + reply.usage.cache_write_tokens
    if not (counted and reply.prompt_tokens_estimated):
        return spent
    return replace(
        spent,
        tokens_counted=spent.tokens_counted + counted,
        tokens_estimated=spent.tokens_estimated + reply.prompt_tokens_estimated,
    )
