"""Whether a submission has become a session yet, may still, or never will."""

from antiphon.errors import SubmissionRejected, UnknownSession
from antiphon.tail import age_of
from shared.bus.redis_bus import Bus

_PAGE = 200


class Arrival:
    """Watches for one session to be there.

    The queue is let in from its beginning: once what stood in it when we began to look is gone, a session
    that is not there will not come any more. `entry` is the submission's own place in the queue, if known.
    """

    def __init__(self, bus: Bus, session_id: str, entry: str | None) -> None:
        self._bus, self._session_id, self._own = bus, session_id, entry
        self._until = entry

    async def check(self) -> bool:
        """Whether the session is there. Raises SubmissionRejected, or UnknownSession, when it cannot come."""
        if self._until is None:
            newest = await self._bus.batcher.submit(
                "XREVRANGE", self._bus.keys.queries(), "+", "-", "COUNT", 1
            )
            self._until = newest[0][0].decode() if newest else "0-0"
        is_queued = await self._is_queued(self._until)
        if await self._bus.batcher.submit("EXISTS", self._bus.keys.log(self._session_id)):
            return True
        await self._raise_if_rejected()
        if not is_queued:
            raise UnknownSession(
                f"there is no session {self._session_id}.",
                hint="It was never submitted, was rejected, or is not kept any more: "
                "`antiphon sessions list` shows those that are.",
            )
        return False

    async def _is_queued(self, until: str) -> bool:
        start = until if self._own else "-"
        oldest = await self._bus.batcher.submit("XRANGE", self._bus.keys.queries(), start, until, "COUNT", 1)
        return bool(oldest)

    async def _raise_if_rejected(self) -> None:
        if self._own is None or not await self._bus.batcher.submit(
            "EXISTS", self._bus.keys.rejection(self._own)
        ):
            return
        reason = await self._reason(self._own)
        raise SubmissionRejected(f"the query was rejected: {reason}")

    async def _reason(self, own: str) -> str:
        """What the stream of rejections says of our entry; rejections are younger than what they reject."""
        start = own
        while page := await self._bus.batcher.submit(
            "XRANGE", self._bus.keys.rejected(), start, "+", "COUNT", _PAGE
        ):
            for place, fields in page:
                if fields.get(b"entry") == own.encode():
                    return str(fields.get(b"reason", b"").decode())
                start = "({}-{}".format(*age_of(place.decode()))
        return f"see `{self._bus.keys.rejected()}`, which no longer holds why."
