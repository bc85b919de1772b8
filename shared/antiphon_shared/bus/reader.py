"""The reader of one stream for a group. It reads new entries, and reclaims entries of workers that have disappeared.

A read is never cancelled, as its entries would stay pending, unseen. A flag stops the reader, and Redis unblocks its
connection on request. After a failed read, the entries that it may have received are read again.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import structlog
from redis.exceptions import OutOfMemoryError, RedisError, ResponseError

from antiphon_shared import faults
from antiphon_shared.bus import scripts
from antiphon_shared.bus.concurrency import ConcurrencyLimit
from antiphon_shared.bus.connection import BLOCK_S, Client, is_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.timers import Chore
from antiphon_shared.bus.wire import Argument, Command, Wire
from antiphon_shared.process.clock import milliseconds, monotonic_s

EXCLUSIVE_FROM_DELIVERY = 3
"""The delivery from which on an entry runs alone, as it may have killed its earlier workers."""

_PENDING_MAX = 10_000
_CROWDED_BLOCK_S = 0.02
_FAKE_POLL_S = (0.0005, 0.001, 0.002, 0.005, 0.01)


class Entry(NamedTuple):
    """One entry of a stream, delivered to this process."""

    stream: str
    id: str
    fields: dict[bytes, bytes]
    deliveries: int = 1
    is_taken_over: bool = False
    """Whether any worker had the entry before; a delivery that was handed back is not counted."""

    @property
    def content(self) -> bytes:
        """Return the event as received; for an entry without one, all its fields as JSON."""
        if (event := self.fields.get(b"event")) is not None:
            return event
        return json.dumps({_text(name): _text(value) for name, value in self.fields.items()}).encode()


class Reader:
    """The reader of one stream for one group, over one connection."""

    def __init__(
        self,
        bus: Bus,
        stream: str,
        group: str,
        consumer: str,
        *,
        limit: ConcurrencyLimit,
        take: Callable[[Entry], None],
        in_flight: Callable[[str], list[str]],
        chores: Chore,
    ) -> None:
        self.stream, self.group, self.consumer, self.limit, self.take = stream, group, consumer, limit, take
        self._bus, self._in_flight, self._chores = bus, in_flight, chores
        self._client: Client = None
        self._wire: Wire | None = None
        self._client_id: int | None = None
        self._reclaim_at = 0.0
        self._chores_at = 0.0
        self._has_group = False
        self._own_pending_first = False
        self._log = structlog.get_logger().bind(stream=stream)

    async def run(self) -> None:
        """Read until `limit` is closed."""
        failures = 0
        while (slots := await self.limit.reserve()) > 0:
            untaken = slots
            try:
                for entry in await self._next(slots):
                    self.take(entry)
                    untaken -= 1
                failures = 0
            except Exception as error:  # noqa: BLE001  # if the reader ended, its stream would have no reader
                failures += 1
                await self._recover(error, failures)
            finally:
                self.limit.release(untaken)
        if self._wire is not None:
            await self._wire.close()

    def look_again(self) -> None:
        """Let the next read begin with entries that were delivered to this consumer and never reached it."""
        self._own_pending_first = True

    async def unblock(self) -> None:
        """End a blocked read, after `limit` was closed."""
        if self._client_id is not None and not self._bus.connections.is_fake:
            try:
                other = await self._bus.connections.dedicated(self.stream)
                try:
                    await other.execute_command("CLIENT", "UNBLOCK", self._client_id)
                finally:
                    await self._bus.connections.release(other)
            except (RedisError, OSError):
                self._log.debug("read_not_unblocked")

    async def _next(self, slots: int) -> list[Entry]:
        if not self._has_group:
            with contextlib.suppress(OutOfMemoryError):  # an existing group can be read nevertheless
                await self._bus.ensure_groups([(self.stream, self.group)])
            self._has_group = True
        now = monotonic_s()
        if now >= self._chores_at:
            self._chores_at = now + await self._chores()
        if now >= self._reclaim_at:
            self._reclaim_at = now + self._bus.settings.lease_s / 4
            if reclaimed := await self._reclaim(slots):
                await faults.pass_point("reader.reclaimed")
                self._reclaim_at = now
                return reclaimed
        if self._own_pending_first:
            missed = await self._missed()
            self._own_pending_first = len(missed) > slots
            if missed:
                return missed[:slots]
        until_duty_s = min(self._chores_at, self._reclaim_at) - now
        await faults.pass_point("reader.read.before")
        entries = await self._read(slots, min(self._block_s_max, max(0.001, until_duty_s)))
        if entries:
            await faults.pass_point("reader.read.after")
        return entries

    @property
    def _block_s_max(self) -> float:
        return _CROWDED_BLOCK_S if self.limit.has_waiting_reader else BLOCK_S

    async def _reclaim(self, slots: int) -> list[Entry]:
        lease_ms = milliseconds(self._bus.settings.lease_s)
        arguments: list[Argument] = [
            self.group,
            self.consumer,
            lease_ms,
            slots,
            EXCLUSIVE_FROM_DELIVERY - 1,
            *self._in_flight(self.stream),
        ]
        entries = self._redelivered(await self._bus.batcher.run(scripts.RECLAIM, [self.stream], arguments))
        if entries:
            self._log.info("deliveries_reclaimed", entries=len(entries))
        return entries

    async def _missed(self) -> list[Entry]:
        """Return the entries that were delivered to this consumer but never reached it."""
        arguments: list[Argument] = [self.group, self.consumer, _PENDING_MAX, EXCLUSIVE_FROM_DELIVERY - 1]
        entries = self._redelivered(await self._bus.batcher.run(scripts.MISSED, [self.stream], arguments))
        in_flight = set(self._in_flight(self.stream))
        return [entry for entry in entries if entry.id not in in_flight]

    def _redelivered(self, reply: list[Any]) -> list[Entry]:
        return [
            Entry(
                self.stream,
                entry.decode(),
                dict(zip(fields[::2], fields[1::2], strict=True)),
                deliveries,
                True,
            )
            for entry, deliveries, fields in reply
        ]

    async def _read(self, count: int, block_s: float) -> list[Entry]:
        if self._client is None:
            self._client = await self._bus.connections.dedicated(self.stream)
        command: list[Any] = ["XREADGROUP", "GROUP", self.group, self.consumer, "COUNT", count]
        streams = ["STREAMS", self.stream, ">"]
        if self._bus.connections.is_fake:
            return await self._poll([*command, *streams], block_s)
        if self._wire is None:
            self._wire = Wire(self._client, "redis.read.sent")
            self._client_id = await self._ask(("CLIENT", "ID"))
        if not self.limit.is_closed:
            command += ["BLOCK", milliseconds(block_s)]
        return self._entries(await self._ask((*command, *streams)))

    async def _ask(self, command: Command) -> Any:
        assert self._wire is not None, "connected before the first command"
        (reply,) = await self._wire.exchange([command])
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def _poll(self, command: list[Any], block_s: float) -> list[Entry]:
        """Poll fakeredis, whose blocking reads return at once with COUNT, and lose entries without it."""
        deadline_s, n = monotonic_s() + block_s, 0
        while True:
            entries = self._entries(await self._client.execute_command(*command))
            if entries or self.limit.is_closed or monotonic_s() >= deadline_s:
                return entries
            await asyncio.sleep(_FAKE_POLL_S[min(n // 20, len(_FAKE_POLL_S) - 1)])
            n += 1

    def _entries(self, reply: Any) -> list[Entry]:
        if not reply:
            return []
        (entries,) = reply.values()
        if entries and isinstance(entries[0], list):
            (entries,) = entries  # fakeredis nests them once more
        return [Entry(self.stream, entry.decode(), fields) for entry, fields in entries]

    async def _recover(self, error: Exception, failures: int) -> None:
        """Wait for Redis, and let the next read begin with entries that the failed one may have received."""
        if isinstance(error, ResponseError) and "NOGROUP" in str(error):
            self._log.warning("stream_recreated")
        elif is_unavailable(error):
            if failures == 1:
                self._log.warning("read_waiting_for_redis", error=str(error))
            # First, live workers must be able to renew their leases, as no worker could while Redis was unavailable.
            self._reclaim_at = monotonic_s() + self._bus.settings.lease_s / 2
        elif failures == 1 or failures % 30 == 0:
            self._log.error("read_failed", failures=failures, exc_info=error)
        self._has_group = False
        self._own_pending_first = True
        self._client_id = None
        if self._wire is not None:
            await self._wire.close()
            self._wire = None
        if self._client is not None:
            await self._release(self._client)
            self._client = None
        await self.limit.pause(min(2.0, 0.05 * 2 ** min(failures, 6)))

    async def _release(self, client: Client) -> None:
        try:
            await self._bus.connections.release(client)
        except (RedisError, OSError):
            self._log.debug("connection_not_closed")


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
