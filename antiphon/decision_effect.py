"""The effect of a person's decision or answer: of two that are sent at once, the session takes only one."""

from collections.abc import Iterable, Sequence
from functools import partial

from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    ChildBegun,
    QuestionAnswered,
    ToolsRequested,
)
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import LogEntry

from antiphon.confirmation import CallIds, found_within_limit
from antiphon.errors import TooLate
from coordinator.child_questions import questions_of_runs
from coordinator.document import SESSION
from coordinator.session import Session

PersonsReply = ApprovalDecided | QuestionAnswered
Log = Sequence[tuple[LogEntry, AnyEvent]]


async def check_effect(bus: Bus, session_id: str, sent: Sequence[AnyEvent], calls: Iterable[str]) -> CallIds:
    """Return the ids in `calls`, and whether a coordinator has confirmed the decisions or answers in `sent`.

    Waits until the coordinator has read them. Raises TooLate if the session has not taken one of them for a call.
    """
    too_late = await found_within_limit(partial(_calls_too_late, bus, session_id, sent))
    if too_late:
        raise TooLate(
            f"session {session_id} did not take it: {'; '.join(too_late)}.",
            hint=f"`antiphon sessions show {session_id}` lists what was sent and what followed.",
        )
    return CallIds(calls, is_confirmed=too_late is not None)


async def _calls_too_late(bus: Bus, session_id: str, sent: Sequence[AnyEvent]) -> list[str] | None:
    """Return the reason for each call that was decided on before; None while the session waits for one of them."""
    for event in sent:
        if await _is_waiting(bus, session_id, _reply_in(event)):
            return None
    log = await bus.session(session_id).log()
    _, content = await bus.session(session_id).document(STATE)
    pending = SESSION.read(content).people.pending if content else ()
    too_late = []
    for event in sent:
        informed = await _informed_calls(bus, log, event)
        too_late += [
            _first_reply(log, event, call_id)
            for call_id in _reply_in(event).calls
            if call_id not in informed and not _has_effect(log, event, call_id, pending)
        ]
    return too_late


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
    return session.round == reply.round and not _waiting_calls(session, reply).isdisjoint(reply.calls)


def _waiting_calls(session: Session, reply: PersonsReply) -> set[str]:
    """Return the calls that wait for a reply of this kind."""
    people = session.people if session.phase == "approval" else None
    if isinstance(reply, ApprovalDecided):
        return set(people.undecided) if people else set()
    return set(people.unanswered) if people else {one.id for one in questions_of_runs(session)}


async def _informed_calls(bus: Bus, log: Log, sent: AnyEvent) -> frozenset[str]:
    """Return the calls whose runs have received the values in an answer."""
    reply = _reply_in(sent)
    if not isinstance(reply, QuestionAnswered):
        return frozenset()
    runs = {call_id: run for call_id in reply.calls for run in _begun_runs(log, reply.round, call_id)}
    logs = {call_id: await bus.session(run).log() for call_id, run in runs.items()}
    return frozenset(one for one in logs if any(event.causationid == sent.id for _, event in logs[one]))


def _has_effect(log: Log, sent: AnyEvent, call_id: str, pending: tuple[RequestedCall, ...]) -> bool:
    """Return whether the call has the outcome that was sent.

    The outcome is in the batch that went out, or in the `pending` one if other calls of it still wait. A call that
    has begun a run is in neither.
    """
    reply = _reply_in(sent)
    batches = [event.data for _, event in log if isinstance(event.data, ToolsRequested)]
    batch = next((one.calls for one in batches if one.round == reply.round), pending)
    calls = [call for call in batch if call.id == call_id]
    if isinstance(reply, QuestionAnswered):
        entries = {entry for entry, event in log if event.id == sent.id}
        return any(call.answer in entries for call in calls)
    has_begun = not calls and any(_begun_runs(log, reply.round, call_id))
    return (has_begun or any(call.approval is not None for call in calls)) == reply.is_approved


def _begun_runs(log: Log, round: int, call_id: str) -> list[str]:
    """Return the run that a call has begun, if it has."""
    begun = [event.data for _, event in log if isinstance(event.data, ChildBegun)]
    return [one.child for one in begun if (one.round, one.call_id) == (round, call_id)]


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
