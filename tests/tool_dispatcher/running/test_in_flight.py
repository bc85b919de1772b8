"""Units in flight: each is handed out once, and none is left behind at any end of the batch."""

import asyncio

import pytest
from antiphon_shared.tools.calls import ToolResult

from tests.tool_dispatcher.builders import until
from tool_dispatcher.batch import Unit
from tool_dispatcher.idempotency.write import Results
from tool_dispatcher.running.in_flight import UnitsInFlight


def a_unit(number: int) -> Unit:
    return Unit(number, (number,), "look", f"key {number}")


def results(number: int) -> Results:
    return (ToolResult(index=number, call_id=f"c{number}", tool="look", status="ok"),)


async def _after(gate: asyncio.Event, number: int) -> Results:
    await gate.wait()
    return results(number)


async def _handed_out(running: UnitsInFlight, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        for unit, outcome in await running.ended():
            assert outcome == results(unit.number)
            found.append(unit.number)
    return found


async def test_units_are_handed_out_in_the_order_in_which_they_end() -> None:
    gates = [asyncio.Event() for _ in range(3)]
    async with UnitsInFlight() as running:
        for number, gate in enumerate(gates):
            running.begin(a_unit(number), _after(gate, number))
        for number in (2, 0, 1):
            gates[number].set()
            assert await _handed_out(running, 1) == [number]


async def test_units_that_end_together_are_returned_together_and_once() -> None:
    gate = asyncio.Event()
    async with UnitsInFlight() as running:
        for number in range(5):
            running.begin(a_unit(number), _after(gate, number))
        gate.set()
        assert sorted(await _handed_out(running, 5)) == [0, 1, 2, 3, 4]


async def test_an_exception_of_a_unit_is_raised_after_the_others_finish() -> None:
    gate, ended = asyncio.Event(), []

    async def fail() -> Results:
        raise LookupError("the journal cannot be read")

    async def finish() -> Results:
        await gate.wait()
        ended.append("the other")
        return results(1)

    async def run() -> None:
        async with UnitsInFlight() as running:
            running.begin(a_unit(0), fail())
            running.begin(a_unit(1), finish())
            await running.ended()

    task = asyncio.create_task(run())
    for _ in range(10):
        await asyncio.sleep(0)
    assert not task.done(), "the other is still under way"
    gate.set()
    with pytest.raises(LookupError):
        await task
    assert ended == ["the other"]


@pytest.mark.parametrize("count", [1, 3])
async def test_cancelling_the_batch_cancels_all_its_units(count: int) -> None:
    begun: list[int] = []
    cancelled: list[int] = []

    async def forever(number: int) -> Results:
        begun.append(number)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # its remaining work is waited for
            cancelled.append(number)
        return results(number)

    async def run() -> None:
        async with UnitsInFlight() as running:
            for number in range(count):
                running.begin(a_unit(number), forever(number))
            await running.ended()

    task = asyncio.create_task(run())
    await until(lambda: len(begun) == count)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(cancelled) == list(range(count))
