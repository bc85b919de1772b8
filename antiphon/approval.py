"""Calls that wait for a person's approval: which they are, and saying what the person has decided."""

import asyncio
from collections.abc import Iterable

from antiphon.arrival import Arrival
from antiphon.errors import InvalidQuery, NotWaiting, UnknownSession
from antiphon.submission import decision
from antiphon.tail import PATIENCE_S
from coordinator.session import Phase, Session
from shared.bus.connection import patiently
from shared.bus.handling import STATE
from shared.bus.redis_bus import Bus
from shared.clock import utc_now
from shared.ids import new_id
from shared.tools import ToolCall

_DOING: dict[Phase, str] = {
    "briefing": "it is being briefed for round {round}",
    "resting": "every model is out of order, and one of them is waited for in round {round}",
    "reasoning": "the model reasons in round {round}",
    "tools": "its tool calls of round {round} are running",
    "assembling": "its answer is being put together",
    "closed": "it has ended",
}


async def decide(
    bus: Bus, arrival: Arrival, session_id: str, is_approved: bool, calls: Iterable[str], by: str, reason: str
) -> tuple[str, ...]:
    """Say what a person has decided on calls of a session, all that wait when none is named; returns their ids.

    Raises NotWaiting, InvalidQuery for a call that does not wait, UnknownSession, SubmissionRejected.
    """
    session = await patiently("look for a session", lambda: _waiting(bus, arrival, session_id), PATIENCE_S)
    chosen = _chosen(session, calls)
    first = await bus.first_event(session_id)
    if first is not None:
        said = {
            "round": session.round,
            "is_approved": is_approved,
            "calls": chosen,
            "by": by,
            "reason": reason,
        }
        event = decision(session_id, said, first, new_id(), utc_now())
        # Safe to repeat: what is said twice changes nothing.
        if await patiently("decide", lambda: bus.publish(event, "signal"), PATIENCE_S) == "sent":
            return chosen
    raise UnknownSession(f"session {session_id} is not kept any more.")


async def calls_waiting(bus: Bus, session_id: str) -> tuple[ToolCall, ...]:
    """The calls of a session that a person has to decide on; none when it waits for nobody."""
    (_, content), response = await asyncio.gather(
        bus.session(session_id).document(STATE), bus.session(session_id).response()
    )
    return undecided(Session.model_validate_json(content)) if content and response is None else ()


def undecided(session: Session) -> tuple[ToolCall, ...]:
    """The calls that a person has to decide on, in the order of their batch."""
    return tuple(call for call in session.pending if call.id in session.undecided and call.refused is None)


async def _waiting(bus: Bus, arrival: Arrival, session_id: str) -> Session:
    """The session, if it waits for a person. Raises NotWaiting, which says what it does instead."""
    if not await arrival.check():
        raise NotWaiting(f"session {session_id} waits for nobody's approval: it stands in the queue.")
    stored = bus.session(session_id)
    (_, content), response = await asyncio.gather(stored.document(STATE), stored.response())
    if response is not None:
        doing = f"it has ended, {response.status} ({response.termination_reason})"
    elif content is None:
        doing = "it is being opened"
    else:
        session = Session.model_validate_json(content)
        if session.phase == "approval":
            return session
        doing = _DOING[session.phase].format(round=session.round)
    raise NotWaiting(f"session {session_id} waits for nobody's approval: {doing}.")


def _chosen(session: Session, calls: Iterable[str]) -> tuple[str, ...]:
    """The ids asked for, each once; all that wait when none is. Raises InvalidQuery."""
    if isinstance(calls, str) or not isinstance(calls, Iterable):
        raise InvalidQuery(
            "calls: a list of call ids is needed.", hint=f"For instance [{session.undecided[0]!r}]."
        )
    asked = list(calls)
    for call in asked:
        if call not in session.undecided:
            waiting = ", ".join(f"{call.id} ({call.name})" for call in undecided(session))
            raise InvalidQuery(
                f"calls: no call {call!r} of session {session.id} waits for a decision.",
                hint=f"Those that wait: {waiting}.",
            )
    return tuple(dict.fromkeys(asked)) or session.undecided
