"""The next step of a session: a pure function of the session and the event.

The session waits for the reply to one request at a time, by that request's id. Any other event, such as a
late or repeated reply, changes nothing.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from antiphon_shared.breakers.outages import NO_OUTAGES, Outages
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
    OutagesSeen,
    PersonOverdue,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    SummaryCompleted,
    SummaryFailed,
    ToolsCompleted,
)
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.tools.calls import Catalogue, ToolCall
from antiphon_shared.values import LogEntry

from coordinator import (
    approvals,
    child_questions,
    child_runs,
    ladder,
    limits,
    models,
    offer,
    outputs,
    people,
    questions,
    repetitions,
    summaries,
)
from coordinator.decision import Decision, Logged
from coordinator.endings import (
    NEARLY,
    after_own_failure,
    close,
    end,
    in_doubt,
    look_again,
    moment_of,
    when_cancelled,
    when_overdue,
    without_assembler,
)
from coordinator.requests import (
    hand_out,
    in_doubt_as,
    request_briefing,
    request_reasoning,
    request_tools,
    wait_for_model,
)
from coordinator.session import Material, Session, Spent, Writes, doubt, replace

_TIME_FOR_A_CALL = timedelta(seconds=2)
"""The least time left before the deadline for which waiting for a model is worthwhile."""


def decide(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    catalogue: Catalogue,
    outages: Outages = NO_OUTAGES,
    named: Logged | None = None,
    earlier: Mapping[str, ToolCall] = repetitions.NO_CALLS,
    schema: OutputSchema | None = None,
) -> Decision:
    """Return the session's next step after one event, whose entry in the log is `log_entry`.

    `catalogue` is the session's own; empty when it is not kept any more. `outages` are those known now.
    `named` is the event that lookup.py reads, if the log still holds it. `earlier` are the calls that a reply
    repeats: see repetitions.py. `schema` is the one that the reply must fit if it is the answer.
    """
    decision = _decide(session, event, log_entry, catalogue, outages, named, earlier, schema)
    return decision.in_format(session.format)


def _decide(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    catalogue: Catalogue,
    outages: Outages,
    named: Logged | None,
    earlier: Mapping[str, ToolCall],
    schema: OutputSchema | None,
) -> Decision:
    if session.phase == "closed":
        return Decision(session)
    match event.data:
        case ResponseReady():
            return close(session)
        case _ if session.phase == "assembling":
            return _while_assembling(session, event, log_entry, named)
        case CancellationRequested():
            return end(session, event, "cancelled", "cancelled")
        case DeadlineReached():
            return end(session, event, "partial", "deadline_exceeded")
        case ComponentFailed() as failure:
            return _on_failure(session, event, failure, named)
        case SummaryCompleted() | SummaryFailed() as summary:
            return Decision(summaries.after_reply(session, event, log_entry, summary))
        case ApprovalDecided() as decision:
            decided = approvals.after_decision(session, log_entry, decision)
            return _on_person(session, decided, event, catalogue)
        case QuestionAnswered() as answer if of_run := child_questions.after_answer(session, answer):
            return of_run
        case QuestionAnswered() as answer:
            answered = questions.after_answer(session, log_entry, answer)
            return _on_person(session, answered, event, catalogue)
        case PersonOverdue(round=overdue) if session.phase == "tools" and overdue == session.round:
            return child_runs.after_overdue(session, event, named)
        case PersonOverdue(round=overdue):
            is_waiting = session.phase == "approval" and overdue == session.round
            return _on_person(session, people.given_up(session) if is_waiting else session, event, catalogue)
        case ModelDue(wait=due) if session.phase == "resting" and due == session.models.waits:
            return request_briefing(session, event)
        case ChildEnded() | ChildWaiting():
            return child_runs.after_news(session, event, named)
        case _ if event.causationid not in session.awaiting:
            return Decision(session)
        case ToolsCompleted() if session.children.runs:
            return child_runs.after_batch(session, event)
        case BriefingReady() as ready:
            return _on_briefing(session, event, ready, catalogue, outages)
        case ReasoningCompleted() as reply:
            return _on_reply(session, event, log_entry, reply, catalogue, earlier, schema)
        case ReasoningFailed() as failure:
            spent = replace(session, spent=session.spent.plus(failure.usage))
            return _on_reasoning_failure(spent, event, failure)
        case ToolsCompleted() as completed:
            return _on_results(session, event, log_entry, completed, catalogue)
        case _:
            return Decision(session)


def _while_assembling(
    session: Session, event: AnyEvent, log_entry: LogEntry, named: Logged | None
) -> Decision:
    """Return the decision on an event while the assembler puts the answer together."""
    ending = named.event.data if named is not None else None
    ending = ending if isinstance(ending, AssemblyRequested) else None
    match event.data:
        case AssemblyOverdue():
            return when_overdue(session, ending, moment_of(event, log_entry))
        case CancellationRequested():
            return when_cancelled(session, ending)
        case ComponentFailed(component="response_assembler", failed_event=failed) if (
            failed in session.awaiting
        ):
            return without_assembler(session, "The answer could not be put together.")
        case ComponentFailed(component="coordinator", failed_event=failed) if not summaries.is_about(
            session, failed
        ):
            return look_again(session)
        case _:
            return Decision(session)


def _on_briefing(
    session: Session, event: AnyEvent, ready: BriefingReady, catalogue: Catalogue, outages: Outages
) -> Decision:
    """Return the decision after a briefing: limits and circuit breakers determine the model and how it is asked."""
    outline, out = ready.briefing, models.that_matter(session, outages)
    seen = () if out == session.models.outages else (OutagesSeen(outages=out),)
    material = Material(
        has_untrusted=session.material.has_untrusted,
        has_omissions=session.material.has_omissions or bool(outline.omitted or outline.shortened),
        missed=outline.missed,
    )
    filed = replace(session, material=material, models=replace(session.models, outages=out))
    if ready.summary_refused:
        filed = summaries.after_refusal(filed)
    return _asked(filed, event, ready, catalogue).telling(*seen)


def _asked(session: Session, event: AnyEvent, ready: BriefingReady, catalogue: Catalogue) -> Decision:
    """Return the decision to ask a model within the limits, to wait for one, or to end the session."""
    if lacking := outputs.lacking(session):
        return outputs.end_without(session, event, lacking)
    left, cost_left_usd = limits.tokens_left(session), limits.cost_left_usd(session)
    if left <= limits.calibrated(session, ready.briefing.tokens):
        return end(session, event, "partial", "token_budget_exhausted")
    if cost_left_usd is not None and cost_left_usd <= 0:
        return end(session, event, "partial", "cost_budget_exhausted")
    model = models.next_model(session, event.time)
    if isinstance(model, datetime) and model < session.deadline - _TIME_FOR_A_CALL:
        because = f"No model may be asked before {model:%H:%M:%S} UTC."
        return ladder.taken(wait_for_model(session, model), "waiting_for_model", because)
    if not isinstance(model, str):
        because = "No model is left that may be asked" + (" in time." if model else ".")
        decision = end(session, event, "partial", "model_unavailable")
        return ladder.taken(decision, "facts_without_model", because)
    told = session.doubting(*_out_of_order(session, catalogue), *_other_model(session, model))
    decision = request_reasoning(told, event, ready, left, model, catalogue)
    return _rungs_told(session, summaries.asked_beside(decision, event, ready), model)


def _rungs_told(before: Session, decision: Decision, model: str) -> Decision:
    """Return the decision to ask the model, with the fallback steps that were taken in the log."""
    session = decision.session
    if model != before.models.asked and session.models.order and model != session.models.order[0]:
        because = f"{session.models.order[0]} may not be asked."
        decision = ladder.taken(decision, "other_model", because, model)
    if session.last_round == "all_tools_failed":
        because = limits.explain(session.last_round, session)
        decision = ladder.taken(decision, "answer_without_tools", because)
    return decision


def _on_reply(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    reply: ReasoningCompleted,
    catalogue: Catalogue,
    earlier: Mapping[str, ToolCall],
    schema: OutputSchema | None,
) -> Decision:
    """Return the decision after the model's reply: the session ends, or asks for tools."""
    heard = replace(
        session,
        spent=_calibrated(replace(session.spent.plus(reply.usage), rounds=session.round), reply),
        material=replace(session.material, reasoning=log_entry),
        models=replace(session.models, round_failures=0, pauses=0),
    )
    if reply.stop_reason == "refusal":
        return end(heard, event, "failed", "model_refused", log_entry)
    if reply.tool_calls and heard.last_round is None and heard.tools.usable:
        if limits.tokens_left(heard) <= 0:
            return end(heard, event, "partial", "token_budget_exhausted", log_entry)
        after = offer.after_reply(outputs.after_calls(heard), catalogue, reply)
        return request_tools(after, event, reply.tool_calls, catalogue, earlier)
    return outputs.concluded(heard, event, log_entry, reply, schema)


