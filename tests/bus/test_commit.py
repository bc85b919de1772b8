"""The commit script by itself: the acknowledgement is the fence, without any other check."""

import asyncio
from collections.abc import Iterator
from uuid import UUID

from antiphon_shared.bus import committing, scripts
from antiphon_shared.bus.handling import RUN
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested, Component

from tests.bus.builders import a_query
from tests.envelopes import an_event

GROUP: Component = "coordinator"


async def a_pending_entry(bus: Bus) -> str:
    """Deliver one query to a worker, unacknowledged; return its entry."""
    await bus.publish(a_query(), "open")
    inbox = bus.keys.inbox(bus.keys.partition("s1"), GROUP)
    await bus.ensure_groups([(inbox, GROUP)])
    await bus.client.execute_command("XREADGROUP", "GROUP", GROUP, "w1", "STREAMS", inbox, ">")
    ((entry, _),) = await bus.batcher.submit("XRANGE", inbox, "-", "+")
    return str(entry.decode())


def an_unguarded_outcome(bus: Bus) -> Iterator[committing.Operation]:
    """Yield an event and a dead letter, with no version and no list of handled events to notice a repetition."""
    partition = bus.keys.partition("s1")
    yield "event", bus.keys.inbox(partition, GROUP), CancellationRequested.type, b"{}"
    yield "dead_letter", bus.keys.dead(partition), 100, b"letter\nevent"


async def commit(bus: Bus, entry: str, operations: Iterator[committing.Operation] | None = None) -> bytes:
    partition = bus.keys.partition("s1")
    keys, arguments = committing.script_arguments(
        operations or an_unguarded_outcome(bus),
        "s1",
        entry,
        GROUP,
        partition=partition,
        keys=bus.keys,
        settings=bus.settings,
    )
    result: bytes = await bus.batcher.run(scripts.COMMIT, keys, arguments)
    return result


async def written(bus: Bus) -> tuple[int, int, int]:
    """Return the lengths of the session's log, of the inbox, and of the dead letters."""
    partition = bus.keys.partition("s1")
    streams = (bus.keys.log("s1"), bus.keys.inbox(partition, GROUP), bus.keys.dead(partition))
    log, inbox, dead = [await bus.batcher.submit("XLEN", stream) for stream in streams]
    return log, inbox, dead


async def test_one_of_many_commits_of_an_entry_is_written_and_the_others_are_duplicates(bus: Bus) -> None:
    entry = await a_pending_entry(bus)
    results = await asyncio.gather(*(commit(bus, entry) for _ in range(10)))
    assert sorted(results) == [b"committed", *[b"duplicate"] * 9]
    assert await written(bus) == (2, 1, 1)


async def test_an_entry_that_was_never_handed_out_cannot_be_committed(bus: Bus) -> None:
    await a_pending_entry(bus)
    before = await written(bus)
    assert await commit(bus, "1-1") == b"duplicate"
    assert await written(bus) == before


async def test_a_commit_conflicts_when_its_list_ends_with_another_entry_than_expected(bus: Bus) -> None:
    entry, key = await a_pending_entry(bus), bus.keys.of_session("s1", RUN)
    of = [UUID(int=n) for n in range(2)]
    for one in of:
        await bus.batcher.submit("RPUSH", key, one.bytes + b"{}")
    assert await commit(bus, entry, iter([("ends", key, of[0].bytes, "")])) == b"conflict"
    assert await commit(bus, entry, iter([("ends", key, of[1].bytes, "")])) == b"committed"
    assert await bus.batcher.submit("LLEN", key) == len(of)


async def test_a_session_is_kept_for_the_retention_of_the_pipeline_not_of_its_clients(bus: Bus) -> None:
    client, pipeline = bus.settings, bus.settings.model_copy(update={"retention_s": 100.0})
    log = bus.keys.log("s1")
    bus.settings = pipeline  # only its coordinators open sessions
    await commit(bus, await a_pending_entry(bus))
    bus.settings = client
    assert await bus.publish(an_event(CancellationRequested(), "s1"), "signal") == "sent"
    assert 0 < await bus.batcher.submit("PTTL", log) <= 100_000
