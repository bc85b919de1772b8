"""Entries that a commit takes for consumers of its own process."""

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest
from antiphon_shared.bus import scripts
from antiphon_shared.bus.committing import outcome_operations, script_arguments
from antiphon_shared.bus.concurrency import ConcurrencyLimit
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.handling import NOTHING, Append, Delivery, Outcome, SessionStore
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.local_inboxes import LocalInboxes, Taking
from antiphon_shared.bus.reader import Entry, Reader
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.timers import CleanUp
from antiphon_shared.events import CancellationRequested, QuerySubmitted
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import (
    OUTPUT,
    PLACE,
    Proxy,
    Seen,
    a_bus,
    a_query,
    delivered,
    entries,
    eventually,
    inbox_of,
    pending,
    put,
    silent,
    types_in_log,
    until_done,
    working,
)
from tests.redis_server import RedisServer

ON_REAL_SERVERS = pytest.mark.parametrize("bus", ["redis", "cluster"], indirect=True)
"""fakeredis gives scripts another reply to XREADGROUP; the runner takes nothing there."""
ANSWERS = Outcome(events=(OUTPUT,), writes=(Append("memory", None, b"once"),))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the ids of the entries that commits have taken."""
    found: list[bytes] = []
    whole = Taking.result

    def result(self: Taking, reply: Any) -> bytes:
        found.extend(entry for _, entry, _ in reply if isinstance(reply, list))
        return whole(self, reply)

    monkeypatch.setattr(Taking, "result", result)
    return found


@ON_REAL_SERVERS
async def test_a_commit_takes_the_event_that_it_adds_for_a_consumer_of_its_process(
    bus: Bus, taken: list[bytes]
) -> None:
    bus.local_inboxes = LocalInboxes()
    on_output = Seen()
    async with working(bus, {QuerySubmitted: Seen(ANSWERS), CancellationRequested: on_output}):
        await bus.publish(a_query(), "open")
        await until_done(bus)
    assert len(on_output.deliveries) == len(taken) == 1
    assert not on_output.deliveries[0].redelivered
    assert await types_in_log(bus) == [QuerySubmitted.type, CancellationRequested.type]
    assert await bus.session("s1").items("memory") == [b"once"]


@ON_REAL_SERVERS
async def test_a_commit_takes_no_entry_while_the_reader_occupies_every_slot(
    bus: Bus, taken: list[bytes]
) -> None:
    bus.local_inboxes = LocalInboxes()
    on_output = Seen()
    async with working(bus, {QuerySubmitted: Seen(ANSWERS), CancellationRequested: on_output}, concurrency=1):
        await bus.publish(a_query(), "open")
        await until_done(bus)
    assert len(on_output.deliveries) == 1
    assert taken == []


@ON_REAL_SERVERS
async def test_the_oldest_entry_is_taken_first_and_is_pending_for_its_consumer(bus: Bus) -> None:
    """The script adds an event behind one that waits: the one that waits is delivered."""
    await bus.publish(query := a_query(), "open")
    await silent(bus)
    await bus.publish(a_query("s1", "Waiting"), "signal")
    (entry, _), (waiting, fields) = await entries(bus, inbox_of(bus))
    operations = outcome_operations(
        ANSWERS, Delivery(query, PLACE), "coordinator", bus.keys, bus.settings, utc_now()
    )
    taking = ("take", inbox_of(bus), "w1", "coordinator")
    keys, values = script_arguments(
        [*operations, taking],
        "s1",
        entry.decode(),
        "coordinator",
        partition=bus.keys.partition("s1"),
        keys=bus.keys,
        settings=bus.settings,
    )
    ((inbox, taken, words),) = await bus.batcher.run(scripts.COMMIT, keys, values)
    assert (inbox.decode(), taken) == (inbox_of(bus), waiting)
    assert dict(zip(words[::2], words[1::2], strict=True)) == fields
    ((entry_id, consumer, _, deliveries),) = await pending(bus, inbox_of(bus))
    assert (entry_id, consumer, deliveries) == (waiting, b"w1", 1)


async def test_an_entry_whose_reply_is_lost_is_found_before_its_lease_is_out(
    redis_server: RedisServer, namespace: str, bus_settings: BusSettings
) -> None:
    on_output = Seen()
    long = bus_settings.model_copy(update={"lease_s": 600.0})
    async with (
        Proxy(redis_server.port) as proxy,
        a_bus(proxy.url, namespace, long) as bus,
        a_bus(redis_server.url, namespace, long) as watching,  # its connection is not cut
    ):
        bus.local_inboxes = LocalInboxes()
        async with working(bus, {QuerySubmitted: Seen(ANSWERS), CancellationRequested: on_output}):
            proxy.cut_after = b"an output"
            await bus.publish(a_query(), "open")
            await until_done(watching)
            await eventually(lambda: proxy.cuts == 1)
        assert len(on_output.deliveries) == 1
        assert await watching.session("s1").items("memory") == [b"once"]


@ON_REAL_SERVERS
async def test_a_delivery_that_was_taken_has_no_part_of_the_context_of_the_one_before(bus: Bus) -> None:
    bus.local_inboxes = LocalInboxes()
    mark: ContextVar[str] = ContextVar("mark", default="none")
    found: list[str] = []

    async def on_query(delivery: Delivery, session: SessionStore) -> Outcome:
        mark.set("of the query")
        return ANSWERS

    async def on_output(delivery: Delivery, session: SessionStore) -> Outcome:
        found.append(mark.get())
        return NOTHING

    async with working(bus, {QuerySubmitted: on_query, CancellationRequested: on_output}):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await asyncio.sleep(0)
    assert found == ["none"]


@ON_REAL_SERVERS
async def test_an_event_suspected_of_killing_its_process_runs_exclusively_across_components(bus: Bus) -> None:
    bus.local_inboxes = LocalInboxes()
    begun, may_end, on_suspect = asyncio.Event(), asyncio.Event(), Seen()

    async def slow(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.set()
        await may_end.wait()
        return NOTHING

    await put(bus, a_query(), "reasoning_engine")
    await put(bus, a_query())
    await delivered(bus, times=2)
    async with working(bus, {QuerySubmitted: slow}, component="reasoning_engine"):
        await begun.wait()
        async with working(bus, {QuerySubmitted: on_suspect}, name="w2") as worker:
            await eventually(lambda: worker.in_flight == 1)
            await asyncio.sleep(0.1)
            assert not on_suspect.deliveries
            may_end.set()
            await eventually(lambda: len(on_suspect.deliveries) == 1)


@pytest.mark.parametrize(
    ("reply", "free"),
    [
        ([[b"inbox", b"1-0", [b"event", b"{}"]]], 1),
        (b"committed", 2),
        (b"conflict", 2),
        (b"duplicate", 2),
    ],
)
def test_a_slot_stays_reserved_only_for_a_reply_with_an_entry(reply: Any, free: int) -> None:
    limit, begun = ConcurrencyLimit(slots=2, readers=1), list[Entry]()
    bus = Bus(Connections("redis://nowhere"), Keys(), BusSettings())
    no_chores = CleanUp(bus, "inbox", "coordinator")
    reader = Reader(
        bus,
        "inbox",
        "coordinator",
        "worker",
        limit=limit,
        take=begun.append,
        in_flight=lambda _: [],
        chores=no_chores,
    )
    with Taking([reader]) as taking:
        assert limit.free == 1
        taking.result(reply)
    assert (limit.free, len(begun)) == (free, 2 - free)
