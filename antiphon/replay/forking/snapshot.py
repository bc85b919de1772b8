"""The data of a session that must be in Redis before the session resumes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from antiphon_shared.bus.handling import BRIEFING, STATE, TO_SUMMARIZE
from antiphon_shared.bus.restoring import SessionSnapshot, timer_event
from antiphon_shared.events import AnyEvent
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.lines import EventLine, Line
from antiphon.replay.checks.briefings import Briefings
from antiphon.replay.forking.point import Timer
from coordinator.document import SESSION
from coordinator.session import Session


def snapshot(
    lines: Iterable[Line],
    deliveries: Sequence[EventLine],
    catalogues: Mapping[str, Catalogue],
    timers: Iterable[tuple[str, datetime, AnyEvent]] = (),
    opened: datetime | None = None,
    **content: Any,
) -> SessionSnapshot:
    """Return a session with the events in `lines`, and with its deliveries in flight.

    `catalogues` are by content hash, and `content` is the rest of a SessionSnapshot.
    """
    delivered = {line.event.id: line.event for line in deliveries}
    log = [line for line in lines if isinstance(line, EventLine)]
    return SessionSnapshot(
        session_id=log[0].event.subject,
        opened=opened or log[0].event.time,
        log=[(line.entry, delivered.get(line.event.id, line.event)) for line in log],
        catalogues=catalogues,
        timers=list(timers),
        deliveries=[(line.entry, line.event) for line in deliveries],
        **content,
    )


def content_of(session: Session, briefings: Briefings) -> dict[str, Any]:
    """Return the opening time, the documents and the memory of a session."""
    documents = {STATE: SESSION.write(session, session.format), BRIEFING: briefings.text.encode()}
    if briefings.to_summarize is not None:
        documents[TO_SUMMARIZE] = briefings.to_summarize.encode()
    return {"opened": session.opened, "documents": documents, "memory": briefings.items}


def moved_timers(
    timers: Mapping[str, Timer], by: timedelta, moments: Mapping[datetime, datetime] = {}
) -> Iterator[tuple[str, datetime, AnyEvent]]:
    """Yield the timers with shifted due times; `moments` maps due times that change otherwise to their new values."""
    for timer in timers.values():
        due = moments.get(timer.due, timer.due + by)
        yield timer.name, due, timer_event(timer.parent.event, timer.number, timer.data, due)
