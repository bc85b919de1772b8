"""A few pieces of work at a time."""

import asyncio

import pytest

from antiphon.recording.side_by_side import each, side_by_side


async def test_results_arrive_in_order_and_at_most_count_tasks_are_in_flight() -> None:
    under_way, most = 0, 0

    async def work(n: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(20 - n):  # the first take longest
            await asyncio.sleep(0)
        under_way -= 1
        if n == 7:
            raise ValueError("seven")
        return n * n

    found = [(n, future) async for n, future in side_by_side(each(list(range(20))), work, count=4)]
    assert [n for n, _ in found] == list(range(20))
    assert [future.result() for n, future in found if n != 7] == [n * n for n in range(20) if n != 7]
    with pytest.raises(ValueError, match="seven"):
        found[7][1].result()
    assert most == 4


async def test_a_caller_that_stops_early_cancels_the_tasks_in_flight() -> None:
    ended: list[int] = []

    async def work(n: int) -> None:
        try:
            if n:
                await asyncio.Event().wait()
        finally:
            ended.append(n)

    results = side_by_side(each([0, 1, 2]), work, count=3)
    assert (await anext(results))[0] == 0
    await results.aclose()
    assert sorted(ended) == [0, 1, 2]
