"""Reads that are sent when they are called."""

import asyncio

import pytest
from antiphon_shared.bus.reads import Completed, PendingRead, together


async def test_reads_called_together_need_no_tasks() -> None:
    replies = [asyncio.get_running_loop().create_future() for _ in range(2)]
    reads = together(PendingRead(replies[0], len), Completed("known"), PendingRead(replies[1], str.upper))
    for reply, value in zip(replies, ("four", "five"), strict=True):
        reply.set_result(value)
    tasks = asyncio.all_tasks()

    assert [*await reads] == [4, "known", "FIVE"]
    assert asyncio.all_tasks() == tasks


async def test_a_failed_read_cancels_the_other_ones() -> None:
    async def never_begun() -> None:
        raise AssertionError("an earlier read has failed")

    async def failing() -> None:
        raise ValueError("no such entry")

    with pytest.raises(ValueError, match="no such entry"):
        await together(failing(), never_begun())  # else: a warning, which fails the test
