"""Builders for the tests of the bus: events, workers, waits for conditions, a connection that can break."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from antiphon_shared.bus.batcher import Route
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.consumer import Consumer
from antiphon_shared.bus.handling import NOTHING, Delivery, Handler, Handlers, Outcome, SessionStore
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Command
from antiphon_shared.events import (
    AnyEvent,
    CancellationRequested,
    Component,
    ComponentFailed,
    QuerySubmitted,
)
from antiphon_shared.events import encode as as_json
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import BusSettings
from redis.asyncio import Redis

from tests.envelopes import an_event
from tests.redis_server import free_port

OUTPUT = CancellationRequested(reason="an output")
PLACE = "1-1"
SILENT_S = 60
"""The seconds since a dead worker was last seen."""
_ANSWER_LIMIT_S = 60


def a_query(session_id: str = "s1", query: str = "Why?") -> AnyEvent:
    return an_event(QuerySubmitted(query=query), session_id)


def words_of(delivery: Delivery) -> str:
    assert isinstance(delivery.event.data, QuerySubmitted)
    return delivery.event.data.query


def session_in(keys: Keys, partition: int, n: int = 0) -> str:
    """Return the n-th session id that lives in a partition."""
    found = (f"s{i}" for i in range(10_000) if keys.partition(f"s{i}") == partition)
    return [next(found) for _ in range(n + 1)][-1]


def sessions_of_one_partition(keys: Keys, count: int) -> list[str]:
    return [session_in(keys, 0, n) for n in range(count)]


def inbox_of(bus: Bus, session_id: str = "s1", component: Component = "coordinator") -> str:
    return bus.keys.inbox(bus.keys.partition(session_id), component)


async def put(bus: Bus, event: AnyEvent, component: Component = "coordinator") -> str:
    """Put an event into an inbox past every door, as a foreign program would."""
    fields = {"event": as_json(event), "log": PLACE}
    return await put_fields(bus, fields, event.subject, component)


async def put_fields(
    bus: Bus, fields: dict[Any, Any], session_id: str = "s1", component: Component = "coordinator"
) -> str:
    words = [word for pair in fields.items() for word in pair]
    entry: bytes = await bus.batcher.submit("XADD", inbox_of(bus, session_id, component), "*", *words)
    return entry.decode()


async def length(bus: Bus, key: str) -> int:
    return int(await bus.batcher.submit("XLEN", key))


async def entries(bus: Bus, key: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
    found: list[tuple[bytes, dict[bytes, bytes]]] = await bus.batcher.submit("XRANGE", key, "-", "+")
    return found


async def dead_letters(bus: Bus) -> int:
    return sum([await length(bus, bus.keys.dead(p)) for p in range(bus.keys.partitions)])


async def has_dead(bus: Bus, count: int) -> bool:
    return await dead_letters(bus) == count


async def types_in_log(bus: Bus, session_id: str = "s1") -> list[str]:
    return [event.type for _, event in await bus.session(session_id).log()]


async def eventually(condition: Callable[[], Awaitable[bool] | bool], limit_s: float = 20) -> None:
    """Wait until a condition holds; a bound, not a measurement."""
    for _ in range(int(limit_s / 0.01)):
        result = condition()
        if result if isinstance(result, bool) else await result:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the condition never held")


async def until_done(bus: Bus, session_id: str = "s1", component: Component = "coordinator") -> None:
    """Wait until an inbox is empty: everything in it is committed."""

    async def is_empty() -> bool:
        return await length(bus, inbox_of(bus, session_id, component)) == 0

    await eventually(is_empty)


@asynccontextmanager
async def working(
    bus: Bus,
    handlers: Handlers,
    name: str = "w1",
    component: Component = "coordinator",
    concurrency: int = 8,
    grace_s: float = 2,
    stops_with_session: bool = False,
) -> AsyncIterator[Consumer]:
    service = Service(
        component,
        handlers,
        concurrency,
        stops_with_session=stops_with_session,
        keeps_partitions=component == "coordinator",
    )
    consumer = Consumer(bus, service, name)
    run = asyncio.create_task(consumer.run())
    try:
        yield consumer
    finally:
        await consumer.stop(grace_s)
        await run


async def all_timers_due(bus: Bus, session_id: str = "s1") -> None:
    """Make each timer due that a session's partition has now."""
    timers = bus.keys.timers(bus.keys.partition(session_id))
    for name in await bus.batcher.submit("ZRANGE", timers, 0, -1):
        await bus.batcher.submit("ZADD", timers, "XX", 1, name)


