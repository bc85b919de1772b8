"""Calls that wait for a person's approval: which they are, and saying what the person has decided."""

import asyncio
from collections.abc import Iterable, Mapping

from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id
from antiphon_shared.tools.calls import RequestedCall, ToolCall

from antiphon.arrival import Arrival
from antiphon.errors import InvalidQuery, NotWaiting, UnknownSession
from antiphon.submission import decision
from antiphon.tail import PATIENCE_S
from coordinator.document import SESSION
from coordinator.session import Phase, Session

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
    if await patiently("look for a session", arrival.check, PATIENCE_S) and (
        found := await _of_run(bus, session_id)
    ):
        return await _decide_in_run(bus, session_id, found, is_approved, calls, by, reason)
    session = await patiently("look for a session", lambda: waiting(bus, arrival, session_id), PATIENCE_S)
    if not session.people.undecided:
        raise NotWaiting(f"session {session_id} waits for nobody's approval: it waits for its user's answer.")
    waits = {call.id: call.name for call in undecided(session)}
    chosen = chosen_of(calls, session.people.undecided, waits, session_id, "a decision")
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
    """The calls of a session or run that a person has to decide on; none when it waits for nobody."""
    if run := await _of_run(bus, session_id):
        return tuple(run.values())
    session = await unanswered_session(bus, session_id)
    return undecided(session) if session else ()


async def unanswered_session(bus: Bus, session_id: str) -> Session | None:
    """The session as it stands; None when there is none, or it has been answered."""
    stored = bus.session(session_id)
    (_, content), response = await asyncio.gather(stored.document(STATE), stored.response())
    return SESSION.read(content) if content and response is None else None


async def _of_run(bus: Bus, run_id: str) -> dict[int, RequestedCall]:
    """Return the calls of a run that wait, by the number of their request; none where it is no run."""
    from antiphon.stored_runs import approvals, stored_run  # most sessions are no runs

    stored = await patiently("read a run", lambda: stored_run(bus, run_id), PATIENCE_S)
    return approvals(stored[1]) if stored is not None else {}


async def _decide_in_run(
    bus: Bus,
    run_id: str,
    found: Mapping[int, RequestedCall],
    is_approved: bool,
    calls: Iterable[str],
    by: str,
    reason: str,
) -> tuple[str, ...]:
    from antiphon.stored_runs import decide_on_call

    waits = {call.id: call.name for call in found.values()}
    chosen = chosen_of(calls, tuple(waits), waits, run_id, "a decision")
    for number, call in found.items():
        if call.id in chosen and not await decide_on_call(bus, run_id, number, call, is_approved, by, reason):
            raise UnknownSession(f"run {run_id} is not kept any more.")
    return chosen


def undecided(session: Session) -> tuple[ToolCall, ...]:
    """The calls that a person has to decide on, in the order of their batch."""
    return tuple(
        call
        for call in session.people.pending
        if call.id in session.people.undecided and call.refused is None
    )


async def waiting(bus: Bus, arrival: Arrival, session_id: str, what: str = "nobody's approval") -> Session:
    """The session, if it waits for a person. Raises NotWaiting, which says what it does instead."""
    if not await arrival.check():
        raise NotWaiting(f"session {session_id} waits for {what}: it stands in the queue.")
    stored = bus.session(session_id)
    (_, content), response = await asyncio.gather(stored.document(STATE), stored.response())
    if response is not None:
        doing = f"it has ended, {response.status} ({response.termination_reason})"
    elif content is None:
        doing = "it is being opened"
    else:
        session = SESSION.read(content)
        if session.phase == "approval":
            return session
        doing = _DOING[session.phase].format(round=session.round)
    raise NotWaiting(f"session {session_id} waits for {what}: {doing}.")


def chosen_of(
    calls: Iterable[str], waiting: tuple[str, ...], named: Mapping[str, str], session_id: str, what: str
) -> tuple[str, ...]:
    """The ids asked for, each once; all that wait when none is. `named` tells what each is. Raises InvalidQuery."""
    if isinstance(calls, str) or not isinstance(calls, Iterable):
        raise InvalidQuery("calls: a list of call ids is needed.", hint=f"For instance [{waiting[0]!r}].")
    asked = list(calls)
    for call in asked:
        if call not in waiting:
            those = ", ".join(f"{id} ({name})" for id, name in named.items())
            raise InvalidQuery(
                f"calls: no call {call!r} of session {session_id} waits for {what}.",
                hint=f"Those that wait: {those}.",
            )
    return tuple(dict.fromkeys(asked)) or waiting
