"""The sessions whose work must stop, as one process knows them."""

import asyncio

import pytest
from antiphon_shared.bus import cancellations as stops_module
from antiphon_shared.bus.cancellations import Cancellations
from antiphon_shared.bus.handling import NOTHING, Delivery, Outcome
from antiphon_shared.bus.redis_bus import Bus
from structlog.testing import capture_logs

from tests.bus.builders import eventually
from tests.bus.endless import WORK, Endless
from tests.envelopes import an_event


def asked_at(at_ms: int, session_id: str = "s1") -> Delivery:
    return Delivery(an_event(WORK, session_id), f"{at_ms}-0")


async def stopped(bus: Bus, **at_ms: int) -> None:
    for session_id, at in at_ms.items():
        await bus.batcher.submit("ZADD", bus.keys.stopped(bus.keys.partition(session_id)), at, session_id)


async def test_a_stop_covers_requests_up_to_its_time_and_none_later(bus: Bus) -> None:
    stops = Cancellations(bus)
    assert not stops.cover(asked_at(1_000))
    await stopped(bus, s1=1_000)
    await stops.look()
    assert [stops.cover(asked_at(at)) for at in (999, 1_000, 1_001)] == [True, True, False]
    assert not stops.cover(asked_at(999, "s2"))


async def test_a_later_stop_of_the_same_session_is_received(bus: Bus) -> None:
    stops = Cancellations(bus)
    for at in (1_000, 2_000):
        await stopped(bus, s1=at)
        await stops.look()
    assert [stops.cover(asked_at(at)) for at in (2_000, 2_001)] == [True, False]


async def test_a_process_remembers_the_newest_stops_alone(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stops_module, "STOPS_KEPT_MAX", 2)
    stops = Cancellations(bus)
    for at, session_id in enumerate(("s1", "s2", "s3"), 1_000):
        await stopped(bus, **{session_id: at})
        await stops.look()
    assert [stops.cover(asked_at(1, name)) for name in ("s1", "s2", "s3")] == [False, True, True]


async def test_unreadable_stops_are_logged_once_until_they_can_be_read_again(bus: Bus) -> None:
    stops, key = Cancellations(bus), bus.keys.stopped(bus.keys.partition("s1"))
    with capture_logs() as logs:
        for _ in range(2):
            await bus.batcher.submit("SET", key, "a string")
            await stops.look()
            await stops.look()
            await bus.batcher.submit("DEL", key)
            await stops.look()
    logged = [(line["event"], "WRONGTYPE" in line["error"]) for line in logs]
    assert logged == [("cancellations_unreadable", True)] * 2


async def test_a_stop_without_a_time_is_ignored(bus: Bus) -> None:
    stops, key = Cancellations(bus), bus.keys.stopped(bus.keys.partition("s1"))
    await bus.batcher.submit("ZADD", key, "+inf", "s1")
    with capture_logs() as logs:
        await stops.look()
    assert len(logs) == 1
    await bus.batcher.submit("DEL", key)
    await stopped(bus, s1=1_000)
    await stops.look()
    assert stops.cover(asked_at(1_000))


async def test_handlers_cancelled_or_skipped_by_a_stop_are_logged(bus: Bus) -> None:
    stops, endless = Cancellations(bus), Endless()

    async def work() -> Outcome:
        return await endless(asked_at(1_000), bus.session("s1"))

    with capture_logs() as logs:
        dropped = asyncio.create_task(stops.unless_stopped(asked_at(1_000), work))
        await eventually(lambda: bool(endless.begun))
        await stopped(bus, s1=1_000)
        await stops.look()
        assert await dropped == NOTHING
        assert await stops.unless_stopped(asked_at(1_000), work) == NOTHING
    assert endless.begun == endless.cancelled == ["s1"]
    assert [line["event"] for line in logs] == [
        "handler_cancelled_session_stopped",
        "handler_skipped_session_stopped",
    ]
