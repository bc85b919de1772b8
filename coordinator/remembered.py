"""A cache of sessions after their last decision, so that the decision on the next reply needs no round trip.

A cached session awaits one request, whose id derives from the step that made it. So an event that answers the
request proves that the step was committed. If another worker committed the step, it wrote the same state,
because a cached state depends on document and event alone. Any other change since then raises the document's
version, which the commit checks. A decision on which model to ask also depends on the outages that its worker
saw, so it is not cached.
"""

from collections import OrderedDict
from uuid import UUID

from antiphon_shared.values import SessionId

from coordinator.session import Session

SESSIONS_MAX = 4_096


class Remembered:
    """The most recently decided sessions, each with its document's version after the commit."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions: OrderedDict[SessionId, tuple[int, Session]] = OrderedDict()
        self._sessions_max = sessions_max

    def keep(self, version: int, session: Session) -> None:
        """Remember a session, unless it is over; evict the oldest one when there are too many."""
        self._sessions.pop(session.id, None)
        if session.awaited is not None:
            self._sessions[session.id] = version, session
        if len(self._sessions) > self._sessions_max:
            self._sessions.popitem(last=False)

    def forget(self, session_id: SessionId) -> None:
        """Forget a session whose remembered state is outdated, though it awaits the same request."""
        self._sessions.pop(session_id, None)

    def awaiting(self, session_id: SessionId, request: UUID | None) -> tuple[int, Session] | None:
        """Remove and return the session with its version, if it awaits the reply to `request`."""
        kept = self._sessions.get(session_id)
        if kept is None or request is None or kept[1].awaited != request:
            return None
        return self._sessions.pop(session_id)
