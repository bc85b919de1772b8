"""The writes of a session, as its reads need to know of them: what was cached before one must not answer after it.

Each run of a write is noted in the session before it begins and after it has ended, whatever worker runs it. While
one is under way, or its outcome is unknown, the session's reads leave the cache alone. After that they have a cache
of their own: it is named by the session and by how many of its writes have ended.
"""

from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.handling import SessionStore

_NOTES = "journal:writes"
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

    async def cache_name(self) -> str | None:
        """Return what the session's reads are cached under: empty for the cache that all share; None for none."""
        notes = await patiently("read the session's writes", lambda: self._session.settled(_NOTES))
        ended = sum(note.startswith(_ENDED) for note in notes)
        if ended * 2 != len(notes):
            return None
        return f"{self._session.session_id}#{ended}" if ended else ""

    async def _note(self, entry: str) -> None:
        await patiently("note a write", lambda: self._session.note(_NOTES, entry, b"1"))
