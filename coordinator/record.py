"""The record of a decision for a replay: changes, timers, and events of other sessions. Pure."""

from collections.abc import Iterable
from datetime import timedelta

from antiphon_shared.bus.handling import CancelTimer, Send, SetTimer
from antiphon_shared.events import AnyEvent
from antiphon_shared.events.step_records import DecisionRecord, SendRecord, TimerRecord
from antiphon_shared.formats import newer_fields

from coordinator.decision import Decision
from coordinator.document import changes, document_version
from coordinator.session import Session


def record_of(event: AnyEvent, before: Session | None, decision: Decision) -> DecisionRecord:
    """Return the record of the decision on `event`; `before` is None if it opened the session."""
    format = decision.session.format
    return DecisionRecord.trusted(
        of=event.id,
        outputs=0,
        kind="decision",
        changed=changes(before, decision.session),
        document_version=document_version(format),
        timers=tuple([timer_record(timer, format) for timer in decision.timers]),
        sends=send_records(decision.sends, format) if decision.sends else (),
        closes=decision.closes,
        stops_work=decision.stops_work,
        read=None,
    )


def timer_record(timer: SetTimer | CancelTimer, format: int) -> TimerRecord:
    """Return the record of a timer that is set or cancelled."""
    if isinstance(timer, CancelTimer):
        return TimerRecord(name=timer.name)
    due, after_s = (
        (None, timer.due.total_seconds()) if isinstance(timer.due, timedelta) else (timer.due, None)
    )
    return TimerRecord(
        name=timer.name,
        due=due,
        after_s=after_s,
        type=timer.event.type,
        data=timer.event.model_dump(mode="json", exclude=newer_fields(timer.event, format)),
    )


def send_records(sends: Iterable[Send], format: int) -> tuple[SendRecord, ...]:
    """Return the records of events of other sessions, without responses, which the step's own event holds."""
    return tuple(
        SendRecord(
            session=send.session_id,
            type=send.event.type,
            opens=send.opens,
            data=send.event.model_dump(
                mode="json",
                exclude={**newer_fields(send.event, format), "response": True},
                exclude_defaults=True,
            ),
        )
        for send in sends
    )
