"""The Redis hash that holds the breakers, and changes to them by hand.

Redis only compares and sets states; breakers/breaker.py interprets them.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from antiphon_shared.breakers.breaker import BreakerState
from antiphon_shared.breakers.table import BREAKERS_MAX, next_to_drop, read_state, write_state
from antiphon_shared.bus import scripts
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.reads import redis_time_ms, together
from antiphon_shared.process.errors import AntiphonError

_TRIES_MAX = 20


class BreakerSnapshot(NamedTuple):
    """All breakers as stored, and Redis's clock in Unix seconds."""

    raw: dict[str, bytes]
    now: float

    @property
    def states(self) -> dict[str, BreakerState]:
        return {name: read_state(raw) for name, raw in self.raw.items()}


class Swap(NamedTuple):
    """The result of a change; `raw` is the state that is stored now."""

    outcome: Literal["done", "changed", "full"]
    raw: bytes


class BreakersBusy(AntiphonError):
    """A breaker could not be changed by hand."""

    code = "breakers_busy"


class BreakerStore:
    """The breakers of a deployment. Every method raises RedisError."""

    def __init__(self, batcher: Batcher, keys: Keys) -> None:
        self._batcher, self._key = batcher, keys.breakers()

    async def look(self) -> BreakerSnapshot:
        """Return all breakers."""
        raw_states, now_ms = await together(
            self._batcher.submit("HGETALL", self._key), redis_time_ms(self._batcher)
        )
        raw = {name.decode("utf-8", "surrogateescape"): state for name, state in raw_states.items()}
        return BreakerSnapshot(raw, now_ms / 1000)

    async def swap(self, name: str, read: bytes, new: bytes) -> Swap:
        """Store `new` in place of `read`; an empty `new` deletes. A full hash drops its oldest closed breaker."""
        swap = await self._swap(name, read, new)
        for _ in range(_TRIES_MAX):
            if swap.outcome != "full":
                break
            snapshot = await self.look()
            dropped = next_to_drop(snapshot.states)
            if dropped is None:
                break
            await self._swap(dropped, snapshot.raw[dropped], b"")
            swap = await self._swap(name, read, new)
        return swap

    async def set_by_hand(self, name: str, state: Callable[[float], BreakerState]) -> bool:
        """Set the state to `state(now)` on Redis's clock; return whether the stored state has changed.

        Raises BreakersBusy when the hash is full, or when other processes keep changing the breaker.
        """
        snapshot = await self.look()
        raw, new = snapshot.raw.get(name, b""), write_state(state(snapshot.now))
        for _ in range(_TRIES_MAX):
            swap = await self.swap(name, raw, new)
            if swap.outcome == "done":
                return raw != new
            if swap.outcome == "full":
                raise BreakersBusy(
                    f"{name}: the limit of {BREAKERS_MAX} breakers that are not closed is reached.",
                    hint="Close one of those in `antiphon breakers list`.",
                )
            raw = swap.raw
        raise BreakersBusy(f"{name}: other processes kept changing it.", hint="Try again.")

    async def _swap(self, name: str, read: bytes, new: bytes) -> Swap:
        # `surrogateescape`, so that a name written by a foreign client is deleted exactly as it was read.
        field = name.encode("utf-8", "surrogateescape")
        outcome, raw = await self._batcher.run(
            scripts.BREAKERS, [self._key], [field, read, new, BREAKERS_MAX]
        )
        return Swap(outcome.decode(), raw)
