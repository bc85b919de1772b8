"""The lack of a tool dispatcher at a session's deadline, and the uncertainty about it. Pure.

Whether a dispatcher is running is an input of the decision. A replay reads it from the recorded answer's request.
"""

from collections.abc import Iterable

from antiphon_shared.events import AssemblyRequested, DeadlineReached, EventData

from coordinator.session import Session, new_uncertainty

_KIND = "tools_unavailable"
_ABOUT = "tool_dispatcher"


def needs_dispatcher(session: Session, data: EventData) -> bool:
    """Return whether a decision on `data` depends on whether a dispatcher is running."""
    return isinstance(data, DeadlineReached) and _waits_for_dispatcher(session)


def with_lack(session: Session, is_served: bool) -> Session:
    """Return the session with the uncertainty about a missing dispatcher, if it needs one at present."""
    return session if is_served else _without_dispatcher(session)


def lacked_dispatcher(outputs: Iterable[EventData]) -> bool:
    """Return whether a recorded decision, with these outputs, was made without a running dispatcher."""
    ended = [one for one in outputs if isinstance(one, AssemblyRequested)]
    return any((one.kind, one.about) == (_KIND, _ABOUT) for ending in ended for one in ending.uncertainty)


def _without_dispatcher(session: Session) -> Session:
    if not _waits_for_dispatcher(session):
        return session
    so = f"so calls of round {session.round} were not finished."
    message = f"No tool dispatcher was running when the time ran out, {so}"
    return session.with_uncertainties(new_uncertainty(_KIND, message, _ABOUT))


def _waits_for_dispatcher(session: Session) -> bool:
    """Return whether calls were handed to a dispatcher, and their results have not arrived."""
    children = session.children
    return session.phase == "tools" and (children.has_batch or not children.runs) and children.batch is None