def _on_person(session: Session, heard: Session, event: AnyEvent, catalogue: Catalogue) -> Decision:
    """Return the decision after a person's reply or timeout: the batch goes out when no call waits any more."""
    if heard is session or heard.people.undecided or heard.people.unanswered:
        return Decision(heard)
    return hand_out(heard, event, heard.people.pending, catalogue, offer.allowed(heard, catalogue))


def _on_results(
    session: Session, event: AnyEvent, log_entry: LogEntry, completed: ToolsCompleted, catalogue: Catalogue
) -> Decision:
    """Return the decision after a batch: the next round begins with its results."""
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
            made=repetitions.after_results(session, completed), in_doubt=_still_in_doubt(session, completed)
        ),
        tools=replace(session.tools, succeeded=tuple(dict.fromkeys((*session.tools.succeeded, *succeeded)))),
    )
    after = ladder.after_results(outputs.after_results(filled, completed), completed)
    return _after_batch(offer.after_results(after, completed), event)


def _on_failure(
    session: Session, event: AnyEvent, failure: ComponentFailed, named: Logged | None
) -> Decision:
    """Return the decision after a dead letter: the session continues without its outcome, or ends."""
    if summaries.is_about(session, failure.failed_event):
        return Decision(summaries.after_failure(session))
    if failure.component == "coordinator":
        return after_own_failure(session, event, named)
    if failure.failed_event not in session.awaiting:
        return Decision(session)
    if failure.component == "reasoning_engine":
        return _on_reasoning_failure(session, event, ladder.lost(session, failure.error))
    message = (
        f"The {failure.component.replace('_', ' ')} failed in round {session.round}: {failure.error.message}"
    )
    doubting = session.doubting(doubt("component_failed", message, failure.component))
    if failure.component == "tool_dispatcher":
        alone, sends = child_runs.without_batch(doubting.doubting(*in_doubt(session)))
        decision = _after_batch(ladder.after_lost_batch(alone, ("the whole batch",)), event)
        return replace(decision, sends=(*decision.sends, *sends))
    return end(doubting, event, "partial", "internal_error")


