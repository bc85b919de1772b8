"""The new entries of a session's streams."""

import asyncio
from heapq import merge
from typing import Any

from antiphon_shared.bus.connection import BLOCK_S, UNAVAILABLE, Client, retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.stream_ids import order_of

PATIENCE_S = 60.0
"""The time to retry while Redis is unavailable."""

Entry = tuple[str, str, dict[bytes, bytes]]
"""Stream, id of the entry, and fields."""


class Tail:
    """A reader of streams that share a hash tag, from their beginning on, over its own connection.

    It reconnects after a lost connection, and continues after the last returned entry.
    """

    def __init__(self, bus: Bus, *streams: str) -> None:
        self._bus = bus
        self._last = dict.fromkeys(streams, "0-0")
        self._client: Client = None

    async def read(self) -> list[Entry]:
        """Return the new entries of all streams, oldest first; an empty list if no entry arrived within a second.

        Entries of the same millisecond are in the order in which the streams were given. Raises
        RedisUnavailable if Redis is unavailable for a minute.
        """
        reply = await retry_while_unavailable("follow a session", self._read, PATIENCE_S)
        entries = list(merge(*map(_entries_of, reply.items()), key=_age))
        for stream, entry, _ in entries:
            self._last[stream] = entry
        return entries

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await self._bus.connections.release(client)

    async def _read(self) -> dict[Any, Any]:
        if self._client is None:
            self._client = await self._bus.connections.dedicated(next(iter(self._last)))
        # Without COUNT, all streams are read up to the same time, and can be merged by age.
        command = ("XREAD", "BLOCK", milliseconds(BLOCK_S), "STREAMS", *self._last, *self._last.values())
        reading = asyncio.ensure_future(self._client.execute_command(*command))
        try:
            # The library waits with `asyncio.wait_for`, which on Python 3.11 may swallow a cancellation.
            reply = await asyncio.shield(reading)
        except (asyncio.CancelledError, *UNAVAILABLE):
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await self.close()
            raise
        return reply or {}


def _entries_of(stream_and_entries: tuple[Any, Any]) -> list[Entry]:
    stream, entries = stream_and_entries
    if entries and not isinstance(entries[0][0], bytes):
        (entries,) = entries  # fakeredis nests them once more
    name = stream.decode() if isinstance(stream, bytes) else stream
    return [(name, entry.decode(), fields) for entry, fields in entries]


def _age(entry: Entry) -> tuple[int, int]:
    return order_of(entry[1])