async def silent(
    bus: Bus, session_id: str = "s1", component: Component = "coordinator", name: str = "gone"
) -> None:
    """Let a worker read the entries of an inbox, and never acknowledge them."""
    inbox = inbox_of(bus, session_id, component)
    await bus.ensure_groups([(inbox, component)])
    await bus.client.execute_command(
        "XREADGROUP", "GROUP", component, name, "COUNT", 100, "STREAMS", inbox, ">"
    )


async def delivered(
    bus: Bus, times: int, session_id: str = "s1", component: Component = "coordinator"
) -> None:
    """Deliver the entries of an inbox a number of times, each time to a worker that died a while ago."""
    await silent(bus, session_id, component)
    inbox = inbox_of(bus, session_id, component)
    for entry, _ in await entries(bus, inbox):
        await claim(bus, inbox, component, entry, "gone", times)


async def claim(
    bus: Bus,
    inbox: str,
    group: str,
    entry: bytes,
    consumer: str,
    times: int = 1,
    silent_s: float = SILENT_S,
) -> None:
    """Claim an entry for a worker that has been silent for `silent_s`."""
    script = (
        "return redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3],"
        " 'IDLE', ARGV[5], 'RETRYCOUNT', ARGV[4], 'JUSTID')"
    )
    await bus.batcher.submit("EVAL", script, 1, inbox, group, consumer, entry, times, round(silent_s * 1000))


async def pending(bus: Bus, key: str, group: str = "coordinator") -> list[tuple[bytes, bytes, int, int]]:
    """Return (entry, consumer, idle milliseconds, deliveries) of each pending entry."""
    script = "return redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 100)"
    found = await bus.batcher.submit("EVAL", script, 1, key, group)
    return [(entry, consumer, idle, count) for entry, consumer, idle, count in found]


class Seen:
    """A handler that notes its deliveries and returns a fixed outcome."""

    def __init__(self, outcome: Outcome = NOTHING) -> None:
        self.deliveries: list[Delivery] = []
        self._outcome = outcome

    async def __call__(self, delivery: Delivery, session: SessionStore) -> Outcome:
        self.deliveries.append(delivery)
        return self._outcome

    @property
    def queries(self) -> list[str]:
        return [words_of(delivery) for delivery in self.deliveries]

    def failures(self) -> list[ComponentFailed]:
        data = [delivery.event.data for delivery in self.deliveries]
        return [item for item in data if isinstance(item, ComponentFailed)]


def raising(error: BaseException) -> Handler:
    async def handler(delivery: Delivery, session: SessionStore) -> Outcome:
        raise error

    return handler


@asynccontextmanager
async def a_bus(url: str, namespace: str, settings: BusSettings, partitions: int = 1) -> AsyncIterator[Bus]:
    """Yield the bus of one more process."""
    opened = Bus(Connections(url), Keys(namespace, partitions), settings)
    await opened.open()
    try:
        yield opened
    finally:
        await opened.close()


class Proxy:
    """A TCP proxy to Redis that can swallow replies and cut connections."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.cut_after: bytes | None = None
        """A request that holds these bytes is passed on, its reply swallowed, and the connection cut, once."""
        self.cuts = 0

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/0"

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", free_port())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut_all()
        await asyncio.sleep(0)

    def cut_all(self) -> None:
        """Cut every connection where it is."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            redis_reader, redis_writer = await asyncio.open_connection("127.0.0.1", self._port)
            doomed = asyncio.Event()
            replies = asyncio.create_task(self._pass_replies(redis_reader, writer, doomed))
            with contextlib.suppress(ConnectionError):
                while request := await reader.read(1 << 20):
                    if self.cut_after is not None and self.cut_after in request:
                        self.cut_after = None
                        doomed.set()
                    redis_writer.write(request)
                    await redis_writer.drain()
            redis_writer.close()
            replies.cancel()
            await asyncio.gather(replies, return_exceptions=True)
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _pass_replies(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while reply := await reader.read(1 << 20):
                if doomed.is_set():
                    self.cuts += 1
                    break
                writer.write(reply)
        writer.transport.abort()


class Tapped:
    """A connection that shows each command right before it is sent."""

    def __init__(self, route: Route, see: Callable[[Sequence[Command]], None]) -> None:
        self._route, self._see = route, see

    def lane_of(self, command: Command) -> str:
        return self._route.lane_of(command)

    async def exchange(self, lane: str, commands: Sequence[Command]) -> list[Any]:
        self._see(commands)
        return await self._route.exchange(lane, commands)

    async def follow(self, error: Exception) -> tuple[str | None, bool] | None:
        return await self._route.follow(error)


async def admin(url: str, *command: Any) -> Any:
    """Send one command over a connection of its own."""
    async with Redis.from_url(url, socket_timeout=_ANSWER_LIMIT_S) as client:
        return await client.execute_command(*command)  # type: ignore[no-untyped-call]  # the library's gap
