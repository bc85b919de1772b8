"""The slots that this process holds in Redis: acquired, renewed while held, released.

A slot is a member of a sorted set and expires unless it is renewed, so the slots of a killed process become
free. If a process is suspended for longer than a lease, other processes acquire its slots while its calls still
run. A lease cannot prevent that; a service that must never receive one call too many has to count its calls.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass

import structlog
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.scripts import script_of
from antiphon_shared.bus.wire import Argument
from antiphon_shared.process.clock import milliseconds, monotonic_s
from redis.exceptions import RedisError

_ACQUIRE = script_of(__name__, "acquire")


@dataclass(eq=False, slots=True)
class Slot:
    """The right to have one call of a tool in flight."""

    tool: str
    id: str
    acquired_s: float
    """When this process acquired it, on the monotonic clock."""
    is_lost: bool = False
    """Whether it expired, so that another call may have acquired it."""


class SlotLeases:
    """The slots held by this process; one task renews all of them, every third of `lease_s`."""

    def __init__(self, batcher: Batcher, keys: Keys, lease_s: float) -> None:
        self._batcher, self._keys, self._lease_s = batcher, keys, lease_s
        self._held: dict[str, dict[str, Slot]] = defaultdict(dict)
        self._bounds: dict[str, int] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def acquire(self, tool: str, max_concurrency: int, ids: list[str]) -> list[Slot]:
        """Acquire slots for as many of `ids` as there are free slots. Raises RedisError.

        After an error the ids may hold slots: request the same ids again, or release them.
        """
        self._bounds[tool] = max_concurrency
        slots = [Slot(tool, id, monotonic_s()) for id in await self._holding(tool, ids)]
        if slots:
            self._held[tool].update((slot.id, slot) for slot in slots)
            self._renewing = self._renewing or asyncio.create_task(self._renew_all())
        return slots

    def release(self, tool: str, ids: list[str]) -> None:
        """Release the slots that these ids hold, if any. A slot whose release does not reach Redis expires."""
        held = self._held[tool]
        for id in ids:
            held.pop(id, None)
        if not held:
            del self._held[tool]
        if not self._held and self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None
        self._batcher.submit("ZREM", self._keys.slots(tool), *ids)

    async def _renew_all(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / 3)
            await asyncio.gather(*(self._renew(tool) for tool in list(self._held)))

    async def _renew(self, tool: str) -> None:
        log, ids = structlog.get_logger().bind(tool=tool), list(self._held.get(tool, ()))
        try:
            lost_ids = {*ids}.difference(await self._holding(tool, ids))
        except RedisError as error:
            log.warning("slots_not_renewed", error=str(error))
            return
        held = self._held.get(tool, {})
        for slot in held.values():
            if slot.id in lost_ids and not slot.is_lost:
                log.warning("slot_lost", max_concurrency=self._bounds[tool])
            slot.is_lost = slot.id in lost_ids
        if released := [id for id in ids if id not in held]:
            # They were released while the renewal was in flight, which may have restored them.
            self.release(tool, released)

    async def _holding(self, tool: str, ids: list[str]) -> list[str]:
        """Return those of `ids` that hold a slot now, as far as there are free ones. Raises RedisError."""
        arguments: list[Argument] = [self._bounds[tool], milliseconds(self._lease_s), *ids]
        holding: list[bytes] = await self._batcher.run(_ACQUIRE, [self._keys.slots(tool)], arguments)
        return [id.decode() for id in holding]
