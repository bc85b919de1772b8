"""The duties a reader does between reads: timers that are due, retention, consumers that are gone."""

from dataclasses import dataclass, field

from shared.bus import scripts
from shared.bus.connection import BLOCK_S
from shared.bus.redis_bus import Bus
from shared.clock import milliseconds, monotonic_s

_DUE_AT_ONCE = 100
_DUE_EVERY_S = 0.05
_RETAIN_AT_ONCE = 500
_CLEAN_UP_EVERY_S = 300.0
_CONSUMER_SILENT_MS = 3_600_000


@dataclass
class Chores:
    """Called by the reader of one partition; every process does them, and doing them twice is harmless."""

    bus: Bus
    partition: int
    stream: str
    group: str
    _retain_at: float = 0.0
    _clean_up_at: float = field(default_factory=lambda: monotonic_s() + _CLEAN_UP_EVERY_S)

    async def __call__(self) -> float:
        """Do what is due; the seconds until something may be due again."""
        now = monotonic_s()
        if now >= self._retain_at:
            self._retain_at = now + min(60.0, self.bus.settings.retention_s / 2)
            await self._retain()
        if now >= self._clean_up_at:
            self._clean_up_at = now + _CLEAN_UP_EVERY_S
            await self._remove_silent_consumers()
        return await self._move_due_timers()

    async def _move_due_timers(self) -> float:
        keys, settings = self.bus.keys, self.bus.settings
        next_ms: int = await self.bus.batcher.run(
            scripts.DUE,
            [keys.timers(self.partition), keys.timer_messages(self.partition), keys.feed(self.partition)],
            [
                keys.prefix(self.partition),
                _DUE_AT_ONCE,
                milliseconds(settings.retention_s),
                settings.feed_length,
            ],
        )
        return BLOCK_S if next_ms < 0 else max(_DUE_EVERY_S, min(BLOCK_S, next_ms / 1000))

    async def _retain(self) -> None:
        keys = self.bus.keys
        await self.bus.batcher.run(
            scripts.RETAIN,
            [
                keys.responses(self.partition),
                keys.feed(self.partition),
                keys.open_sessions(self.partition),
                keys.sessions(self.partition),
            ],
            [keys.prefix(self.partition), milliseconds(self.bus.settings.retention_s), _RETAIN_AT_ONCE],
        )

    async def _remove_silent_consumers(self) -> None:
        consumers = await self.bus.client.execute_command("XINFO", "CONSUMERS", self.stream, self.group)
        for consumer in consumers:
            if consumer["pending"] == 0 and consumer["idle"] > _CONSUMER_SILENT_MS:
                await self.bus.batcher.run(scripts.LEAVE, [self.stream], [self.group, consumer["name"]])
