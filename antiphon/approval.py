"""The calls of sessions and runs that wait for a person's approval, and the person's decision."""

import asyncio
from collections.abc import Iterable, Mapping

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ApprovalDecided
from antiphon_shared.events.session import Response
from antiphon_shared.tools.calls import ToolCall

from antiphon.arrival import Arrival
from antiphon.confirmation import CallIds
from antiphon.decision_effect import check_effect
from antiphon.errors import InvalidQuery, NotWaiting
from antiphon.signals import send
from antiphon.tail import PATIENCE_S
from coordinator.document import SESSION
from coordinator.session import Phase, Session

_ACTIVITIES: dict[Phase, str] = {
    "briefing": "its briefing for round {round} is being built",
    "resting": "it is waiting for a model in round {round}, as none is available",
    "reasoning": "the model is replying in round {round}",
    "tools": "its tool calls of round {round} are running",
    "assembling": "its answer is being assembled",
    "closed": "it has ended",
}


async def decide(
    bus: Bus,
    arrival: Arrival,
    session_id: str,
    is_approved: bool,
    calls: Iterable[str],
    by: str,
    *,
    reason: str,
) -> CallIds:
    """Submit a person's decision on the calls in `calls`, or on all waiting calls if it is empty; return their ids.

    Raises NotWaiting, its subclass TooLate if another decision came first, InvalidQuery if a call does not wait,
    UnknownSession, SubmissionRejected.
    """
    rounds, descriptions = await retry_while_unavailable(
        "look for a session", lambda: _waiting_calls(bus, arrival, session_id), PATIENCE_S
    )
    chosen = select_calls(calls, tuple(rounds), descriptions, session_id, "a decision")
    sent = []
    for round in dict.fromkeys(rounds[call] for call in chosen):
        decided = tuple(call for call in chosen if rounds[call] == round)
        fields = {"round": round, "is_approved": is_approved, "calls": decided, "by": by, "reason": reason}
        sent.append(await send(bus, session_id, ApprovalDecided, fields))
    return await check_effect(bus, session_id, sent, chosen)


async def _waiting_calls(
    bus: Bus, arrival: Arrival, session_id: str
) -> tuple[dict[str, int], dict[str, str]]:
    """Return the round and the tool of each call to decide on, by its id. Raises NotWaiting."""
    from antiphon.run_state import calls_to_decide, run_state  # `ask` needs no workflows

    if (run := await run_state(bus, session_id)) is not None and (calls := calls_to_decide(run)):
        return {one.call.id: one.round for one in calls}, {one.call.id: one.call.name for one in calls}
    session = await session_waiting_for_person(bus, arrival, session_id)
    if not session.people.undecided:
        raise NotWaiting(
            f"session {session_id} has no pending approval: it is waiting for its user's answer."
        )
    rounds = dict.fromkeys(session.people.undecided, session.round)
    return rounds, {call.id: call.name for call in undecided_calls(session)}


async def calls_waiting(bus: Bus, session_id: str) -> tuple[ToolCall, ...]:
    """Return the calls of a session or run that a person must decide on, or an empty tuple."""
    from antiphon.run_state import calls_to_decide, run_state

    session = await unanswered_session(bus, session_id)
    if session is not None:
        return undecided_calls(session)
    run = await run_state(bus, session_id)
    return tuple(one.call for one in calls_to_decide(run)) if run else ()


async def unanswered_session(bus: Bus, session_id: str) -> Session | None:
    """Return the state of the session, or None if it does not exist or has been answered."""
    content, response = await _state_and_answer(bus, session_id)
    return SESSION.read(content) if content and response is None else None


async def _state_and_answer(bus: Bus, session_id: str) -> tuple[bytes | None, Response | None]:
    """Return the stored state of the session, and its answer; None for each that does not exist."""
    stored = bus.session(session_id)
    (_, content), response = await asyncio.gather(stored.document(STATE), stored.response())
    return content, response


def undecided_calls(session: Session) -> tuple[ToolCall, ...]:
    """Return the calls that a person has to decide on, in the order of their batch."""
    return tuple(
        call
        for call in session.people.pending
        if call.id in session.people.undecided and call.refused is None
    )


async def session_waiting_for_person(
    bus: Bus, arrival: Arrival, session_id: str, missing: str = "pending approval"
) -> Session:
    """Return the session if it waits for a person.

    Raises NotWaiting, whose message names what is missing, and describes the session's activity.
    """
    if not await arrival.check():
        raise NotWaiting(f"session {session_id} has no {missing}: it is still queued.")
    from antiphon.run_state import activity_of, run_state

    content, response = await _state_and_answer(bus, session_id)
    if content is None and (run := await run_state(bus, session_id)):
        activity = activity_of(run)  # not the answer, which may be older than the resumption
    elif response is not None:
        activity = f"it has ended, {response.status} ({response.termination_reason})"
    elif content is None:
        activity = "it is being opened"
    else:
        session = SESSION.read(content)
        if session.phase == "approval":
            return session
        activity = _ACTIVITIES[session.phase].format(round=session.round)
    raise NotWaiting(f"session {session_id} has no {missing}: {activity}.")


def select_calls(
    calls: Iterable[str],
    waiting_ids: tuple[str, ...],
    descriptions: Mapping[str, str],
    session_id: str,
    waits_for: str,
) -> tuple[str, ...]:
    """Return the ids in `calls`, each once, or all waiting ids if it is empty. Raises InvalidQuery.

    `descriptions` describes each waiting id, for the error.
    """
    if isinstance(calls, str) or not isinstance(calls, Iterable):
        raise InvalidQuery("calls: must be a list of call ids.", hint=f"For instance [{waiting_ids[0]!r}].")
    chosen = list(calls)
    for call in chosen:
        if call not in waiting_ids:
            waiting_calls = ", ".join(f"{id} ({name})" for id, name in descriptions.items())
            raise InvalidQuery(
                f"calls: session {session_id} has no call {call!r} that is waiting for {waits_for}.",
                hint=f"Waiting calls: {waiting_calls}.",
            )
    return tuple(dict.fromkeys(chosen)) or waiting_ids
