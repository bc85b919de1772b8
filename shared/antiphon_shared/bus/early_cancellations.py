"""Cancellations of sessions that are not open yet, as the query is in the queue, waits, or is being opened.

The cancellation is stored under the session's id. When the query is opened, its session ends at once, with its
one answer.
"""

from collections.abc import Awaitable
from functools import partial
from typing import Any

import structlog

from antiphon_shared.bus import scripts
from antiphon_shared.bus.reads import PendingRead
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import SIGNATURE, verified_event
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import AnyEvent, CancellationRequested, decode, encode
from antiphon_shared.process.errors import UnreadableEvent

_LIFE_MIN_MS = 172_800_000
"""The shortest life of a stored cancellation, as its query may wait for longer than a client's retention."""


async def keep_cancellation(bus: Bus, event: AnyEvent) -> None:
    """Store the cancellation of the query that caused `event`, for the retention of sessions, 2 days at least."""
    key, raw = bus.keys.early_cancellation(event.subject), encode(event)
    adding: list[Argument] = ["XADD", "MAXLEN", 1, "*", "event", raw]
    if bus.signer is not None:
        adding += [SIGNATURE, bus.signer.sign(key, raw)]
    await bus.batcher.run(scripts.EXPIRING, [key], [max(bus.settings.retention_ms, _LIFE_MIN_MS), *adding])


def cancellation_reason(bus: Bus, query: AnyEvent) -> Awaitable[str | None]:
    """Return the reason of this query's cancellation, maybe empty; None if it was not cancelled.

    The cancellation of an earlier query under the same session id does not count.
    """
    key = bus.keys.early_cancellation(query.subject)
    reply = bus.batcher.submit("XREVRANGE", key, "+", "-", "COUNT", 1)
    return PendingRead(reply, partial(_reason, bus, key, query))


def _reason(bus: Bus, key: str, query: AnyEvent, entries: list[Any]) -> str | None:
    if not entries:
        return None
    ((_, fields),) = entries
    try:
        event = decode(verified_event(bus.signer, key, fields))
    except UnreadableEvent as error:
        structlog.get_logger().warning("cancellation_unreadable", session=query.subject, reason=str(error))
        return None
    is_about = event.causationid == query.id
    return event.data.reason if is_about and isinstance(event.data, CancellationRequested) else None
