"""The writes of a session, as its reads need to know of them: what was cached before one must not answer after it.

Each run of a write is noted in the session before it begins and after it has ended, whatever worker runs it. The ends
are noted apart as well, so that looking costs the same however many writes there have been: two counts tell. While
one is under way, or its outcome is unknown, the session's reads leave the cache alone. After that they have a cache
of their own: it is named by the session and by how many of its writes have ended.
"""

from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.handling import SessionStore

_NOTES, _ENDS = "journal:writes", "journal:writes:ended"
_BEGUN, _ENDED = "begun:", "ended:"


class OwnWrites:
    """Those of one session."""

    def __init__(self, session: SessionStore) -> None:
        self._session = session

    async def begin(self, key: str, fence: int) -> None:
        """Note that a write is about to run."""
        await self._note(f"{_BEGUN}{key}#{fence}")

    async def end(self, key: str, fence: int) -> None:
        """Note that it has ended, and that nothing of it can follow."""
        await self._note(f"{_ENDED}{key}#{fence}")
        await self._note(f"{key}#{fence}", _ENDS)

    async def cache_name(self) -> str | None:
        """Return what the session's reads are cached under: empty for the cache that all share; None for none."""
        # The ends first: what ends or begins between the two looks makes the second count too large to fit.
        ended = await self._count(_ENDS)
        if await self._count(_NOTES) != ended * 2:
            return None
        return f"{self._session.session_id}#{ended}" if ended else ""

    async def _count(self, journal: str) -> int:
        return await patiently("count a session's writes", lambda: self._session.count(journal))

    async def _note(self, entry: str, journal: str = _NOTES) -> None:
        await patiently("note a write", lambda: self._session.note(journal, entry, b"1"))
