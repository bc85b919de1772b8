"""The restoration of a session into a private Redis, where the components continue it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from antiphon_shared.bus.committing import timer_message
from antiphon_shared.bus.handling import MEMORY
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.replies import reply
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import AnyEvent, EventData, encode
from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import CATALOGUE, Catalogue
from antiphon_shared.values import LogEntry, SessionId

_FIRST = 1
"""The version of a newly written document."""


@dataclass(frozen=True)
class SessionSnapshot:
    """All data that the bus stores of an open session."""

    session_id: SessionId
    opened: datetime
    log: Sequence[tuple[LogEntry, AnyEvent]]
    documents: Mapping[str, bytes]
    memory: Sequence[bytes] = ()
    lists: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    """Items of other lists of the session, by their names."""
    catalogues: Mapping[str, Catalogue] = field(default_factory=dict)
    timers: Sequence[tuple[str, datetime, AnyEvent]] = ()
    """Name, due time, and the event that it delivers."""
    deliveries: Sequence[tuple[LogEntry, AnyEvent]] = ()
    """The events in an inbox."""


async def restore(bus: Bus, snapshot: SessionSnapshot) -> None:
    """Write a session into a Redis that does not hold it; its components continue it at once.

    The write is not atomic, and events are not signed, so it is only for a private Redis.
    """
    keys, session_id = bus.keys, snapshot.session_id
    partition, life_ms = keys.partition(session_id), bus.settings.retention_ms
    log, memory = keys.log(session_id), keys.of_session(session_id, MEMORY)
    opened_ms = round(snapshot.opened.timestamp() * 1000)
    commands: list[tuple[Argument, ...]] = [
        ("SET", keys.catalogue_content(name), CATALOGUE.write(catalogue, FORMAT))
        for name, catalogue in snapshot.catalogues.items()
    ]
    commands += [("XADD", log, entry, "event", encode(event)) for entry, event in snapshot.log]
    commands += [("RPUSH", memory, item) for item in snapshot.memory]
    written = [log, *([memory] if snapshot.memory else [])]
    for name, items in snapshot.lists.items():
        key = keys.of_session(session_id, name)
        commands += [("RPUSH", key, item) for item in items]
        written += [key] if items else []
    for name, content in snapshot.documents.items():
        key = keys.of_session(session_id, name)
        commands.append(("HSET", key, "version", _FIRST, "content", content))
        written.append(key)
    commands += [("PEXPIRE", key, life_ms) for key in written]
    commands += [
        ("ZADD", key(partition), opened_ms, session_id) for key in (keys.open_sessions, keys.sessions)
    ]
    for name, due, event in snapshot.timers:
        timer = f"{session_id}/{name}"
        message = timer_message(session_id, event.data, encode(event))
        commands.append(("HSET", keys.timer_messages(partition), timer, message))
        commands.append(("ZADD", keys.timers(partition), round(due.timestamp() * 1000), timer))
    for entry, event in snapshot.deliveries:
        inbox = event.data.inbox
        assert inbox is not None, "a delivered event has an inbox"
        commands.append(("XADD", keys.inbox(partition, inbox), "*", "event", encode(event), "log", entry))
    for command in commands:
        await bus.batcher.submit(*command)


def timer_event(parent: AnyEvent, number: int, data: EventData, now: datetime) -> AnyEvent:
    """Return the event of a timer that the coordinator has set as the n-th consequence of `parent`."""
    return reply(parent, number, data, "coordinator", now)