def _on_reasoning_failure(session: Session, event: AnyEvent, failed: ReasoningFailed) -> Decision:
    """Take the next fallback step.

    A model that has used up the session's time has not failed; the timer of the deadline may fire a little
    later.
    """
    if event.time >= session.deadline - NEARLY:
        return end(session, event, "partial", "deadline_exceeded")
    after, rung = ladder.after_failure(session, event, failed)
    if rung is None:
        is_refused = after.models.unusable != session.models.unusable
        told = after.doubting(ladder.refusal_told(session, failed)) if is_refused else after
        return request_briefing(told, event)
    after = after.doubting(ladder.failure_told(session, failed.error, rung))
    if rung == "facts_without_model":
        decision = end(after, event, "partial", "model_unavailable")
    else:
        decision = request_briefing(after, event)
    return ladder.taken(decision, rung, failed.error.message)


def _after_batch(session: Session, event: AnyEvent) -> Decision:
    """Begin the next round, or end the session when no round is left."""
    if session.round >= session.limits.max_rounds:
        return end(session, event, "partial", "max_rounds_reached")
    decision = request_briefing(replace(session, round=session.round + 1), event)
    if session.tools.barren_rounds != 1:
        return decision
    return ladder.taken(
        decision, "tools_failed", f"Every call failed: {', '.join(session.tools.failed_calls)}."
    )


def _still_in_doubt(session: Session, completed: ToolsCompleted) -> tuple[str, ...]:
    """Return the calls of unknown outcome after the results of a batch, also of tools that were taken for reads."""
    known, unknown = set(), []
    for result in completed.results:
        call = in_doubt_as(result.tool, result.call_id)
        is_unknown = result.error is not None and result.error.error_type == "outcome_unknown"
        if is_unknown and result.repeated is None:
            unknown.append(call)
        else:
            known.add(call)
        if result.repeated is not None and result.error is None:
            known.add(in_doubt_as(result.tool, result.repeated.call_id))
        if result.settles:
            known.add(in_doubt_as(result.tool, result.settles))
    return tuple(dict.fromkeys(call for call in (*session.writes.in_doubt, *unknown) if call not in known))


def _out_of_order(session: Session, catalogue: Catalogue) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about tools that were not offered because they were unavailable, once for each."""
    told = {one.about for one in session.uncertainty if one.kind == "tools_unavailable"}
    doubts = []
    for name, instead in offer.out_of_order(session, catalogue).items():
        message = f"`{name}` was out of order and was not offered"
        message += (
            f"; {' and '.join(f'`{other}`' for other in instead)} could be used instead." if instead else "."
        )
        doubts += [] if name in told else [doubt("tools_unavailable", message, name)]
    return tuple(doubts)


def _other_model(session: Session, model: str) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about a reply from another model than the one asked for, once for each model."""
    told = {one.about for one in session.uncertainty if one.kind == "other_model"}
    if not session.models.order or model == session.models.order[0] or model in told:
        return ()
    message = (
        f"`{session.models.order[0]}` was out of order in round {session.round}; `{model}` was asked instead."
    )
    return (doubt("other_model", message, model, "note"),)


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
