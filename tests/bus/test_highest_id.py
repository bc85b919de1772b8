"""An entry with the highest id there is: Redis adds nothing behind it, and yet nothing stops."""

import asyncio

import pytest
from antiphon_shared.bus.handling import Outcome
from antiphon_shared.bus.intake import GROUP, Intake
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested, ComponentFailed, QuerySubmitted, ResponseReady
from redis.exceptions import ResponseError

from tests.bus.builders import (
    OUTPUT,
    Seen,
    a_query,
    dead_letters,
    entries,
    eventually,
    inbox_of,
    length,
    session_in,
    until_done,
    working,
)
from tests.coordinator.builders import a_response

HIGHEST = f"{2**64 - 1}-{2**64 - 1}"


@pytest.fixture
def bus(bus: Bus) -> Bus:
    if bus.connections.is_fake:
        pytest.skip("fakeredis takes more behind the highest id")
    return bus


async def carry_to_the_end(bus: Bus, stream: str, *ids: str) -> None:
    for id in (*ids, HIGHEST):
        await bus.batcher.submit("XADD", stream, id, "event", "nonsense", "log", "1-1")


@pytest.mark.parametrize("before", [(), (f"{2**64 - 1}-7",), ("99999999999999-0",)], ids=repr)
async def test_an_inbox_with_the_highest_entry_id_keeps_its_old_and_accepts_new_events(
    bus: Bus, before: tuple[str, ...]
) -> None:
    ids = [session_in(bus.keys, 0, n) for n in range(4)]
    await bus.publish(a_query(ids[0], "first"), "open")
    await carry_to_the_end(bus, inbox_of(bus, ids[0]), *before)
    await bus.publish(a_query(ids[1], "second"), "open")
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen, ComponentFailed: seen}):
        await eventually(lambda: sorted(seen.queries) == ["first", "second"])
        await until_done(bus, ids[0])
        await carry_to_the_end(bus, inbox_of(bus, ids[0]))
        await until_done(bus, ids[0])
        await bus.publish(a_query(ids[2], "third"), "open")
        await bus.publish(a_query(ids[3], "fourth"), "open")
        await eventually(lambda: sorted(seen.queries) == ["first", "fourth", "second", "third"])
        await until_done(bus, ids[0])
    assert await dead_letters(bus) == len(before) + 2


async def test_a_delivery_in_flight_is_still_committed(bus: Bus) -> None:
    """Its entry, its lease and the group's place stay as they are."""
    output, hold = Seen(), asyncio.Event()

    async def slow(delivery: object, session: object) -> Outcome:
        await hold.wait()
        return Outcome(events=(OUTPUT,))

    async with working(bus, {QuerySubmitted: slow, CancellationRequested: output}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: True)
        await carry_to_the_end(bus, inbox_of(bus))
        hold.set()
        await eventually(lambda: len(output.deliveries) == 1)
        await until_done(bus)
    assert await dead_letters(bus) == 1


async def test_sessions_continue_when_any_stream_of_their_partition_has_the_highest_id(bus: Bus) -> None:
    partition = bus.keys.partition("s1")
    await bus.publish(a_query(), "open")
    for stream in (bus.keys.log("s1"), bus.keys.feed(partition), bus.keys.responses(partition)):
        await carry_to_the_end(bus, stream)
    answer = Outcome(events=(ResponseReady(**a_response().model_dump()),), closes_session=True)
    done = Seen()
    async with working(bus, {QuerySubmitted: Seen(answer), ResponseReady: done}):
        await eventually(lambda: len(done.deliveries) == 1)
        await until_done(bus)
    assert await length(bus, bus.keys.responses(partition)) == 1
    assert await bus.batcher.submit("ZCARD", bus.keys.open_sessions(partition)) == 0


async def test_events_are_dead_lettered_after_the_highest_id_too(bus: Bus) -> None:
    await carry_to_the_end(bus, bus.keys.dead(0))
    inbox = bus.keys.inbox(0, "coordinator")
    await bus.batcher.submit("XADD", inbox, "*", "event", "junk")
    async with working(bus, {}):
        await until_done(bus, session_in(bus.keys, 0))
    letters = [fields[b"event"] for _, fields in await entries(bus, bus.keys.dead(0))]
    assert b"junk" in letters


@pytest.mark.parametrize("is_held", [True, False])
async def test_the_queue_returns_to_the_present_while_others_have_entries_in_flight(
    bus: Bus, is_held: bool
) -> None:
    queue = bus.keys.queries()
    await bus.ensure_groups([(queue, GROUP)])
    if is_held:
        await bus.batcher.submit("XADD", queue, "*", "query", "one in flight at another coordinator")
        read = ("XREADGROUP", "GROUP", GROUP, "another", "STREAMS", queue, ">")
        await bus.client.execute_command(*read)
    await bus.batcher.submit("XADD", queue, HIGHEST, "query", "Why?")
    with pytest.raises(ResponseError, match="exhausted"):
        await bus.batcher.submit("XADD", queue, "*", "query", "And now?")
    intake = asyncio.create_task(Intake(bus, "door", 8).run())

    async def can_be_submitted_to() -> bool:
        try:
            await bus.batcher.submit("XADD", queue, "*", "query", "And now?", "session_id", "after")
        except ResponseError:
            return False
        return True

    await eventually(can_be_submitted_to)

    async def is_let_in() -> bool:
        return await length(bus, bus.keys.log("after")) == 1

    await eventually(is_let_in)
    intake.cancel()
    await asyncio.gather(intake, return_exceptions=True)
