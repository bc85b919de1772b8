"""The content that Redis must hold of a session before it resumes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from antiphon_shared.bus.handling import BRIEFING, STATE, TO_SUMMARIZE
from antiphon_shared.bus.restoring import SessionSnapshot
from antiphon_shared.events import AnyEvent
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.lines import EventLine
from antiphon.replay.checks.briefings import Briefings
from coordinator.document import SESSION
from coordinator.session import Session


def snapshot(
    session: Session,
    log: Iterable[EventLine],
    deliveries: Sequence[EventLine],
    briefings: Briefings,
    catalogues: Mapping[str, Catalogue],
    timers: Sequence[tuple[str, datetime, AnyEvent]] = (),
) -> SessionSnapshot:
    """Return the session with its deliveries, as they are delivered now; `catalogues` are by content hash."""
    delivered = {line.event.id: line.event for line in deliveries}
    documents = {
        STATE: SESSION.write(session, session.format),
        BRIEFING: briefings.text.encode(),
        **({TO_SUMMARIZE: briefings.to_summarize.encode()} if briefings.to_summarize is not None else {}),
    }
    return SessionSnapshot(
        session_id=session.id,
        opened=session.opened,
        log=[(line.entry, delivered.get(line.event.id, line.event)) for line in log],
        documents=documents,
        memory=briefings.items,
        catalogues=catalogues,
        timers=timers,
        deliveries=[(line.entry, line.event) for line in deliveries],
    )
