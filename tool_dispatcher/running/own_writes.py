"""The writes of a session, for its reads: a result cached before a write must not answer a read after it.

Each run of a write is noted in the session before it begins and after it has ended, by whichever worker runs
it. The ends are noted in a second journal as well, so that a check costs two counts however many writes there
have been. While a write is in flight, or its outcome is unknown, the session's reads bypass the cache. After
that they have a cache of their own, named by the session and by how many of its writes have ended.
"""

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.handling import SessionStore

_NOTES, _ENDS = "journal:writes", "journal:writes:ended"
_BEGUN, _ENDED = "begun:", "ended:"


class OwnWrites:
    """The writes of one session."""

    def __init__(self, session: SessionStore) -> None:
        self._session = session

    async def begin(self, key: str, fence: int) -> None:
        """Note that a write is about to run."""
        await self._note(f"{_BEGUN}{key}#{fence}")

    async def end(self, key: str, fence: int) -> None:
        """Note that a write has ended and can have no further effect."""
        await self._note(f"{_ENDED}{key}#{fence}")
        await self._note(f"{key}#{fence}", _ENDS)

    async def cache_name(self) -> str | None:
        """Return the name of the session's cache: empty for the shared cache, None for no cache."""
        # The ends are counted first: a write that begins or ends between the two counts makes the second one
        # too large.
        ended = await self._count(_ENDS)
        if await self._count(_NOTES) != ended * 2:
            return None
        return f"{self._session.session_id}#{ended}" if ended else ""

    async def _count(self, journal: str) -> int:
        return await retry_while_unavailable("count a session's writes", lambda: self._session.count(journal))

    async def _note(self, entry: str, journal: str = _NOTES) -> None:
        await retry_while_unavailable("note a write", lambda: self._session.note(journal, entry, b"1"))
