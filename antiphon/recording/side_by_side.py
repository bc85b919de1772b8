"""Concurrent work on a few items at a time, so that reads and writes share round trips."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
ResultT = TypeVar("ResultT")

CONCURRENCY = 6
"""The number of items at a time; each has a page or two in memory."""


async def side_by_side(
    items: AsyncIterable[T], work: Callable[[T], Awaitable[ResultT]], count: int = CONCURRENCY
) -> AsyncGenerator[tuple[T, asyncio.Future[ResultT]]]:
    """Yield each item with its finished future, in order. Closing the generator cancels the work in flight."""
    in_flight: deque[tuple[T, asyncio.Future[ResultT]]] = deque()
    try:
        async for item in items:
            in_flight.append((item, asyncio.ensure_future(work(item))))
            if len(in_flight) >= count:
                await asyncio.wait([in_flight[0][1]])
                yield in_flight.popleft()
        while in_flight:
            await asyncio.wait([in_flight[0][1]])
            yield in_flight.popleft()
    finally:
        for _, future in in_flight:
            future.cancel()
        await asyncio.gather(*(future for _, future in in_flight), return_exceptions=True)


async def each(items: list[T]) -> AsyncGenerator[T]:
    """Yield the items of a list, as an asynchronous generator."""
    for item in items:
        yield item
