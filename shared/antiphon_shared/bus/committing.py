"""The arguments of the commit script, from a handler's outcome."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import cast

from antiphon_shared.bus.handling import (
    RECORDS,
    Append,
    Delivery,
    EndsWith,
    Link,
    Outcome,
    PutDocument,
    SetTimer,
)
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.replies import Replies
from antiphon_shared.bus.signing import Signer
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import Component, ComponentFailed, EventData, ResponseReady
from antiphon_shared.events.step_records import LeftOut, StepRecord, encode_record
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.errors import AntiphonError, ErrorInfo
from antiphon_shared.process.settings import BusSettings

STOPS_KEPT_MAX = 10_000
"""The number of stopped sessions that a partition remembers, the newest ones."""

_KEYS_CACHED_MAX = 1_024

Operation = tuple[str, str | None, Argument, Argument]
"""The name of an operation, its key, and two arguments: see commit.lua."""


class EventTooLarge(AntiphonError):
    """A handler's outcome contains an event that exceeds the bus's size limit."""

    code = "event_too_large"


def outcome_operations(
    outcome: Outcome,
    delivery: Delivery,
    component: Component,
    keys: Keys,
    settings: BusSettings,
    now: datetime,
) -> Iterator[Operation]:
    """Yield the operations of an outcome. Ids are derived from the delivery only, so that a repetition has the same.

    Args:
        outcome: what the handler returned.
        delivery: the delivery that it handled.
        component: the component that handled it, the source of the events.
        now: the time of the events.

    Raises:
        EventTooLarge: an event exceeds `settings.max_event_bytes`.
    """
    session_id = delivery.event.subject
    partition = keys.partition(session_id)
    if outcome.events and not any(map(_is_guard, outcome.writes)):
        # Without a document version, only this set reveals that the same event has arrived in another entry.
        yield "once", keys.of_session(session_id, _HANDLED), delivery.event.id.bytes, ""
    for write in outcome.writes:
        yield _write_operation(write, keys.of_session(session_id, write.document))
    if outcome.record is not None and settings.recording:
        record = _record(outcome, outcome.record, component, settings, delivery.event.format)
        yield "append", keys.of_session(session_id, RECORDS), "any", record
    if outcome.extra_retention_s:
        yield "keep", None, milliseconds(outcome.extra_retention_s), ""
    yield from _message_operations(
        outcome, Replies(delivery.event, component, now), partition, keys, settings
    )
    if outcome.closes_session or outcome.takes_room is False:
        yield "close", None, "", ""
    elif outcome.takes_room:
        yield "reopen", None, "", ""
    if outcome.stops_work:
        yield "stop", keys.stopped(partition), STOPS_KEPT_MAX, ""


def _write_operation(write: PutDocument | Append | Link | EndsWith, key: str) -> Operation:
    match write:
        case PutDocument():
            return "put", key, "any" if write.version is None else write.version, write.content
        case Append():
            return "append", key, "any" if write.length is None else write.length, write.item
        case Link():
            return "link", key, b"" if write.after is None else write.after.bytes, write.item
        case EndsWith():
            return "ends", key, b"" if write.item is None else write.item.bytes, ""


def _message_operations(
    outcome: Outcome, replies: Replies, partition: int, keys: Keys, settings: BusSettings
) -> Iterator[Operation]:
    """Yield the events, timers and sends, numbered in this order: an event's id is derived from its number."""
    for n, data in enumerate(outcome.events):
        raw = _bounded(data, replies.encoded(n, data), settings)
        inbox = keys.inbox(partition, data.inbox) if data.inbox else None
        yield "event", inbox, data.type, raw
        if isinstance(data, ResponseReady):
            yield "answer", keys.responses(partition), settings.responses_length, raw
    for n, timer in enumerate(outcome.timers, start=len(outcome.events)):
        if isinstance(timer, SetTimer):
            raw = _bounded(timer.event, replies.encoded(n, timer.event), settings)
            message = timer_message(replies.parent.subject, timer.event, raw)
            yield "timer", None, timer.name, _when(timer.due) + message
        else:
            yield "cancel", None, timer.name, ""
    for n, send in enumerate(outcome.sends, start=len(outcome.events) + len(outcome.timers)):
        raw = _bounded(send.event, replies.sent(n, send), settings)
        yield "into", keys.sessions(partition), send.session_id, "open" if send.opens else "known"
        yield "send", keys.log(send.session_id), send.event.type, raw


def retry_operations(
    delivery: Delivery, raw: bytes, component: Component, delay: timedelta
) -> Iterator[Operation]:
    """Yield the timer that delivers the same message again later, byte for byte, with its attempt raised by one."""
    event = delivery.event
    message = timer_message(
        event.subject, event.data, raw, delivery.log_entry, delivery.attempt + 1, component
    )
    yield "timer", None, f"retry/{component}/{event.id}", _when(delay) + message


