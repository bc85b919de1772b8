"""The effect of a person's decision or answer: of two that are sent at once, the session takes only one."""

import asyncio
from collections.abc import Sequence

from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    ChildBegun,
    EventData,
    QuestionAnswered,
    ToolsRequested,
)
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import LogEntry
from redis.exceptions import RedisError

from antiphon.errors import TooLate
from coordinator.document import SESSION

_READ_S = 5.0
_POLL_S = 0.02

PersonsReply = ApprovalDecided | QuestionAnswered
Log = Sequence[tuple[LogEntry, AnyEvent]]


async def check_effect(bus: Bus, session_id: str, sent: Sequence[AnyEvent]) -> None:
    """Raise TooLate if the session has not taken a decision or answer in `sent` for one of its calls.

    Waits until the coordinator has read them. If that takes longer than 5 s, or if the session cannot be read any
    more, the effect of what was sent is not known, and an error is logged: the command line shows no warnings.
    """
    try:
        async with asyncio.timeout(_READ_S):
            for event in sent:
                while await _is_waiting(bus, session_id, _reply_in(event)):  # noqa: ASYNC110  # another process decides
                    await asyncio.sleep(_POLL_S)
            log = await bus.session(session_id).log()
            _, content = await bus.session(session_id).document(STATE)
            pending = SESSION.read(content).people.pending if content else ()
    except (TimeoutError, RedisError, AntiphonError) as error:
        import structlog  # slow to import, and rarely needed in a client

        is_unread = isinstance(error, TimeoutError)
        reason = f"no coordinator has read it for {_READ_S:g} s; it counts if it is read in time and first"
        structlog.get_logger().error(
            "decision_unconfirmed", session=session_id, reason=reason if is_unread else str(error)
        )
        return
    too_late = [
        _first_reply(log, event, call_id)
        for event in sent
        for call_id in _reply_in(event).calls
        if not _has_effect(log, event, call_id, pending)
    ]
    if too_late:
        raise TooLate(
            f"session {session_id} did not take it: {'; '.join(too_late)}.",
            hint=f"`antiphon sessions show {session_id}` lists what was sent and what followed.",
        )


def _reply_in(event: AnyEvent) -> PersonsReply:
    assert isinstance(event.data, PersonsReply)
    return event.data


async def _is_waiting(bus: Bus, session_id: str, reply: PersonsReply) -> bool:
    """Return whether the session, or a run of that id, still waits for one of the calls."""
    from antiphon.run_state import calls_to_decide, run_state  # sessions need no workflows

    _, content = await bus.session(session_id).document(STATE)
    if content is None:
        run = await run_state(bus, session_id)
        return run is not None and reply.round in {one.round for one in calls_to_decide(run)}
    session = SESSION.read(content)
    waiting = {*session.people.undecided, *session.people.unanswered}
    is_there = session.phase == "approval" and session.round == reply.round
    return is_there and not waiting.isdisjoint(reply.calls)


def _has_effect(log: Log, sent: AnyEvent, call_id: str, pending: tuple[RequestedCall, ...]) -> bool:
    """Return whether the call has the outcome that was sent.

    The outcome is in the batch that went out, or in the `pending` one if other calls of it still wait.
    """
    reply = _reply_in(sent)
    batches = [event.data for _, event in log if isinstance(event.data, ToolsRequested)]
    batch = next((one.calls for one in batches if one.round == reply.round), pending)
    calls = [call for call in batch if call.id == call_id]
    if isinstance(reply, QuestionAnswered):
        entries = {entry for entry, event in log if event.id == sent.id}
        return any(call.answer in entries for call in calls)
    is_approved = any(call.approval is not None for call in calls) or (
        # The call of a workflow is in no batch.
        not calls and any(_begins(event.data, reply.round, call_id) for _, event in log)
    )
    return is_approved == reply.is_approved


def _begins(data: EventData, round: int, call_id: str) -> bool:
    return isinstance(data, ChildBegun) and (data.round, data.call_id) == (round, call_id)


def _first_reply(log: Log, sent: AnyEvent, call_id: str) -> str:
    """Return who decided on a call, or answered it, before."""
    mine = _reply_in(sent)
    for _, event in log:
        other = event.data
        if event.id == sent.id or not isinstance(other, PersonsReply) or type(other) is not type(mine):
            continue
        if other.round != mine.round or call_id not in other.calls:
            continue
        person = other.by or "another person"
        if isinstance(other, QuestionAnswered):
            return f"{person} answered {call_id} first"
        if isinstance(mine, ApprovalDecided) and other.is_approved != mine.is_approved:
            return f"{person} {'approved' if other.is_approved else 'denied'} {call_id} first"
    return f"{call_id} no longer waited"
