"""Places, turns, and running alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from antiphon_shared.bus.concurrency import ConcurrencyLimit, Gate


async def test_a_reader_takes_its_share_and_waits_when_nothing_is_free() -> None:
    limit = ConcurrencyLimit(4, readers=2)
    assert [await limit.reserve(), await limit.reserve()] == [2, 2]
    waiting = asyncio.create_task(limit.reserve())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert limit.has_waiting_reader
    assert not waiting.done()
    limit.release()
    assert await waiting == 1
    assert not limit.has_waiting_reader


async def test_readers_take_turns_when_slots_are_fewer_than_readers() -> None:
    limit, turns = ConcurrencyLimit(1, readers=3), []

    async def reader(name: str) -> None:
        while await limit.reserve():
            turns.append(name)
            await asyncio.sleep(0)
            limit.release()
            if len(turns) == 30:
                limit.close()

    await asyncio.gather(*(reader(name) for name in "abc"))
    assert min(turns.count(name) for name in "abc") >= 9
    assert limit.free == 1


async def test_a_free_slot_is_taken_at_once_unless_a_reader_waits() -> None:
    limit = ConcurrencyLimit(3, readers=2)
    assert await limit.reserve() == 1
    assert [limit.take_free() for _ in range(3)] == [True, True, False]
    waiting = asyncio.create_task(limit.reserve())
    await asyncio.sleep(0)
    limit.release()
    assert not limit.take_free(), "it is the reader's"
    assert await waiting == 1
    limit.release()
    assert limit.take_free()
    limit.release()
    limit.close()
    assert not limit.take_free()


async def test_a_closed_limit_admits_no_call_and_keeps_none_waiting() -> None:
    limit = ConcurrencyLimit(1, readers=1)
    await limit.reserve()
    waiting = asyncio.create_task(limit.reserve())
    sleeping = asyncio.create_task(limit.pause(3600))
    await asyncio.sleep(0)
    limit.close()
    assert await waiting == 0
    await sleeping
    limit.release()
    assert await limit.reserve() == 0


async def test_a_reader_cancelled_while_waiting_occupies_no_slot() -> None:
    limit = ConcurrencyLimit(1, readers=1)
    await limit.reserve()
    waiting = asyncio.create_task(limit.reserve())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    limit.release()
    assert await limit.reserve() == 1


async def test_an_exclusive_holder_waits_for_the_others_and_excludes_them() -> None:
    gate, order = Gate(), []

    async def together(name: str) -> None:
        async with together_in(gate):
            order.append(f"+{name}")
            await asyncio.sleep(0)
            order.append(f"-{name}")

    async def alone(name: str) -> None:
        async with gate.exclusive():
            order.append(f"+{name}")
            await asyncio.sleep(0)
            order.append(f"-{name}")

    await asyncio.gather(together("a"), together("b"), alone("X"), alone("Y"), together("c"))
    for name in "XY":
        at = order.index(f"+{name}")
        assert order[at + 1] == f"-{name}"
        inside = [step for step in order[:at] if step[1] in "abc"]
        assert sum(1 if step[0] == "+" else -1 for step in inside) == 0


@pytest.mark.parametrize("is_alone", [True, False])
async def test_a_failure_or_cancellation_inside_the_gate_leaves_it_open(is_alone: bool) -> None:
    gate = Gate()
    with pytest.raises(ValueError, match="inside"):
        async with gate.exclusive() if is_alone else together_in(gate):
            raise ValueError("inside")
    inside = asyncio.Event()

    async def stay() -> None:
        async with gate.exclusive() if is_alone else together_in(gate):
            inside.set()
            await asyncio.sleep(3600)

    staying = asyncio.create_task(stay())
    await inside.wait()
    waiting = asyncio.create_task(_enter(gate))
    await asyncio.sleep(0)
    staying.cancel()
    await asyncio.wait_for(waiting, 60)


async def _enter(gate: Gate) -> None:
    async with gate.exclusive():
        pass
    async with together_in(gate):
        pass


@asynccontextmanager
async def together_in(gate: Gate) -> AsyncIterator[None]:
    await gate.enter()
    try:
        yield
    finally:
        gate.leave()
