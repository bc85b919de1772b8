"""Connections cut, Redis killed, streams gone: nothing is lost, and the work continues."""

import asyncio
import time

import pytest
import redis
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.handling import NOTHING, Append, Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested, QuerySubmitted
from antiphon_shared.process.errors import ConfigurationError, RedisUnavailable
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import (
    OUTPUT,
    Proxy,
    Seen,
    a_bus,
    a_query,
    admin,
    dead_letters,
    eventually,
    inbox_of,
    pending,
    silent,
    types_in_log,
    until_done,
    working,
)
from tests.redis_server import RedisServer, free_port, running

ONCE = Outcome(events=(OUTPUT,), writes=(Append("done", 0, b"1"),))


async def all_handled_once(bus: Bus, sessions: list[str]) -> None:
    for session_id in sessions:
        await until_done(bus, session_id)
    handled = [await bus.session(session_id).items("done") for session_id in sessions]
    assert handled == [[b"1"]] * len(sessions)
    for session_id in sessions:
        assert await types_in_log(bus, session_id) == [QuerySubmitted.type, CancellationRequested.type]
    assert await dead_letters(bus) == 0


async def test_connections_cut_in_the_middle_lose_nothing(
    redis_server: RedisServer, namespace: str, bus_settings: BusSettings
) -> None:
    """Through a proxy that cuts them all, and by CLIENT KILL, again and again."""
    sessions = [f"s{n}" for n in range(60)]
    async with (
        Proxy(redis_server.port) as proxy,
        a_bus(redis_server.url, namespace, bus_settings) as steady,
        a_bus(proxy.url, namespace, bus_settings) as shaky,
        working(shaky, {QuerySubmitted: Seen(ONCE), CancellationRequested: Seen()}),
    ):
        for n, session_id in enumerate(sessions):
            await _insist(steady, session_id)
            if n % 10 == 3:
                proxy.cut_all()
            if n % 10 == 7:
                await admin(redis_server.url, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            await asyncio.sleep(0.01)
        await _insist(steady, sessions[0])
        await all_handled_once(steady, sessions)


async def test_an_event_of_a_lost_reply_is_read_again(
    redis_server: RedisServer, namespace: str, bus_settings: BusSettings
) -> None:
    settings = bus_settings.model_copy(update={"lease_s": 30.0})  # no takeover comes to the rescue
    seen = Seen(ONCE)
    async with (
        Proxy(redis_server.port) as proxy,
        a_bus(redis_server.url, namespace, settings) as steady,
        a_bus(proxy.url, namespace, settings) as shaky,
        working(shaky, {QuerySubmitted: seen, CancellationRequested: Seen()}),
    ):
        proxy.cut_after = b"XREADGROUP"
        await eventually(lambda: proxy.cut_after is None)
        await steady.publish(a_query(), "open")
        await all_handled_once(steady, ["s1"])
        assert proxy.cuts == 1


async def test_redis_killed_and_restarted_in_the_middle_loses_nothing(
    namespace: str, bus_settings: BusSettings
) -> None:
    sessions = [f"s{n}" for n in range(40)]
    handlers: Handlers = {QuerySubmitted: Seen(ONCE), CancellationRequested: Seen()}
    with running("--appendonly", "yes", "--appendfsync", "always") as server:
        async with (
            a_bus(server.url, namespace, bus_settings) as first,
            a_bus(server.url, namespace, bus_settings) as second,
            working(first, handlers, "w1"),
            working(second, handlers, "w2"),
        ):
            accepted = []
            for n, session_id in enumerate(sessions):
                if n in (13, 27):
                    server.kill()
                    await asyncio.sleep(0.3)
                    await asyncio.to_thread(server.start)
                await _insist(first, session_id)
                accepted.append(session_id)
            await all_handled_once(first, accepted)


async def _insist(bus: Bus, session_id: str) -> None:
    event = a_query(session_id)
    while True:
        try:
            await bus.publish(event, "open")
            return
        except redis.exceptions.RedisError:
            await asyncio.sleep(0.05)


async def test_a_cluster_node_killed_and_restarted_is_found_again(
    namespace: str, bus_settings: BusSettings
) -> None:
    options = ("--appendonly", "yes", "--appendfsync", "always")
    with running(*options, is_cluster=True) as server:
        async with (
            a_bus(server.url, namespace, bus_settings, partitions=3) as bus,
            working(bus, {QuerySubmitted: Seen(ONCE), CancellationRequested: Seen()}),
        ):
            await bus.publish(a_query("s1"), "open")
            await until_done(bus, "s1")
            server.kill()
            await asyncio.sleep(0.3)
            await asyncio.to_thread(server.start)
            for n in range(2, 8):
                await _insist(bus, f"s{n}")
            await all_handled_once(bus, [f"s{n}" for n in range(1, 8)])


async def test_every_node_of_a_cluster_is_read(namespace: str, bus_settings: BusSettings) -> None:
    """A reader's connection goes to the node that holds its stream, not to the one in the address."""
    with running("--cluster-enabled", "yes") as one, running("--cluster-enabled", "yes") as other:
        await admin(one.url, "CLUSTER", "ADDSLOTSRANGE", 0, 8191)
        await admin(other.url, "CLUSTER", "ADDSLOTSRANGE", 8192, 16383)
        await admin(one.url, "CLUSTER", "MEET", "127.0.0.1", other.port)
        for node in (one, other):
            await eventually(lambda node=node: _is_whole(node.url))  # type: ignore[misc]  # a bound default
        async with a_bus(one.url, namespace, bus_settings, partitions=4) as bus:
            nodes = {bus.client.get_node_from_key(bus.keys.inbox(p, "coordinator")).port for p in range(4)}
            assert nodes == {one.port, other.port}
            async with working(bus, {QuerySubmitted: Seen(ONCE), CancellationRequested: Seen()}):
                sessions = [f"s{n}" for n in range(12)]
                for session_id in sessions:
                    await bus.publish(a_query(session_id), "open")
                await all_handled_once(bus, sessions)


async def _is_whole(url: str) -> bool:
    known = await admin(url, "CLUSTER", "INFO")
    return b"cluster_state:ok" in known and b"cluster_known_nodes:2" in known


async def test_a_redis_that_has_not_started_yet_is_waited_for(
    namespace: str, bus_settings: BusSettings
) -> None:
    server = RedisServer()
    seen = Seen(ONCE)

    async def work() -> None:
        async with (
            a_bus(server.url, namespace, bus_settings) as bus,
            working(bus, {QuerySubmitted: seen, CancellationRequested: Seen()}),
        ):
            await bus.publish(a_query(), "open")
            await all_handled_once(bus, ["s1"])

    early = asyncio.create_task(work())
    await asyncio.sleep(0.3)
    await asyncio.to_thread(server.start)
    try:
        await early
    finally:
        server.stop()


async def test_waiting_for_redis_ends_after_its_timeout() -> None:
    bus = Bus(Connections(f"redis://127.0.0.1:{free_port()}/0"), Keys(), BusSettings())
    with pytest.raises(RedisUnavailable, match="ANTIPHON_REDIS_URL"):
        await bus.open(patience_s=0.2)


async def test_a_permanent_error_is_raised_at_once(redis_server: RedisServer) -> None:
    host = f"127.0.0.1:{redis_server.port}"
    for url in (
        f"redis://nobody:wrong@{host}/0",
        f"redis://{host}/99",
        f"http://{host}",
        "redis://localhost:port",
    ):
        bus = Bus(Connections(url), Keys(), BusSettings())
        with pytest.raises(ConfigurationError, match="ANTIPHON_REDIS_URL"):
            await bus.open(patience_s=20)


@pytest.mark.parametrize("disaster", ["FLUSHALL", "XGROUP", "DEL"])
async def test_streams_and_groups_that_vanish_are_made_again(bus: Bus, disaster: str) -> None:
    seen, inbox = Seen(), inbox_of(bus)
    async with working(bus, {QuerySubmitted: seen}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(seen.deliveries) == 1)
        await until_done(bus)
        if disaster == "FLUSHALL":
            for key in await bus.client.execute_command("KEYS", f"{bus.keys.namespace}:*"):
                await bus.batcher.submit("DEL", key)
        elif disaster == "DEL":
            await bus.batcher.submit("DEL", inbox)
        else:
            await bus.client.execute_command("XGROUP", "DESTROY", inbox, "coordinator")
        await bus.publish(a_query(), "signal" if disaster != "FLUSHALL" else "open")
        await eventually(lambda: len(seen.deliveries) == 2)


async def test_deliveries_in_flight_are_dropped_when_redis_has_lost_everything(bus: Bus) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.set()
        await go_on.wait()
        return Outcome(writes=(Append("done", 3, b"1"),))

    async with working(bus, {QuerySubmitted: slow}) as worker:
        await bus.publish(a_query(), "open")
        await begun.wait()
        await bus.batcher.submit("DEL", inbox_of(bus))
        go_on.set()
        await eventually(lambda: worker.in_flight == 0)


async def test_an_inbox_of_another_type_is_waited_out(bus: Bus) -> None:
    await bus.batcher.submit("SET", inbox_of(bus), "a string")
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}):
        await asyncio.sleep(0.2)
        await bus.batcher.submit("DEL", inbox_of(bus))
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(seen.deliveries) == 1)


