"""Requests of the coordinator to the other components; the session then waits for the reply. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import accumulate

from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import (
    AnyEvent,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingReady,
    BriefingRequested,
    EventData,
    ModelDue,
    ReasoningRequested,
    ToolsRequested,
)
from antiphon_shared.events.session import Status, TerminationReason
from antiphon_shared.process.ids import child_id, idempotency_key
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolCall
from antiphon_shared.tools.relevance import FIND_TOOLS, PLAN
from antiphon_shared.values import LogEntry

from coordinator import (
    approvals,
    child_runs,
    fallbacks,
    limits,
    offer,
    people,
    questions,
    repetitions,
    steps,
    summaries,
)
from coordinator.decision import Decision
from coordinator.session import Session
from coordinator.session_parts import NO_PEOPLE, Writes, replace

DEADLINE, OVERDUE, MODEL = "deadline", "assembly", "model"
"""Names of timers."""
_KEYS_BY_IDENTITY = 2
"""The first format of sessions in which the dispatcher makes idempotency keys, from the identity of a write."""


def request_briefing(session: Session, event: AnyEvent, before: tuple[EventData, ...] = ()) -> Decision:
    """Request a briefing of the model for the session's round; the synthesizer first files the last round's results."""
    # A summary is sent once. If it is lost, the briefing is made by rules.
    waiting = replace(
        session,
        phase="briefing",
        awaiting=(child_id(event.id, len(before)),),
        summaries=replace(session.summaries, ready=None) if session.summaries.ready else session.summaries,
    )
    request = BriefingRequested(
        round=session.round,
        max_rounds=session.limits.max_rounds,
        question=session.query.question,
        level=fallbacks.level_of(session),
        reasoning=session.material.reasoning,
        results=session.material.results,
        untrusted=session.material.untrusted_calls,
        summary=session.summaries.ready,
        tokens_per_estimated=limits.tokens_per_estimated(session),
        may_summarize=summaries.may_request(waiting),
        step=steps.to_brief(session),
    )
    return Decision(waiting, (*before, request))


def request_reasoning(
    session: Session,
    event: AnyEvent,
    ready: BriefingReady,
    tokens_left: int,
    model: str,
    catalogue: Catalogue,
) -> Decision:
    """Request one call of the model; in a last round, without tools and with the reason."""
    offered = offer.offered_tools(session, catalogue)
    is_every_tool_out = offer.are_all_tools_unavailable(session, catalogue)
    reason = limits.last_round_reason(session, ready.briefing.tokens, is_every_tool_out)
    request = ReasoningRequested(
        round=session.round,
        briefing=ready.briefing.digest,
        catalogue=session.tools.catalogue,
        tools=() if reason else offered,
        last_round_because=limits.explain(reason, session),
        notice=_notice(session, () if reason else offered, is_last=reason is not None),
        output=session.query.question if session.output.is_demanded else None,
        step=session.steps.number,
        model=model,
        tokens_left=tokens_left,
        deadline=session.deadline,
    )
    waiting = replace(
        session,
        phase="reasoning",
        awaiting=(child_id(event.id, 0),),
        last_round=reason,
        models=replace(session.models, asked=model),
    )
    return Decision(waiting, (request,))


def _notice(session: Session, offered: tuple[str, ...], is_last: bool) -> str:
    """Return the notice that the model gets once, in addition to the briefing."""
    notices = ["" if is_last else fallbacks.notice(session, offered), steps.notice(session)]
    if session.output.because:
        faults = " ".join(f"{n}. {one}" for n, one in enumerate(session.output.because, 1))
        notices.append(
            f"Your last answer does not count. Validation Errors Found: {faults} Read each error, mend what it names, "
            "and give the whole answer again."
        )
    return "\n".join(filter(None, notices))


def wait_for_model(session: Session, until: datetime) -> Decision:
    """Let the session wait until a model may be asked, as every model is unavailable."""
    wait = session.models.waits + 1
    resting = replace(session, phase="resting", awaiting=(), models=replace(session.models, waits=wait))
    due = ModelDue(round=session.round, wait=wait)
    return Decision(resting, timers=(SetTimer(MODEL, until, due),))


def request_tools(
    session: Session,
    event: AnyEvent,
    calls: tuple[ToolCall, ...],
    catalogue: Catalogue,
    earlier: Mapping[str, ToolCall] = repetitions.NO_CALLS,
) -> Decision:
    """Request one batch, after a person's approval if a call needs it.

    Calls beyond the session's limit are handed out as refused, so that every call is answered. `earlier` are
    the calls to repeat. In sessions of format 1 the keys are made here, in others by the dispatcher.
    """
    calls_left = max(0, session.limits.max_tool_calls - session.spent.tool_calls)
    refusal = f"the session's limit of {session.limits.max_tool_calls} tool calls is reached"
    calls_before = accumulate((steps.refusal(session, call.name) is None for call in calls), initial=0)
    requested = tuple(
        RequestedCall(
            **call.__dict__,
            idempotency_key=idempotency_key(session.query.tenant, session.id, session.round, call.id)
            if mints_keys(session)
            else None,
            refused=None if before < calls_left else refusal,
        )
        for before, call in zip(calls_before, calls, strict=False)
    )
    allowed = offer.allowed(session, catalogue)
    if not mints_keys(session):
        requested = repetitions.with_repetitions(session, requested, allowed, catalogue, earlier)
    requested = steps.with_refused_calls(session, requested)
    to_approve = approvals.calls_to_approve(session, requested, allowed, catalogue)
    requested, to_approve = approvals.without_placeholders(requested, to_approve)
    requested, posed = questions.without_refused(requested, allowed)
    if not to_approve and not posed:
        return request_calls(session, event, requested, catalogue, allowed)
    waits = people.waiting_for(session, requested, to_approve, posed)
    end = people.wait_end(session, event.time)
    if end is not None:
        return people.ask(waits, to_approve, posed, end)
    return request_calls(
        late := people.without_answers(waits), event, late.people.pending, catalogue, allowed
    )


def request_calls(
    session: Session,
    event: AnyEvent,
    calls: tuple[RequestedCall, ...],
    catalogue: Catalogue,
    allowed: tuple[str, ...],
) -> Decision:
    """Hand the batch to the dispatcher, and begin its runs. Refused calls do not count against the limit.

    `allowed` are the tools that may be called in the session's round: see `offer.allowed`.
    """
    others = tuple(call for call in calls if not child_runs.workflow_of(call, allowed, catalogue))
    writes = [call for call in calls if call.name in allowed and _may_write(call, catalogue)]
    unknown = [unknown_call_name(call.name, call.id) for call in writes]
    made = session.writes.made if mints_keys(session) else repetitions.with_batch_writes(session, writes)
    waiting = replace(
        session,
        phase="tools",
        awaiting=(child_id(event.id, 0),) if others else (),
        spent=replace(
            session.spent,
            tool_calls=session.spent.tool_calls + sum(call.refused is None for call in calls),
            tool_rounds=session.spent.tool_rounds + 1,
        ),
        writes=Writes(made=made, in_doubt=tuple(dict.fromkeys((*session.writes.in_doubt, *unknown)))),
        people=NO_PEOPLE,
    )
    decision = Decision(
        waiting, (_batch(session, others, allowed),) if others else (), _cancel_people_timer(session)
    )
    if len(others) == len(calls):
        return decision
    return child_runs.begin_runs(decision, event, calls, allowed, catalogue)


def _batch(session: Session, calls: tuple[RequestedCall, ...], allowed: tuple[str, ...]) -> ToolsRequested:
    asks_for_tools = any(call.name in (FIND_TOOLS, PLAN) for call in calls)
    has_workflows = PLAN in allowed
    return ToolsRequested(
        round=session.round,
        calls=calls,
        allowed=allowed,
        succeeded=session.tools.succeeded,
        has_untrusted=session.material.has_untrusted,
        tenant=session.query.tenant,
        grant=session.query.grant,
        deadline=session.deadline,
        catalogue=session.tools.catalogue if asks_for_tools and has_workflows else "",
    )


def request_assembly(
    session: Session,
    event: AnyEvent,
    status: Status,
    reason: TerminationReason,
    reply: LogEntry | None = None,
    has_result: bool = False,
) -> Decision:
    """End the session with a request for its one answer."""
    request = assembly_of(session, status, reason, reply, has_result)
    ending = replace(session, phase="assembling", awaiting=(child_id(event.id, 0),), people=NO_PEOPLE)
    timers = (overdue(session), CancelTimer(DEADLINE), *_cancel_people_timer(session))
    return Decision(ending, (request,), timers, sends=child_runs.cancellations(session))


def assembly_of(
    session: Session,
    status: Status,
    reason: TerminationReason,
    reply: LogEntry | None = None,
    has_result: bool = False,
) -> AssemblyRequested:
    """Return the request for an answer, from the session."""
    return AssemblyRequested(
        question=session.query.question,
        status=status,
        termination_reason=reason,
        reply=reply,
        has_result=has_result,
        steps=() if has_result else steps.finished_outputs(session),
        reasoning=session.material.reasoning,
        results=session.material.results,
        batch=session.round if session.phase == "tools" and session.material.results is None else None,
        untrusted=session.material.untrusted_calls,
        citations=session.query.citations,
        uncertainty=session.uncertainty,
        rounds_used=session.spent.rounds,
        tool_calls_used=session.spent.tool_calls,
        usage=session.spent.usage,
        opened=session.opened,
    )


def overdue(session: Session) -> SetTimer:
    """Return the timer for the assembler; the wait may be extended to the deadline."""
    return SetTimer(OVERDUE, timedelta(seconds=session.limits.assembly_s), AssemblyOverdue())


def mints_keys(session: Session) -> bool:
    """Return whether idempotency keys are made here from round and call id, as earlier releases expect."""
    return session.format < _KEYS_BY_IDENTITY


def unknown_call_name(tool: str, call_id: str) -> str:
    """Return the name of a call of unknown outcome."""
    return f"{tool} {call_id}"


def _may_write(call: RequestedCall, catalogue: Catalogue) -> bool:
    """Return whether the call may write; True for a tool that is not in the catalogue."""
    tool = catalogue.by_name.get(call.name)
    return call.refused is None and call.problem is None and (tool is None or tool.effect == "write")


def _cancel_people_timer(session: Session) -> tuple[SetTimer | CancelTimer, ...]:
    """Return the cancellation of the timer for people, if the session waits for them."""
    return (CancelTimer(people.PERSON),) if session.phase == "approval" else ()
