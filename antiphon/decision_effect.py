"""The effect of a person's decision or answer: of two that are sent at once, the session takes only one."""

import asyncio
from collections.abc import Container, Sequence

from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, ApprovalDecided, QuestionAnswered, ToolsRequested
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import LogEntry
from redis.exceptions import RedisError

from antiphon.errors import TooLate
from coordinator.document import SESSION

_READ_S = 5.0
_POLL_S = 0.02

Log = Sequence[tuple[LogEntry, AnyEvent]]


async def check_effect(bus: Bus, sent: AnyEvent) -> None:
    """Raise TooLate if the session has not taken a decision or answer for one of its calls.

    Waits until the coordinator has read it. Raises nothing if that takes longer than 5 s, or if Redis becomes
    unavailable: it was sent, and its effect is not known.
    """
    decision = sent.data
    assert isinstance(decision, ApprovalDecided | QuestionAnswered)
    try:
        async with asyncio.timeout(_READ_S):
            while (batch := await _decided_batch(bus, sent.subject, decision)) is None:  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)
            log = await bus.session(sent.subject).log()
    except (TimeoutError, RedisError):
        return
    entries = {entry for entry, event in log if event.id == sent.id}
    calls = {call.id: call for call in batch}
    if too_late := [id for id in decision.calls if not _has_effect(decision, entries, calls.get(id))]:
        others = "; ".join(_first_decision(log, sent, id) for id in too_late)
        raise TooLate(
            f"session {sent.subject} did not take it: {others}.",
            hint=f"`antiphon sessions show {sent.subject}` lists what was sent and what followed.",
        )


async def _decided_batch(
    bus: Bus, session_id: str, decision: ApprovalDecided | QuestionAnswered
) -> tuple[RequestedCall, ...] | None:
    """Return the batch with what was decided on each call, empty if it was not sent; None while a call still waits."""
    from antiphon.run_state import calls_to_decide, run_state  # sessions need no workflows

    _, content = await bus.session(session_id).document(STATE)
    if content is None:
        run = await run_state(bus, session_id)
        if run is not None and decision.round in {one.round for one in calls_to_decide(run)}:
            return None
    elif (session := SESSION.read(content)).phase == "approval" and session.round == decision.round:
        waiting = {*session.people.undecided, *session.people.unanswered}
        return None if waiting.intersection(decision.calls) else session.people.pending
    log = await bus.session(session_id).log()
    batches = (event.data for _, event in log if isinstance(event.data, ToolsRequested))
    return next((batch.calls for batch in batches if batch.round == decision.round), ())


def _has_effect(
    decision: ApprovalDecided | QuestionAnswered, entries: Container[LogEntry], call: RequestedCall | None
) -> bool:
    """Return whether the batch has the outcome of the decision; a call that was never sent (None) is a denied one."""
    if isinstance(decision, QuestionAnswered):
        return call is not None and call.answer in entries
    return (call is not None and call.approval is not None) == decision.is_approved


def _first_decision(log: Log, sent: AnyEvent, call_id: str) -> str:
    """Return who decided on a call before, in words."""
    for _, event in log:
        data = event.data
        if (
            event.id == sent.id
            or type(data) is not type(sent.data)
            or call_id not in getattr(data, "calls", ())
        ):
            continue
        assert isinstance(data, ApprovalDecided | QuestionAnswered)
        person = data.by or "another person"
        if isinstance(data, QuestionAnswered):
            return f"{person} answered {call_id} first"
        if data.is_approved != getattr(sent.data, "is_approved", None):
            return f"{person} {'approved' if data.is_approved else 'denied'} {call_id} first"
    return f"{call_id} no longer waited"
