"""Reads that are sent when they are called: simultaneous calls share a round trip, without a task for each."""

from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from antiphon_shared.bus.batcher import Batcher

__all__ = ["Completed", "PendingRead", "redis_time_ms", "together"]

T = TypeVar("T")

if TYPE_CHECKING:
    from asyncio import gather as together
else:

    async def together(*reads):
        """Return the results of reads that were called together, in order; like `gather`, without its tasks."""
        left = iter(reads)
        try:
            return [await read for read in left]
        finally:
            for read in left:  # after a failed read, the rest is closed
                if isinstance(read, Coroutine):
                    read.close()


class PendingRead(Generic[T]):
    """A read that was sent. Awaiting it returns the reply, converted by `read`."""

    __slots__ = ("_read", "_reply")

    def __init__(self, reply: Awaitable[Any], read: Callable[[Any], T]) -> None:
        self._reply, self._read = reply, read

    def __await__(self) -> Generator[Any, None, T]:
        return self._read((yield from self._reply.__await__()))


class Completed(Generic[T]):
    """An awaitable of a value, in place of a read that is not needed."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, None, T]:
        return self._value
        yield


def redis_time_ms(batcher: Batcher) -> Awaitable[int]:
    """Return the time of Redis's clock, in Unix milliseconds."""
    return PendingRead(batcher.submit("TIME"), _milliseconds)


def _milliseconds(time: list[bytes]) -> int:
    seconds, microseconds = time
    return int(seconds) * 1000 + int(microseconds) // 1000
