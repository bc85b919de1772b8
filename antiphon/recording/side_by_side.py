"""A few pieces of work at a time: reads and writes begun together share their round trips."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
ResultT = TypeVar("ResultT")

SIDE_BY_SIDE = 6
"""Few, as each holds a page or two in memory."""


async def side_by_side(
    items: AsyncIterable[T], work: Callable[[T], Awaitable[ResultT]], count: int = SIDE_BY_SIDE
) -> AsyncGenerator[tuple[T, asyncio.Future[ResultT]]]:
    """Yield each item with its finished future, in order. Closing the generator cancels the work in flight."""
    under_way: deque[tuple[T, asyncio.Future[ResultT]]] = deque()
    try:
        async for item in items:
            under_way.append((item, asyncio.ensure_future(work(item))))
            if len(under_way) >= count:
                await asyncio.wait([under_way[0][1]])
                yield under_way.popleft()
        while under_way:
            await asyncio.wait([under_way[0][1]])
            yield under_way.popleft()
    finally:
        for _, future in under_way:
            future.cancel()
        await asyncio.gather(*(future for _, future in under_way), return_exceptions=True)


async def each(items: list[T]) -> AsyncGenerator[T]:
    """Yield the items of a list, as an asynchronous generator."""
    for item in items:
        yield item
