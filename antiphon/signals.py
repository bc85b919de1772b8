"""Events from outside for a session that has begun: cancellations, decisions, answers and values."""

import asyncio
from collections.abc import Mapping
from functools import partial

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.early_cancellations import keep_cancellation
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, CancellationRequested, EventData
from antiphon_shared.events.session import Response
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.health import check_key
from antiphon_shared.process.ids import new_id

from antiphon.arrival import Arrival
from antiphon.errors import UnknownSession
from antiphon.queued import query_waiting
from antiphon.submission import signal
from antiphon.tail import PATIENCE_S

_ARRIVAL_POLL_S = 0.05
_ARRIVAL_WAIT_S = 1.0
"""The time that a cancellation waits for a queued query to be opened, as a coordinator of an earlier release does not
read the stored cancellation."""


async def cancel(bus: Bus, arrival: Arrival, session_id: str, reason: str) -> bool:
    """Request the end of a session; return False if it had ended.

    The request is stored before it is sent, so that a session that is opened afterwards ends at once.

    Raises UnknownSession, SubmissionRejected, ConfigurationError if a key for signing is missing.
    """
    read_response = bus.session(session_id).response

    async def look() -> tuple[AnyEvent | None, Response | None, None]:
        return await asyncio.gather(bus.first_event(session_id), read_response(), arrival.raise_if_rejected())

    admitted, response, _ = await retry_while_unavailable("look for a session", look, PATIENCE_S)
    if response is not None:
        return False
    queued = None
    if admitted is None:
        queue = partial(query_waiting, bus, session_id, changes=True)
        queued = await retry_while_unavailable("look for a query", queue, PATIENCE_S)
    if queued is None:
        query = admitted or await _opening_of(bus, arrival, session_id)
        event = _cancellation(query, session_id, reason)
        await asyncio.gather(_store(bus, event, query), _publish(bus, event))
        return True
    await check_key(bus, PATIENCE_S)  # an unsigned query may be accepted, an unsigned cancellation is not
    await _store(bus, _cancellation(queued, session_id, reason), queued)
    if not await _is_open_soon(arrival):
        return True
    response = await retry_while_unavailable("look for the answer", read_response, PATIENCE_S)
    if response is not None:
        return response.status == "cancelled"
    await send(bus, session_id, CancellationRequested, {"reason": reason})
    return True


async def _opening_of(bus: Bus, arrival: Arrival, session_id: str) -> AnyEvent:
    """Return the query of a session that has just left the queue. Raises UnknownSession if it does not exist."""
    read = partial(bus.first_event, session_id)
    if (query := await retry_while_unavailable("look for a session", read, PATIENCE_S)) is not None:
        return query
    await retry_while_unavailable("look for a session", arrival.check, PATIENCE_S)  # it may be rejected
    raise UnknownSession.of(session_id)


def _cancellation(query: AnyEvent, session_id: str, reason: str) -> AnyEvent:
    return signal(CancellationRequested, {"reason": reason}, session_id, query, new_id(), utc_now())


async def _store(bus: Bus, cancellation: AnyEvent, query: AnyEvent) -> None:
    """Store the cancellation for the opening of the query's session.

    The stored event names the query that it cancels. In a log it has no cause, as the client sends it.
    """
    stored = cancellation.model_copy(update={"causationid": query.id})
    await retry_while_unavailable("cancel a query", partial(keep_cancellation, bus, stored), PATIENCE_S)


async def _publish(bus: Bus, event: AnyEvent, what: str = "session") -> None:
    if await retry_while_unavailable("send", lambda: bus.publish(event, "signal"), PATIENCE_S) != "sent":
        raise UnknownSession(f"{what} {event.subject} is no longer stored.")


async def _is_open_soon(arrival: Arrival) -> bool:
    """Let a coordinator open a waiting query out of turn; return whether it was opened within a second."""
    end_s = monotonic_s() + _ARRIVAL_WAIT_S
    while not await retry_while_unavailable("look for a session", arrival.check, PATIENCE_S):
        if monotonic_s() >= end_s:
            return False
        await retry_while_unavailable("open a waiting query", arrival.open_first, PATIENCE_S)
        await asyncio.sleep(_ARRIVAL_POLL_S)
    return True


async def send(
    bus: Bus, session_id: str, kind: type[EventData], fields: Mapping[str, object], what: str = "session"
) -> AnyEvent:
    """Send a session an event and return it; `what` names the session in errors. Raises InvalidQuery, UnknownSession.

    It is sent again if a reply of Redis is lost, as a second cancellation, decision or answer changes nothing.
    """
    read = partial(bus.first_event, session_id)
    first = await retry_while_unavailable("look for a session", read, PATIENCE_S)
    if first is None:
        raise UnknownSession(f"{what} {session_id} is no longer stored.")
    event = signal(kind, fields, session_id, first, new_id(), utc_now())
    await _publish(bus, event, what)
    return event
