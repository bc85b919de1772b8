"""From an outcome to the arguments of the commit script: pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from shared.bus.handling import Append, Delivery, Outcome, SetTimer
from shared.bus.keys import Keys
from shared.bus.wire import Argument
from shared.clock import milliseconds
from shared.errors import ErrorInfo
from shared.events import AnyEvent, Component, ComponentFailed, EventData, ResponseReady, encode
from shared.events.codec import ENVELOPES
from shared.ids import child_id
from shared.settings import BusSettings

Operation = tuple[str, str | None, Argument, Argument]
"""Name, the key it works on, and two arguments: see commit.lua."""


def of_outcome(
    outcome: Outcome,
    delivery: Delivery,
    component: Component,
    keys: Keys,
    settings: BusSettings,
    now: datetime,
) -> Iterator[Operation]:
    """What `outcome` changes. Ids come from the delivery alone, so a run of the handler again gives the same."""
    session_id = delivery.event.subject
    partition = keys.partition(session_id)
    for write in outcome.writes:
        key = keys.of_session(session_id, write.document)
        if isinstance(write, Append):
            yield "append", key, write.length, write.item
        else:
            yield "put", key, write.version, write.content
    for n, data in enumerate(outcome.events):
        event = reply(delivery.event, n, data, component, now)
        raw = encode(event)
        inbox = keys.inbox(partition, data.inbox) if data.inbox else None
        yield "event", inbox, data.type, raw
        if isinstance(data, ResponseReady):
            yield "answer", keys.responses(partition), settings.responses_length, raw
    for n, timer in enumerate(outcome.timers, start=len(outcome.events)):
        if isinstance(timer, SetTimer):
            event = reply(delivery.event, n, timer.event, component, now)
            yield "timer", None, timer.name, _timed(timer.due, event, "-", 0)
        else:
            yield "cancel", None, timer.name, ""
    if outcome.closes_session:
        yield "close", None, "", ""


def of_retry(delivery: Delivery, component: Component, delay: timedelta) -> Iterator[Operation]:
    """Deliver the same message again later, one attempt older."""
    timed = _timed(delay, delivery.event, delivery.log_entry, delivery.attempt + 1, component)
    yield "timer", None, f"retry/{component}/{delivery.event.id}", timed


def of_burial(
    raw: bytes,
    letter: bytes,
    delivery: Delivery | None,
    error: ErrorInfo,
    component: Component,
    keys: Keys,
    partition: int,
    settings: BusSettings,
    now: datetime,
) -> Iterator[Operation]:
    """Set a message aside as a dead letter, and tell the coordinator, so that its session goes on."""
    if delivery is not None and not isinstance(delivery.event.data, ComponentFailed):
        failed = ComponentFailed(component=component, failed_event=delivery.event.id, error=error)
        event = reply(delivery.event, _FAILURE, failed, component, now)
        yield "event", keys.inbox(partition, "coordinator"), failed.type, encode(event)
    yield "bury", keys.dead(partition), settings.dead_length, letter + b"\n" + raw


def arguments(
    operations: Iterable[Operation],
    session_id: str,
    entry: str,
    component: Component,
    partition: int,
    keys: Keys,
    settings: BusSettings,
) -> tuple[list[str], list[Argument]]:
    """KEYS and ARGV of commit.lua."""
    key_list = [
        keys.inbox(partition, component),
        keys.log(session_id),
        keys.feed(partition),
        keys.timers(partition),
        keys.timer_messages(partition),
        keys.open_sessions(partition),
    ]
    argument_list: list[Argument] = [
        component,
        entry,
        session_id,
        milliseconds(settings.retention_s),
        settings.feed_length,
    ]
    for name, key, first, second in operations:
        index = 0
        if key is not None:
            key_list.append(key)
            index = len(key_list)
        argument_list += (name, index, first, second)
    return key_list, argument_list


def reply(parent: AnyEvent, n: int, data: EventData, source: str, now: datetime) -> AnyEvent:
    """The n-th event that came of `parent`."""
    return ENVELOPES[type(data)](
        id=child_id(parent.id, n),
        source=source,
        type=data.type,
        subject=parent.subject,
        time=now,
        correlationid=parent.correlationid,
        causationid=parent.id,
        traceparent=parent.traceparent,
        data=data,
    )


def _timed(
    due: datetime | timedelta, event: AnyEvent, log_entry: str, attempt: int, to: Component | None = None
) -> bytes:
    if isinstance(due, timedelta):
        when = f"+{milliseconds(due.total_seconds())}"
    else:
        when = f"={round(due.timestamp() * 1000)}"
    header = f"{when} {to or event.data.inbox} {event.subject} {event.type} {log_entry} {attempt}\n"
    return header.encode() + encode(event)


_FAILURE = 1_000_000
"""The number of the event that reports a failure: apart from those of any outcome."""
