"""The life of one message."""

import asyncio
from contextlib import asynccontextmanager
from collections.abc import AsyncIterator, Callable, Awaitable

from shared.bus.consumer import Consumer
from shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from shared.bus.redis_bus import Bus
from shared.clock import utc_now
from shared.events import AnyEvent, BriefingRequested, Component, QuerySubmitted, CancellationRequested
from shared.events.codec import ENVELOPES
from shared.ids import new_id
from shared.service import Service


def a_query(session_id: str = "s1", query: str = "Why?") -> AnyEvent:
    event_id = new_id()
    return ENVELOPES[QuerySubmitted](
        id=event_id, source="client", type=QuerySubmitted.type, subject=session_id, time=utc_now(),
        correlationid=event_id, data=QuerySubmitted(query=query),
    )


@asynccontextmanager
async def working(bus: Bus, handlers: Handlers, name: str = "w1", component: Component = "coordinator") -> AsyncIterator[Consumer]:
    consumer = Consumer(bus, Service(component, handlers, concurrency=8), name)
    run = asyncio.create_task(consumer.run())
    try:
        yield consumer
    finally:
        await consumer.stop(grace_s=2)
        await run


async def eventually(condition: Callable[[], Awaitable[bool]], limit_s: float = 10) -> None:
    for _ in range(int(limit_s / 0.01)):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to pass")


async def test_a_delivery_is_handled_once_and_its_outcome_committed(bus: Bus) -> None:
    seen: list[Delivery] = []

    async def on_query(delivery: Delivery, session: SessionStore) -> Outcome:
        seen.append(delivery)
        return Outcome(events=(CancellationRequested(),))

    async def on_cancel(delivery: Delivery, session: SessionStore) -> Outcome:
        seen.append(delivery)
        return Outcome()

    async with working(bus, {QuerySubmitted: on_query, CancellationRequested: on_cancel}):
        assert await bus.publish(a_query(), "open") == "sent"

        async def done() -> bool:
            return len(seen) == 2
        await eventually(done)

        async def empty() -> bool:
            return await bus.batcher.submit("XLEN", bus.keys.inbox(bus.keys.partition("s1"), "coordinator")) == 0
        await eventually(empty)
    log = await bus.session("s1").log()
    assert [event.type for _, event in log] == [QuerySubmitted.type, CancellationRequested.type]
    assert log[1][1].causationid == log[0][1].id
