"""A cache of sessions after their last decision, so that the decision on the next event needs no round trip.

A session is cached only after this worker has committed it, so it equals the stored one. It is used only for the
reply to the request that it awaits; for any other event, the stored session is read. A change by another worker
raises the document's version, which the commit checks.
"""

from collections import OrderedDict
from uuid import UUID

from antiphon_shared.values import SessionId

from coordinator.session import Session

SESSIONS_MAX = 4_096


class SessionCache:
    """The most recently decided sessions, each with the version of its document."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions: OrderedDict[SessionId, tuple[int, Session]] = OrderedDict()
        self._sessions_max = sessions_max

    def store(self, version: int, session: Session) -> None:
        """Cache a session that awaits one request; evict the oldest one when there are too many."""
        self._sessions.pop(session.id, None)
        if session.pending_request is not None:
            self._sessions[session.id] = version, session
        if len(self._sessions) > self._sessions_max:
            self._sessions.popitem(last=False)

    def awaiting(self, session_id: SessionId, request: UUID | None) -> tuple[int, Session] | None:
        """Remove and return the session with its version, if it awaits the reply to `request`."""
        cached = self._sessions.get(session_id)
        if cached is None or request is None or cached[1].pending_request != request:
            return None
        return self._sessions.pop(session_id)
