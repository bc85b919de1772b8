"""Any event, made of what it says."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from antiphon_shared.events import AnyEvent, EventData
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.ids import new_id

START = datetime(2026, 11, 21, 12, tzinfo=UTC)


def an_event(
    data: EventData, session_id: str = "s1", *, answers: UUID | None = None, at_s: float = 1.0
) -> AnyEvent:
    """Return `data` in an envelope of its own, `at_s` seconds after START, as the answer to the event `answers`."""
    event_id = new_id()
    return ENVELOPES[type(data)](
        id=event_id,
        source="test",
        type=data.type,
        subject=session_id,
        time=START + timedelta(seconds=at_s),
        correlationid=event_id,
        causationid=answers,
        format=FORMAT,
        data=data,
    )
