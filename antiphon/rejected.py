"""Rejected submissions, for an operator. `arrival.py` finds the rejection of a client's own query."""

from datetime import datetime

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.stream_ids import time_of
from antiphon_shared.values import Value

_NEWEST_MAX = 100


class Rejection(Value):
    """The rejection of one submission."""

    at: datetime | None
    entry: str
    """The id that the submission had in the queue."""
    code: str
    reason: str
    session_id: str = ""
    """The session id that the submission asked for, if any."""


async def newest_rejection(bus: Bus) -> Rejection | None:
    """Return the newest rejection that is still stored."""
    return next(iter(await _newest(bus, 1)), None)


async def rejection_of(bus: Bus, session_id: str) -> Rejection | None:
    """Return the newest rejection of a submission with this session id, among the newest 100."""
    return next((one for one in await _newest(bus, _NEWEST_MAX) if one.session_id == session_id), None)


async def _newest(bus: Bus, count: int) -> list[Rejection]:
    entries = await bus.batcher.submit("XREVRANGE", bus.keys.rejected(), "+", "-", "COUNT", count)
    return [_rejection(entry.decode(), fields) for entry, fields in entries]


def _rejection(entry: str, fields: dict[bytes, bytes]) -> Rejection:
    def text(name: bytes) -> str:
        return fields.get(name, b"").decode(errors="replace")

    return Rejection(
        at=time_of(entry),
        entry=text(b"entry"),
        code=text(b"code"),
        reason=text(b"reason"),
        session_id=text(b"original.session_id"),
    )
