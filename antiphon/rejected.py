"""The newest rejected submission, for an operator. `arrival.py` finds the rejection of a client's own query."""

from datetime import UTC, datetime

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.values import Value

from antiphon.tail import age_of


class Rejection(Value):
    """The rejection of one submission."""

    at: datetime
    entry: str
    """The id that the submission had in the queue."""
    code: str
    reason: str


async def newest_rejection(bus: Bus) -> Rejection | None:
    """Return the newest rejection that is still stored."""
    entries = await bus.batcher.submit("XREVRANGE", bus.keys.rejected(), "+", "-", "COUNT", 1)
    if not entries:
        return None
    ((rejected, fields),) = entries
    milliseconds, _ = age_of(rejected.decode())

    def text(name: bytes) -> str:
        value: bytes = fields.get(name, b"")
        return value.decode(errors="replace")

    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return Rejection(at=at, entry=text(b"entry"), code=text(b"code"), reason=text(b"reason"))