@pytest.mark.usefixtures("unhurried_farewell")
async def test_stopping_does_not_wait_for_the_end_of_a_blocked_read(
    redis_server: RedisServer, namespace: str, bus_settings: BusSettings
) -> None:
    """The read is unblocked, not cancelled: later entries are not delivered."""
    async with a_bus(redis_server.url, namespace, bus_settings) as bus:
        for n in range(5):
            async with working(bus, {QuerySubmitted: Seen()}, f"w{n}"):
                await asyncio.sleep(0.02)
        await bus.publish(a_query(), "open")
        assert await pending(bus, inbox_of(bus)) == []


async def test_a_handler_that_is_out_of_memory_in_redis_waits(
    namespace: str, bus_settings: BusSettings
) -> None:
    """The reader waits for a Redis that refuses writes, without dead letters."""
    tries: list[float] = []

    async def writes(delivery: Delivery, session: SessionStore) -> Outcome:
        tries.append(time.monotonic())
        await session.note("journal", "call", b"x")
        return NOTHING

    with running("--maxmemory-policy", "noeviction") as server:
        async with a_bus(server.url, namespace, bus_settings) as bus:
            await bus.publish(a_query(), "open")
            await silent(bus)
            await admin(server.url, "CONFIG", "SET", "maxmemory", "1")
            async with working(bus, {QuerySubmitted: writes}):
                await eventually(lambda: len(tries) > 4)
                await admin(server.url, "CONFIG", "SET", "maxmemory", "0")
                await until_done(bus)
            assert await dead_letters(bus) == 0
