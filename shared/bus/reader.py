"""Reads one stream for a group: new entries, and those whose worker went silent.

A read is never cancelled: entries of a cancelled read stay pending, unseen. It is stopped by a flag, and by
asking Redis to unblock its connection. After a read that failed, what it may have been given is read again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog
from redis.exceptions import RedisError, ResponseError

from shared.bus import scripts
from shared.bus.connection import BLOCK_S, Client, is_unavailable
from shared.bus.redis_bus import Bus
from shared.bus.room import Room
from shared.clock import milliseconds, monotonic_s

Chores = Callable[[], Awaitable[float]]
"""Small duties done between reads; returns the seconds until they want to be done again."""

_PAGE = 100
_FAKE_POLL_S = (0.0005, 0.001, 0.002, 0.005, 0.01)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a stream, handed to this process."""

    stream: str
    id: str
    fields: dict[bytes, bytes]
    deliveries: int = 1


class Reader:
    """One stream, one group, one connection."""

    def __init__(
        self,
        bus: Bus,
        stream: str,
        group: str,
        consumer: str,
        room: Room,
        take: Callable[[Entry], None],
        is_in_hand: Callable[[str, str], bool],
        chores: Chores,
    ) -> None:
        self.stream = stream
        self._bus, self._group, self._consumer, self._room = bus, group, consumer, room
        self._take, self._is_in_hand, self._chores = take, is_in_hand, chores
        self._client: Client = None
        self._client_id: int | None = None
        self._reclaim_at = 0.0
        self._chores_at = 0.0
        self._own_pending_first = False
        self._log = structlog.get_logger().bind(stream=stream)

    async def run(self) -> None:
        """Read until the room closes."""
        failures = 0
        while (places := await self._room.reserve()) > 0:
            taken = 0
            try:
                entries = await self._next(places)
                taken = len(entries)
                for entry in entries:
                    self._take(entry)
                failures = 0
            except (RedisError, OSError) as error:
                failures += 1
                await self._recover(error, failures)
            finally:
                self._room.release(places - taken)

    async def unblock(self) -> None:
        """End a read that waits. To be called after the room was closed."""
        if self._client_id is not None and not self._bus.connections.is_fake:
            try:
                other = await self._bus.connections.dedicated(self.stream)
                await other.execute_command("CLIENT", "UNBLOCK", self._client_id)
                await self._bus.connections.release(other)
            except (RedisError, OSError):
                self._log.debug("could not unblock the read; it ends by itself")

    async def _next(self, places: int) -> list[Entry]:
        now = monotonic_s()
        if now >= self._chores_at:
            self._chores_at = now + await self._chores()
        if now >= self._reclaim_at:
            self._reclaim_at = now + self._bus.settings.lease_s / 4
            if reclaimed := await self._reclaim(places):
                self._reclaim_at = now
                return reclaimed
        if self._own_pending_first:
            missed = await self._missed()
            self._own_pending_first = len(missed) > places
            if missed:
                return missed[:places]
        until_duty_s = min(self._chores_at, self._reclaim_at) - now
        return await self._read(">", places, block_s=min(BLOCK_S, max(0.001, until_duty_s)))

    async def _reclaim(self, places: int) -> list[Entry]:
        lease_ms = milliseconds(self._bus.settings.lease_s)
        taken = await self._bus.batcher.run(
            scripts.RECLAIM, [self.stream], [self._group, self._consumer, lease_ms, places]
        )
        entries = [
            Entry(self.stream, entry.decode(), dict(zip(fields[::2], fields[1::2], strict=True)), deliveries)
            for entry, deliveries, fields in taken
            if not self._is_in_hand(self.stream, entry.decode())
        ]
        if entries:
            self._log.info("took over deliveries of a silent worker", entries=len(entries))
        return entries

    async def _missed(self) -> list[Entry]:
        """What was handed to us, but never reached us."""
        missed: list[Entry] = []
        last = "0"
        while page := await self._read(last, _PAGE, block_s=0):
            last = page[-1].id
            missed += [entry for entry in page if not self._is_in_hand(self.stream, entry.id)]
        return missed

    async def _read(self, start: str, count: int, block_s: float) -> list[Entry]:
        if self._client is None:
            self._client = await self._bus.connections.dedicated(self.stream)
        if self._bus.connections.is_fake:
            return await self._poll(start, count, block_s)
        if self._client_id is None:
            self._client_id = await self._client.execute_command("CLIENT", "ID")
        command: list[Any] = ["XREADGROUP", "GROUP", self._group, self._consumer, "COUNT", count]
        if block_s and not self._room.is_closed:
            command += ["BLOCK", milliseconds(block_s)]
        return self._entries(await self._client.execute_command(*command, "STREAMS", self.stream, start))

    async def _poll(self, start: str, count: int, block_s: float) -> list[Entry]:
        """fakeredis: a blocking read with COUNT returns at once, one without loses entries; so ask and ask."""
        deadline_s, n = monotonic_s() + block_s, 0
        while True:
            reply = await self._client.execute_command(
                "XREADGROUP",
                "GROUP",
                self._group,
                self._consumer,
                "COUNT",
                count,
                "STREAMS",
                self.stream,
                start,
            )
            if (entries := self._entries(reply)) or self._room.is_closed or monotonic_s() >= deadline_s:
                return entries
            await asyncio.sleep(_FAKE_POLL_S[min(n // 20, len(_FAKE_POLL_S) - 1)])
            n += 1

    def _entries(self, reply: Any) -> list[Entry]:
        if not reply:
            return []
        (entries,) = reply.values()
        if entries and isinstance(entries[0], list):
            (entries,) = entries  # fakeredis nests them once more
        # An entry of our own pending list that was deleted since has no fields.
        return [Entry(self.stream, entry.decode(), fields) for entry, fields in entries if fields]

    async def _recover(self, error: Exception, failures: int) -> None:
        """Wait for Redis; then what the failed read may have handed over is read first."""
        if isinstance(error, ResponseError) and "NOGROUP" in str(error):
            self._log.warning("stream or group is gone; creating it again")
            await self._recreate_group()
        elif is_unavailable(error):
            if failures == 1:
                self._log.warning("reading failed; waiting for Redis", error=str(error))
        else:
            self._log.error("reading failed", error=str(error))
        self._own_pending_first = True
        self._client_id = None
        if self._client is not None:
            await self._bus.connections.release(self._client)
            self._client = None
        await asyncio.sleep(min(2.0, 0.05 * 2 ** min(failures, 6)))

    async def _recreate_group(self) -> None:
        try:
            await self._bus.ensure_groups([(self.stream, self._group)])
        except (RedisError, OSError) as error:
            self._log.warning("could not create the group", error=str(error))