def dead_letter_operations(
    raw: bytes,
    letter: bytes,
    delivery: Delivery | None,
    error: ErrorInfo,
    *,
    component: Component,
    keys: Keys,
    partition: int,
    settings: BusSettings,
    now: datetime,
) -> Iterator[Operation]:
    """Yield the dead letter for a message, and an event for the coordinator, so that the session continues.

    Args:
        raw: the message's content, as it is stored with the letter.
        letter: the description of the message, as JSON.
        delivery: the message as a delivery; None if it is unreadable or may be forged, so that the coordinator gets
            no event.
        error: why the message became a dead letter.
        now: the time of the coordinator's event.
    """
    if delivery is not None and not isinstance(delivery.event.data, ComponentFailed):
        failed = ComponentFailed(component=component, failed_event=delivery.event.id, error=error)
        written = Replies(delivery.event, component, now).encoded(_FAILURE, failed)
        yield "unless", keys.of_session(delivery.event.subject, _HANDLED), delivery.event.id.bytes, ""
        yield "event", keys.inbox(partition, "coordinator"), failed.type, written
    yield "dead_letter", keys.dead(partition), settings.dead_length, letter + b"\n" + raw


def script_arguments(
    operations: Iterable[Operation],
    session_id: str | None,
    entry: str,
    component: Component,
    *,
    partition: int,
    keys: Keys,
    settings: BusSettings,
    signer: Signer | None = None,
) -> tuple[list[str], list[Argument]]:
    """Return KEYS and ARGV of commit.lua.

    Args:
        operations: the changes, from the functions above.
        session_id: the session of the operations; None if they concern no session.
        entry: the entry of the inbox that the commit acknowledges.
        signer: signs each event for its log and its inbox; None where messages are not signed.
    """
    if signer is not None and session_id is not None:
        operations = _signed(operations, signer, keys, session_id)
    inbox, *shared = _shared_keys(keys, partition, component)
    key_list = [inbox, inbox if session_id is None else keys.log(session_id), *shared]
    argument_list: list[Argument] = [
        component,
        entry,
        session_id or "-",
        settings.retention_ms,
        settings.feed_length,
    ]
    for name, key, first, second in operations:
        index = 0
        if key is not None:
            key_list.append(key)
            index = len(key_list)
        argument_list += (name, index, first, second)
    return key_list, argument_list


@lru_cache(_KEYS_CACHED_MAX)
def _shared_keys(keys: Keys, partition: int, component: Component) -> tuple[str, ...]:
    """Return the keys of every commit of a component in a partition: its inbox first."""
    return (
        keys.inbox(partition, component),
        keys.feed(partition),
        keys.timers(partition),
        keys.timer_messages(partition),
        keys.open_sessions(partition),
    )


def _signed(
    operations: Iterable[Operation], signer: Signer, keys: Keys, session_id: str
) -> Iterator[Operation]:
    """Yield the operations, each event with its two signatures: one for its log, one for its inbox."""
    log, partition = keys.log(session_id), keys.partition(session_id)
    coordinators = keys.inbox(partition, "coordinator")
    for name, key, first, second in operations:
        if name == "event":
            assert isinstance(second, bytes), "an event is bytes"
            yield "sign", None, signer.sign(log, second), signer.sign(key, second) if key else ""
        elif name == "send":
            assert isinstance(second, bytes), "an event is bytes"
            assert key is not None, "a sent event has a log"
            yield "sign", None, signer.sign(key, second), signer.sign(coordinators, second)
        elif name == "timer":
            assert isinstance(second, bytes), "a timer's message is bytes"
            header, _, raw = second.partition(b"\n")
            component = cast(Component, header.split()[1].decode())
            inbox_signature = signer.sign(keys.inbox(partition, component), raw)
            second = header + f" {signer.sign(log, raw)} {inbox_signature}\n".encode() + raw
        yield name, key, first, second


def _is_guard(write: PutDocument | Append | Link | EndsWith) -> bool:
    """Return whether a write conflicts if the same event has been handled before."""
    return write.version is not None if isinstance(write, PutDocument) else isinstance(write, Link)


def _record(
    outcome: Outcome, record: StepRecord, component: Component, settings: BusSettings, format: int
) -> bytes:
    outputs = len(outcome.events)
    raw = encode_record(record, outputs, format)
    if len(raw) <= settings.max_event_bytes:
        return raw
    return encode_record(LeftOut(of=record.of, component=component, bytes=len(raw)), outputs, format)


def _bounded(data: EventData, raw: bytes, settings: BusSettings) -> bytes:
    if len(raw) > settings.max_event_bytes:
        raise EventTooLarge(
            f"{data.type} has {len(raw)} bytes, more than the limit of {settings.max_event_bytes}.",
            hint="Return less data, or raise ANTIPHON_BUS_MAX_EVENT_BYTES.",
        )
    return raw


def _when(due: datetime | timedelta) -> bytes:
    if isinstance(due, timedelta):
        return b"+%d " % milliseconds(due.total_seconds())
    return b"=%d " % max(0, round(due.timestamp() * 1000))


def timer_message(
    session_id: str,
    data: EventData,
    raw: bytes,
    log_entry: str = "-",
    attempt: int = 0,
    to: Component | None = None,
) -> bytes:
    """Return the message that a timer delivers, in the form that due.lua reads."""
    inbox = to or data.inbox
    if inbox is None:
        raise TypeError(f"{data.type} goes to no inbox, so no timer can deliver it")
    return f"{inbox} {session_id} {data.type} {log_entry} {attempt}\n".encode() + raw


_HANDLED = "handled"
"""The set of handled events; only for outcomes without a document version."""
_FAILURE = 1_000_000
"""The number of the event that reports a failure; larger than the numbers of an outcome's events."""
