"""Slots in Redis: never more than there are, kept while renewed, free again when their holder is gone."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from antiphon_shared.bus.redis_bus import Bus

from tests.bus.builders import eventually
from tool_dispatcher.bounds.slot_leases import Slot, SlotLeases

LONG_S = 600.0
BRIEF_S = 0.06


def a_process(bus: Bus, lease_s: float = LONG_S) -> SlotLeases:
    return SlotLeases(bus.batcher, bus.keys, lease_s)


@pytest.fixture
async def frozen(bus: Bus) -> AsyncIterator[SlotLeases]:
    """Run a process that takes slots and never renews them: its first renewal comes long after they expire."""
    leases = a_process(bus, BRIEF_S)
    leases._renewing = asyncio.create_task(asyncio.sleep(LONG_S))
    yield leases
    leases._renewing.cancel()


async def held_in_redis(bus: Bus) -> int:
    count: int = await bus.batcher.submit("ZCARD", bus.keys.slots("t"))
    return count


def ids_of(slots: list[Slot]) -> list[str]:
    return [slot.id for slot in slots]


async def test_no_more_slots_are_taken_than_exist(bus: Bus) -> None:
    one, other = a_process(bus), a_process(bus)
    assert ids_of(await one.acquire("t", 3, ["a", "b"])) == ["a", "b"]
    assert ids_of(await other.acquire("t", 3, ["c", "d"])) == ["c"]
    assert await one.acquire("t", 3, ["e"]) == []
    assert ids_of(await one.acquire("another tool", 3, ["e"])) == ["e"]


async def test_a_slot_given_back_is_free(bus: Bus) -> None:
    one, other = a_process(bus), a_process(bus)
    await one.acquire("t", 1, ["a"])
    one.release("t", ["a"])
    assert ids_of(await other.acquire("t", 1, ["b"])) == ["b"]


async def test_asking_again_after_a_lost_reply_finds_the_slot_that_was_taken(bus: Bus) -> None:
    leases = a_process(bus)
    await leases.acquire("t", 2, ["a"])
    assert ids_of(await leases.acquire("t", 2, ["a", "b", "c"])) == ["a", "b"]
    assert await held_in_redis(bus) == 2


async def test_slots_of_a_dead_process_are_released(bus: Bus, frozen: SlotLeases) -> None:
    await frozen.acquire("t", 2, ["a", "b"])
    other = a_process(bus)

    async def got_both() -> bool:
        return len(await other.acquire("t", 2, ["c", "d"])) == 2

    await eventually(got_both)
    assert await held_in_redis(bus) == 2


async def test_expired_slots_are_released_while_others_are_held(bus: Bus, frozen: SlotLeases) -> None:
    other = a_process(bus)
    await other.acquire("t", 2, ["b"])
    await frozen.acquire("t", 2, ["a"])

    async def got_one() -> bool:
        return ids_of(await other.acquire("t", 2, ["c"])) == ["c"]

    await eventually(got_one)
    assert await other.acquire("t", 2, ["d"]) == []


async def test_a_slot_is_renewed_while_it_is_held(bus: Bus) -> None:
    """Again and again, and afterwards its key is gone."""
    one = a_process(bus, 0.3)
    (slot,) = await one.acquire("t", 1, ["a"])
    expiries = set()

    async def renewed_often() -> bool:
        expiries.add(await bus.batcher.submit("ZSCORE", bus.keys.slots("t"), "a"))
        return len(expiries) > 5

    await eventually(renewed_often)
    assert not slot.is_lost
    one.release("t", ["a"])
    assert await bus.batcher.submit("EXISTS", bus.keys.slots("t")) == 0


async def test_the_slots_of_an_unused_tool_leave_no_key(bus: Bus, frozen: SlotLeases) -> None:
    await frozen.acquire("t", 2, ["a"])

    async def is_gone() -> bool:
        return not await bus.batcher.submit("EXISTS", bus.keys.slots("t"))

    await eventually(is_gone)


async def test_renewal_stops_when_no_slot_is_held(bus: Bus) -> None:
    leases = a_process(bus)
    assert await leases.acquire("t", 1, ["a"])
    renewing = leases._renewing
    assert renewing is not None
    assert await leases.acquire("t", 1, ["b"]) == []
    leases.release("t", ["a"])
    await eventually(renewing.cancelled)
    assert await held_in_redis(bus) == 0


class TestAfterAFreeze:
    async def test_a_slot_that_others_have_is_not_taken_back(self, bus: Bus, frozen: SlotLeases) -> None:
        (slot,) = await frozen.acquire("t", 1, ["a"])
        other = a_process(bus)

        async def has_taken_over() -> bool:
            return bool(await other.acquire("t", 1, ["b"]))

        await eventually(has_taken_over)
        await frozen._renew("t")
        assert slot.is_lost
        assert await held_in_redis(bus) == 1

    async def test_a_slot_that_is_still_free_counts_again(self, bus: Bus) -> None:
        woken = a_process(bus)
        (slot,) = await woken.acquire("t", 1, ["a"])
        await bus.batcher.submit("DEL", bus.keys.slots("t"))
        await woken._renew("t")
        assert not slot.is_lost
        assert await a_process(bus).acquire("t", 1, ["b"]) == []

    async def test_a_slot_released_during_its_renewal_stays_free(self, bus: Bus) -> None:
        woken = a_process(bus)
        await woken.acquire("t", 2, ["a", "b"])
        renewal = asyncio.create_task(woken._renew("t"))
        await asyncio.sleep(0)
        woken._held["t"].pop("a")  # as giving it back does, and what it sends is overtaken
        await renewal
        assert await held_in_redis(bus) == 1
