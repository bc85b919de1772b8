"""Sessions a coordinator has just decided about, so that the next reply needs no round trip to be decided.

A remembered session awaits one request, and is the newest exactly if that is what the event answers: that request's
id came from this very step. Should another worker have committed the step instead, it wrote the same, as what is
remembered depends on document and event alone; and whatever else has happened since changes the document's version,
which the commit checks. A decision on which model to ask also depends on what its worker saw out of order, so it is
not remembered.
"""

from collections import OrderedDict
from uuid import UUID

from antiphon_shared.values import SessionId

from coordinator.session import Session

SESSIONS_MAX = 4_096


class Remembered:
    """The sessions last decided about, with the version their document has once the step is committed."""

    def __init__(self, sessions_max: int = SESSIONS_MAX) -> None:
        self._sessions: OrderedDict[SessionId, tuple[int, Session]] = OrderedDict()
        self._sessions_max = sessions_max

    def keep(self, version: int, session: Session) -> None:
        """Remember a session, unless it is over; the one longest untouched gives way."""
        self._sessions.pop(session.id, None)
        if session.awaited is not None:
            self._sessions[session.id] = version, session
        if len(self._sessions) > self._sessions_max:
            self._sessions.popitem(last=False)

    def forget(self, session_id: SessionId) -> None:
        """What was known of the session is not the newest any more, though it awaits the same request."""
        self._sessions.pop(session_id, None)

    def awaiting(self, session_id: SessionId, request: UUID | None) -> tuple[int, Session] | None:
        """The session and its version, if it is known to await the reply to `request`; it is forgotten then."""
        kept = self._sessions.get(session_id)
        if kept is None or request is None or kept[1].awaited != request:
            return None
        return self._sessions.pop(session_id)
