"""A cache of sessions after their last decision, so that the decision on the next event needs no round trip.

A session is cached only after this worker has committed it, so the cached session equals the stored one. A cached
session awaits one request, whose id derives from the step that made it: an event that answers another one is decided
on the stored session. Any other change since then raises the document's version, which the commit checks.
"""

from collections import OrderedDict
from uuid import UUID

from antiphon_shared.values import SessionId

from coordinator.session import Session

SESSIONS_MAX = 4_096


class SessionCache:
    """The most recently decided sessions, each with its document's version after the commit."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions: OrderedDict[SessionId, tuple[int, Session]] = OrderedDict()
        self._sessions_max = sessions_max

    def store(self, version: int, session: Session) -> None:
        """Remember a session, unless it is over; evict the oldest one when there are too many."""
        self._sessions.pop(session.id, None)
        if session.pending_request is not None:
            self._sessions[session.id] = version, session
        if len(self._sessions) > self._sessions_max:
            self._sessions.popitem(last=False)

    def awaiting(self, session_id: SessionId, request: UUID | None) -> tuple[int, Session] | None:
        """Remove and return the session with its version, if it awaits the reply to `request`."""
        kept = self._sessions.get(session_id)
        if kept is None or request is None or kept[1].pending_request != request:
            return None
        return self._sessions.pop(session_id)
