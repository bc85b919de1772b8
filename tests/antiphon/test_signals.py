"""Events from outside reach sessions that are stored, and no others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import BusSettings

from antiphon import InvalidQuery, UnknownSession
from antiphon.signals import send
from antiphon.submission import submission
from tests.redis_server import RedisServer


@asynccontextmanager
async def open_bus(redis_server: RedisServer) -> AsyncIterator[Bus]:
    bus = Bus(Connections(redis_server.url), Keys(f"signals-{new_id()}"), BusSettings())
    await bus.open()
    try:
        yield bus
    finally:
        await bus.close()


@pytest.mark.parametrize("what", ["session", "run"])
async def test_a_signal_to_an_expired_session_is_not_sent(redis_server: RedisServer, what: str) -> None:
    async with open_bus(redis_server) as bus:
        with pytest.raises(UnknownSession, match=f"^{what} s1 is no longer stored"):
            await send(bus, "s1", CancellationRequested, {"reason": None}, what)


async def test_a_signal_carries_its_sessions_correlation_and_is_validated(redis_server: RedisServer) -> None:
    async with open_bus(redis_server) as bus:
        query = submission(
            "why?", {}, "s1", traceparent=None, event_id=new_id(), now=utc_now(), bytes_max=4_000_000
        )
        await bus.publish(query, "open")
        sent = await send(bus, "s1", CancellationRequested, {"reason": "enough"})
        assert (sent.subject, sent.data) == ("s1", CancellationRequested(reason="enough"))
        assert sent.correlationid == query.correlationid
        with pytest.raises(InvalidQuery, match="reason"):
            await send(bus, "s1", CancellationRequested, {"reason": 7})
