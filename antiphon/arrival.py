"""The arrival of a submission: whether it has become a session, may still become one, or never will."""

import asyncio

from antiphon_shared.bus.redis_bus import Bus

from antiphon.errors import Overloaded, SessionConflict, SubmissionRejected, UnknownSession

_PAGE = 200
_KINDS = {kind.code: kind for kind in (Overloaded, SessionConflict)}


class Arrival:
    """The arrival of one session.

    The queue is consumed from its beginning. Once the entries of the first check are gone, a session that neither
    exists nor waits will never exist. `entry` is the submission's own entry in the queue, if known.
    """

    def __init__(self, bus: Bus, session_id: str, entry: str | None) -> None:
        self._bus, self._session_id, self._entry = bus, session_id, entry
        self._until = entry
        self.was_stored = False
        """Whether the session, or its waiting query, was found in Redis."""

    async def check(self) -> bool:
        """Return whether the session exists. Raises SubmissionRejected or UnknownSession if it will never exist."""
        keys, session_id = self._bus.keys, self._session_id
        if self._until is None:
            newest = await self._bus.batcher.submit("XREVRANGE", keys.queries(), "+", "-", "COUNT", 1)
            self._until = newest[0][0].decode() if newest else "0-0"
        start = self._until if self._entry else "-"
        oldest = await self._bus.batcher.submit("XRANGE", keys.queries(), start, self._until, "COUNT", 1)
        # In the order in which a query moves, so that the second check finds a query that moves in between.
        is_waiting, is_there = await asyncio.gather(
            self._bus.batcher.submit("HEXISTS", keys.queries_waiting(keys.partition(session_id)), session_id),
            self._bus.batcher.submit("EXISTS", keys.log(session_id)),
        )
        await self.raise_if_rejected()  # first, as an existing session may belong to another query
        if is_there or is_waiting:
            self.was_stored = True
            return bool(is_there)
        if not oldest and (self.was_stored or self._entry is not None):
            raise UnknownSession.lost(session_id)
        if not oldest:
            raise UnknownSession(
                f"session {session_id} does not exist.",
                hint="It was never submitted, was rejected, or is no longer stored. `antiphon "
                "sessions list` shows the stored sessions.",
            )
        return False

    async def open_first(self) -> None:
        """Let a coordinator open a waiting session out of turn, so that it can be cancelled."""
        deadlines = self._bus.keys.waiting_deadlines(self._bus.keys.partition(self._session_id))
        await self._bus.batcher.submit("ZADD", deadlines, "XX", 0, self._session_id)

    async def raise_if_rejected(self) -> None:
        """Raise SubmissionRejected if this submission was rejected; the session of its id then has another query."""
        if self._entry is None or not await self._bus.batcher.submit(
            "EXISTS", self._bus.keys.rejection(self._entry)
        ):
            return
        code, reason = await self._rejection_reason(self._entry)
        kind = _KINDS.get(code, SubmissionRejected)
        raise kind(f"the query was rejected: {reason}")

    async def _rejection_reason(self, submission_entry: str) -> tuple[str, str]:
        """Return the code and the reason of the rejection, which is younger than the entry."""
        start = submission_entry
        while page := await self._bus.batcher.submit(
            "XRANGE", self._bus.keys.rejected(), start, "+", "COUNT", _PAGE
        ):
            for entry, fields in page:
                if fields.get(b"entry") == submission_entry.encode():
                    code, reason = fields.get(b"code", b""), fields.get(b"reason", b"")
                    return code.decode(errors="replace"), reason.decode(errors="replace")
                start = f"({entry.decode()}"
        return "", f"the reason is no longer stored in `{self._bus.keys.rejected()}`."
