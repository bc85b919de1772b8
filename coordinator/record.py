"""What a decision leaves for a replay, beside the events it sent: how the document changed, and the timers. Pure."""

from datetime import timedelta
from typing import Any

from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import AnyEvent
from antiphon_shared.events.step_records import DecisionRecord, TimerRecord
from antiphon_shared.formats import newer_fields
from pydantic_core import to_jsonable_python

from coordinator.session import SESSION, Decision, Session


def record_of(event: AnyEvent, before: Session | None, decision: Decision) -> DecisionRecord:
    """The record of what was decided on `event`; `before` is None when it opened the session."""
    return DecisionRecord(
        of=event.id,
        changed=changes(before, decision.session),
        document_version=SESSION.version,
        timers=tuple(_timer(timer, decision.session.format) for timer in decision.timers),
        closes=decision.closes,
        stops_work=decision.stops_work,
    )


def changes(before: Session | None, after: Session) -> dict[str, Any]:
    """The fields that differ, as they are in `after`, in JSON; of a session that is opened, all that say something."""
    newer = newer_fields(after, after.format)
    if before is None:
        return after.model_dump(mode="json", exclude_defaults=True, exclude=newer)
    then, now = before.__dict__, after.__dict__
    # A decision copies what it does not change: most fields are the same objects.
    return {
        name: to_jsonable_python(value, exclude_none=False, exclude=newer.get(name))
        for name, value in now.items()
        if value is not then[name] and value != then[name] and newer.get(name) is not True
    }


def _timer(timer: SetTimer | CancelTimer, format: int) -> TimerRecord:
    if isinstance(timer, CancelTimer):
        return TimerRecord(name=timer.name)
    is_moment = not isinstance(timer.due, timedelta)
    return TimerRecord(
        name=timer.name,
        due=timer.due if is_moment else None,
        after_s=timer.due.total_seconds() if isinstance(timer.due, timedelta) else None,
        type=timer.event.type,
        data=timer.event.model_dump(mode="json", exclude=newer_fields(timer.event, format)),
    )
