"""Rejected submissions, for an operator. `arrival.py` finds the rejection of a client's own query."""

from datetime import datetime

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.stream_ids import time_of
from antiphon_shared.values import Value

_PAGE, _PAGES_MAX = 10, 100
"""Bounds on a search, in entries and in reads: an entry may be as large as a query."""


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
    return next((rejection for _, rejection in await _newest(bus, 1)), None)


async def rejection_of(bus: Bus, session_id: str) -> Rejection | None:
    """Return the newest rejection of a submission with this session id, if it was rejected in the last day."""
    if not await bus.batcher.submit("EXISTS", bus.keys.rejection_of_session(session_id)):
        return None
    end = "+"
    for _ in range(_PAGES_MAX):
        page = await _newest(bus, _PAGE, end)
        for entry, rejection in page:
            if rejection.session_id == session_id:
                return rejection
            end = f"({entry}"
        if not page:
            break
    return None


async def _newest(bus: Bus, count: int, end: str = "+") -> list[tuple[str, Rejection]]:
    """Return up to `count` rejections with their entries, the newest first, from `end` back."""
    entries = await bus.batcher.submit("XREVRANGE", bus.keys.rejected(), end, "-", "COUNT", count)
    return [(entry.decode(), _rejection(entry.decode(), fields)) for entry, fields in entries]


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
