"""The duties of a reader between reads: move due timers, drop expired data, remove silent consumers.

Only the component that keeps the partitions has the duties of timers and retention, as it alone may write to every
inbox.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from redis.exceptions import ResponseError

from antiphon_shared import faults
from antiphon_shared.bus import scripts
from antiphon_shared.bus.connection import BLOCK_S, is_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import milliseconds, monotonic_s

_DUE_AT_ONCE = 100
_DUE_EVERY_S = (0.05, 0.25)
"""The shortest and longest pause between two checks, so that the timers of other processes are little late."""
_RETAIN_AT_ONCE = 500
_SWEEP_AT_ONCE, _SWEEP_EVERY_S = 500, 10.0
"""The number of open sessions checked in one step, and the pause between two steps."""

_CLOSING_MS_MAX = 60_000
"""The time after which an answered session counts as over, as the event that closes it is lost."""

Chore = Callable[[], Awaitable[float]]
"""A duty between reads; returns the seconds until it is due again."""


@dataclass
class Chores:
    """The duties of a reader that keeps its partition; they are safe to repeat."""

    bus: Bus
    partition: int
    clean_up: Chore
    _retain_at: float = 0.0
    _sweep_at: float = 0.0
    _swept: int = 0
    """The number of sessions checked in this pass that remain open."""

    async def __call__(self) -> float:
        """Do the due duties; return the seconds until the next may be due."""
        now = monotonic_s()
        try:
            if now >= self._retain_at:
                self._retain_at = now + min(60.0, self.bus.settings.retention_s / 2)
                if await self._retain() >= _RETAIN_AT_ONCE:
                    self._retain_at = now  # there may be more
            if now >= self._sweep_at:
                self._sweep_at = now + _SWEEP_EVERY_S
                await self._sweep()
            await self.clean_up()
            return await self._move_due_timers()
        except ResponseError as error:
            if is_unavailable(error) or "NOGROUP" in str(error):
                raise
            # A key with foreign content must not stop the reader.
            structlog.get_logger().error("background_duty_failed", partition=self.partition, error=str(error))
            return BLOCK_S

    async def _move_due_timers(self) -> float:
        keys, settings = self.bus.keys, self.bus.settings
        await faults.pass_point("timers.before")
        next_ms: int = await self.bus.batcher.run(
            scripts.DUE,
            [keys.timers(self.partition), keys.timer_messages(self.partition), keys.feed(self.partition)],
            [
                keys.prefix(self.partition),
                _DUE_AT_ONCE,
                settings.retention_ms,
                settings.feed_length,
            ],
        )
        await faults.pass_point("timers.after")
        shortest_s, longest_s = _DUE_EVERY_S
        return longest_s if next_ms < 0 else max(shortest_s, min(longest_s, next_ms / 1000))

    async def _retain(self) -> int:
        """Drop sessions that have outlived their retention; return their number."""
        keys = self.bus.keys
        await faults.pass_point("retention.before")
        dropped: int = await self.bus.batcher.run(
            scripts.RETAIN,
            [
                keys.responses(self.partition),
                keys.feed(self.partition),
                keys.open_sessions(self.partition),
                keys.sessions(self.partition),
            ],
            [keys.prefix(self.partition), milliseconds(self.bus.settings.retention_s), _RETAIN_AT_ONCE],
        )
        return dropped

    async def _sweep(self) -> None:
        """Remove sessions that are over or do not exist from the open ones, so that their slots become free."""
        keys = self.bus.keys
        removed, stay = await self.bus.batcher.run(
            scripts.SWEEP,
            [keys.open_sessions(self.partition)],
            [keys.prefix(self.partition), self._swept, _SWEEP_AT_ONCE, _CLOSING_MS_MAX],
        )
        self._swept = self._swept + stay if removed + stay == _SWEEP_AT_ONCE else 0
        if removed:
            structlog.get_logger().warning(
                "admission_slots_recovered", partition=self.partition, gone=removed
            )


@dataclass
class CleanUp:
    """The duty to remove consumers of a group that have long been silent and hold no entry."""

    bus: Bus
    stream: str
    group: str
    silent_s: float = 3_600.0
    every_s: float = 300.0
    _due_at: float | None = None

    async def __call__(self) -> float:
        now = monotonic_s()
        if self._due_at is None:
            self._due_at = now + self.every_s
        if now >= self._due_at:
            self._due_at = now + self.every_s
            await self._remove_silent_consumers()
        return BLOCK_S

    async def _remove_silent_consumers(self) -> None:
        for listed in await self.bus.batcher.submit("XINFO", "CONSUMERS", self.stream, self.group):
            # Redis names the fields in bytes, fakeredis in text.
            consumer = {name.decode() if isinstance(name, bytes) else name: listed[name] for name in listed}
            if not consumer["pending"] and consumer["idle"] > self.silent_s * 1000:
                await self.bus.batcher.run(scripts.LEAVE, [self.stream], [self.group, consumer["name"]])
