"""Events from outside for a session that has begun: cancellations, decisions, answers and values."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, CancellationRequested, EventData
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id

from antiphon.arrival import Arrival
from antiphon.errors import UnknownSession
from antiphon.submission import signal
from antiphon.tail import PATIENCE_S

_ARRIVAL_POLL_S = 0.05


async def cancel(bus: Bus, arrival: Arrival, session_id: str, reason: str) -> bool:
    """Request the end of a session, once it is open; return False when it had ended already.

    Raises UnknownSession, SubmissionRejected.
    """
    while not await retry_while_unavailable("look for a session", arrival.check, PATIENCE_S):
        await retry_while_unavailable("let it in", arrival.open_first, PATIENCE_S)
        await asyncio.sleep(_ARRIVAL_POLL_S)
    answered = bus.session(session_id).response
    if await retry_while_unavailable("look for the answer", answered, PATIENCE_S) is not None:
        return False
    await send(bus, session_id, CancellationRequested, {"reason": reason})
    return True


async def send(
    bus: Bus, session_id: str, kind: type[EventData], fields: Mapping[str, Any], what: str = "session"
) -> AnyEvent:
    """Send a session an event and return it; `what` names the session in errors. Raises InvalidQuery, UnknownSession.

    It is sent again when a reply of Redis is lost: a second cancellation, decision or answer changes nothing.
    """
    look = partial(bus.first_event, session_id)
    first = await retry_while_unavailable("look for a session", look, PATIENCE_S)
    if first is not None:
        event = signal(kind, fields, session_id, first, new_id(), utc_now())
        if await retry_while_unavailable("send", lambda: bus.publish(event, "signal"), PATIENCE_S) == "sent":
            return event
    raise UnknownSession(f"{what} {session_id} is no longer stored.")
