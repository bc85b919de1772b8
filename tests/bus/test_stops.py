"""Sessions whose work must stop: work in flight is dropped, and later messages are not begun."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from antiphon_shared.bus.committing import STOPS_KEPT_MAX
from antiphon_shared.bus.consumer import Consumer
from antiphon_shared.bus.handling import NOTHING, Delivery, Handler, Handlers, Outcome, SessionStore
from antiphon_shared.bus.reader import EXCLUSIVE_FROM_DELIVERY
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    CancellationRequested,
    Component,
    ComponentFailed,
    QuerySubmitted,
    ReasoningRequested,
)
from antiphon_shared.process.clock import utc_now

from tests.bus.builders import (
    Seen,
    a_query,
    all_timers_due,
    claim,
    dead_letters,
    delivered,
    entries,
    eventually,
    inbox_of,
    pending,
    until_done,
    working,
)
from tests.bus.endless import WORK, Endless
from tests.envelopes import an_event

WORKER: Component = "reasoning_engine"


@asynccontextmanager
async def coordinating(bus: Bus) -> AsyncIterator[Seen]:
    """Yield a coordinator that asks for work when a session opens, and stops it when it is cancelled."""
    on_failed = Seen()
    handlers: Handlers = {
        QuerySubmitted: Seen(Outcome(events=(WORK,))),
        CancellationRequested: Seen(Outcome(stops_work=True)),
        ComponentFailed: on_failed,
    }
    async with working(bus, handlers, "c1"):
        yield on_failed


def engine(
    bus: Bus, handler: Handler, name: str = "e1", concurrency: int = 8, grace_s: float = 2
) -> AbstractAsyncContextManager[Consumer]:
    handlers: Handlers = {ReasoningRequested: handler}
    return working(bus, handlers, name, WORKER, concurrency, grace_s, stops_with_session=True)


async def cancel(bus: Bus, session_id: str = "s1") -> None:
    assert await bus.publish(an_event(CancellationRequested(), session_id), "signal") == "sent"
    await until_done(bus, session_id)


async def test_a_delivery_in_flight_of_a_stopped_session_is_cancelled_and_acknowledged(bus: Bus) -> None:
    endless = Endless()
    async with coordinating(bus) as on_failed, engine(bus, endless):
        await bus.publish(a_query(), "open")
        await eventually(lambda: endless.begun == ["s1"])
        await cancel(bus)
        await until_done(bus, component=WORKER)
        assert endless.cancelled == ["s1"]
        assert await pending(bus, inbox_of(bus, component=WORKER), WORKER) == []
    assert on_failed.deliveries == []
    assert await dead_letters(bus) == 0


async def test_other_sessions_continue_undisturbed(bus: Bus) -> None:
    endless = Endless()
    async with coordinating(bus), engine(bus, endless):
        for session_id in ("s1", "s2", "s3"):
            await bus.publish(a_query(session_id), "open")
        await eventually(lambda: len(endless.begun) == 3)
        await cancel(bus, "s2")
        await eventually(lambda: bool(endless.cancelled))
        endless.free.set()
        await eventually(lambda: _is_empty(bus, "s1", "s2", "s3"))
    assert endless.cancelled == ["s2"]


async def _is_empty(bus: Bus, *session_ids: str) -> bool:
    return not any([await entries(bus, inbox_of(bus, one, WORKER)) for one in session_ids])


async def test_an_event_that_arrives_after_the_stop_is_not_handled(bus: Bus) -> None:
    """A worker that started after the stop does not handle it either."""
    async with coordinating(bus):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await cancel(bus)
    seen = Seen()
    async with engine(bus, seen):
        await until_done(bus, component=WORKER)
    assert seen.deliveries == []


async def test_an_event_left_by_a_dead_worker_is_not_handled_after_the_stop(bus: Bus) -> None:
    async with coordinating(bus):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await delivered(bus, 1, component=WORKER)
        await cancel(bus)
    seen = Seen()
    async with engine(bus, seen):
        await until_done(bus, component=WORKER)
    assert seen.deliveries == []


async def test_an_exclusive_handler_is_stopped_too(bus: Bus) -> None:
    endless = Endless()
    async with coordinating(bus):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await delivered(bus, EXCLUSIVE_FROM_DELIVERY - 1, component=WORKER)
        async with engine(bus, endless):
            await eventually(lambda: endless.begun == ["s1"])
            await cancel(bus)
            await until_done(bus, component=WORKER)
    assert endless.cancelled == ["s1"]


async def test_no_further_attempt_begins_after_the_session_is_stopped(bus: Bus) -> None:
    """Its entry is newer than the stop; the request is older."""
    bus.settings = bus.settings.model_copy(update={"retry_delay_s": 600})
    seen = Seen()

    async def failing(delivery: Delivery, session: SessionStore) -> Outcome:
        await seen(delivery, session)
        raise RuntimeError("broken")

    async with coordinating(bus) as on_failed:
        async with engine(bus, failing):
            await bus.publish(a_query(), "open")
            await eventually(lambda: len(seen.deliveries) == 1)
            await until_done(bus, component=WORKER)
        await cancel(bus)
        partition = bus.keys.partition("s1")

        async def is_over() -> bool:
            timers = await bus.batcher.submit("ZCARD", bus.keys.timers(partition))
            return timers == 0 and await _is_empty(bus, "s1")

        async with engine(bus, failing, "e2"):  # which has received the stop before it reads
            await all_timers_due(bus)
            await eventually(is_over)
        assert len(seen.deliveries) == 1
        assert on_failed.deliveries == []


async def test_a_handler_that_refuses_to_end_delays_no_other(bus: Bus) -> None:
    """The handler takes the only slot."""
    endless = Endless(refuses=True)
    async with coordinating(bus), engine(bus, endless, concurrency=1):
        await bus.publish(a_query("s1"), "open")
        await eventually(lambda: endless.begun == ["s1"])
        await cancel(bus, "s1")
        await bus.publish(a_query("s2"), "open")
        await eventually(lambda: endless.begun == ["s1", "s2"])
        assert await _is_empty(bus, "s1") or bus.keys.partition("s1") == bus.keys.partition("s2")
        endless.free.set()
        await eventually(lambda: _is_empty(bus, "s1", "s2"))


@pytest.mark.parametrize("error", [RuntimeError("at the end"), SystemExit(3)])
async def test_an_exception_of_a_cancelled_handler_is_not_a_failure(bus: Bus, error: BaseException) -> None:
    begun = asyncio.Event()

    async def clumsy(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            raise error
        return NOTHING

    async with coordinating(bus) as on_failed, engine(bus, clumsy):
        await bus.publish(a_query(), "open")
        await begun.wait()
        await cancel(bus)
        await until_done(bus, component=WORKER)
    assert on_failed.deliveries == []
    assert await dead_letters(bus) == 0


async def test_a_handler_that_raises_by_itself_fails_as_everywhere(bus: Bus) -> None:
    """A SystemExit too, which would end the process if it were let out of a task."""
    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})

    async def leaving(delivery: Delivery, session: SessionStore) -> Outcome:
        raise SystemExit(3)

    async with coordinating(bus) as on_failed, engine(bus, leaving):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)


async def test_a_service_that_ignores_session_stops_finishes_its_work(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"lease_s": 600})  # no worker takes over from the other
    endless = Endless()
    async with coordinating(bus), working(bus, {ReasoningRequested: endless}, "e1", WORKER):
        await bus.publish(a_query(), "open")
        await eventually(lambda: endless.begun == ["s1"])
        await cancel(bus)
        async with engine(bus, Endless(), "e2"):
            await asyncio.sleep(0.6)  # for as long as one that stops would have needed twice
        assert endless.cancelled == []
        endless.free.set()
        await until_done(bus, component=WORKER)


@pytest.mark.usefixtures("unhurried_farewell")
async def test_stopping_the_worker_hands_its_work_back(bus: Bus) -> None:
    """The end of a process is not the end of a session: another worker does the work."""
    endless, seen = Endless(), Seen()
    async with coordinating(bus):
        await bus.publish(a_query(), "open")
        async with engine(bus, endless, grace_s=0.05):
            await eventually(lambda: endless.begun == ["s1"])
        assert endless.cancelled == ["s1"]
        ((_, consumer, _, deliveries),) = await pending(bus, inbox_of(bus, component=WORKER), WORKER)
        assert (consumer, deliveries) == (b"e1", 0)
        async with engine(bus, seen, "e2"):
            await until_done(bus, component=WORKER)
    assert len(seen.deliveries) == 1


async def test_a_lost_lease_cancels_the_handler_and_ends_nothing(bus: Bus) -> None:
    endless = Endless()
    async with coordinating(bus), engine(bus, endless):
        await bus.publish(a_query(), "open")
        await eventually(lambda: endless.begun == ["s1"])
        inbox = inbox_of(bus, component=WORKER)
        ((entry, _),) = await entries(bus, inbox)
        endless.refuses = False
        await claim(bus, inbox, WORKER, entry, "somebody else")
        await eventually(lambda: endless.cancelled == ["s1"])
        endless.free.set()
        await until_done(bus, component=WORKER)
    assert endless.begun == ["s1", "s1"]


async def test_a_later_session_with_the_same_id_is_not_stopped_by_the_earlier_ones_end(bus: Bus) -> None:
    seen = Seen()
    async with coordinating(bus):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await cancel(bus)
        async with engine(bus, seen):
            await until_done(bus, component=WORKER)  # so it knows of the stop
            await bus.batcher.submit("DEL", bus.keys.log("s1"))  # as when its retention is over
            assert await bus.publish(a_query(), "open") == "sent"
            await eventually(lambda: len(seen.deliveries) == 1)


async def test_a_stop_is_received_after_foreign_data_in_its_place_is_gone(bus: Bus) -> None:
    """With any other value in place of the sorted set the worker continues, and logs it once."""
    endless, key = Endless(), bus.keys.stopped(bus.keys.partition("s1"))
    await bus.batcher.submit("SET", key, "a string")
    async with coordinating(bus), engine(bus, endless):
        await bus.publish(a_query(), "open")
        await eventually(lambda: endless.begun == ["s1"])
        await bus.batcher.submit("DEL", key)
        await cancel(bus)
        await until_done(bus, component=WORKER)
    assert endless.cancelled == ["s1"]


async def test_stops_are_kept_for_the_retention_in_order_and_bounded(bus: Bus) -> None:
    """A clock of Redis that was ahead for a while hides no stop."""
    key = bus.keys.stopped(bus.keys.partition("s1"))
    ahead_ms = round(utc_now().timestamp() * 1000) + 60_000
    old = [word for n in range(5) for word in (n, f"old{n}")]
    many = [word for n in range(STOPS_KEPT_MAX) for word in (ahead_ms, f"x{n}")]
    await bus.batcher.submit("ZADD", key, *old, *many)
    async with coordinating(bus):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await cancel(bus)
    kept: list[bytes] = await bus.batcher.submit("ZRANGE", key, 0, -1)
    assert len(kept) == STOPS_KEPT_MAX
    assert not any(name.startswith(b"old") for name in kept)
    assert int(await bus.batcher.submit("ZSCORE", key, "s1")) == ahead_ms + 1
    assert 0 < await bus.batcher.submit("PTTL", key) <= bus.settings.retention_s * 1000
