"""The tool catalogue for new sessions: the one that a running dispatcher has published."""

from collections.abc import Awaitable

from antiphon_shared.bus.connection import is_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process import health
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.relevance import BUILT_INS
from redis.exceptions import ResponseError

_ALIVE_FOR_S = 2.0
"""A dispatcher that was alive counts as alive for this long."""


class CurrentCatalogue:
    """The newest catalogue in Redis, if a dispatcher is running."""

    def __init__(self, bus: Bus, is_always_served: bool = False) -> None:
        """Take the bus. With `is_always_served`, as in a replay, no dispatcher has to run."""
        self._bus = bus
        self._alive_until_s = float("inf") if is_always_served else 0.0

    def of_running_dispatcher(self) -> Awaitable[str | None]:
        """Return the hash of the catalogue; None until there is one and a dispatcher is running."""
        current = self._bus.current_catalogue()
        return current if monotonic_s() < self._alive_until_s else self._if_served(current)

    async def last_with_tools(self) -> str | None:
        """Return the hash of the catalogue of a dispatcher that is gone; None if it offered no tools.

        Calls of its tools wait for the next dispatcher.
        """
        content_hash = await self._bus.current_catalogue()
        catalogue = await self._bus.catalogue(content_hash) if content_hash else None
        is_useful = catalogue is not None and any(one.name not in BUILT_INS for one in catalogue.tools)
        return content_hash if is_useful else None

    async def _if_served(self, current: Awaitable[str | None]) -> str | None:
        content_hash = await current
        if content_hash is None or not await self.is_served():
            return None
        self._alive_until_s = monotonic_s() + _ALIVE_FOR_S
        return await self._bus.current_catalogue()  # a dispatcher publishes before it counts as running

    async def is_served(self) -> bool:
        """Return whether a dispatcher is running, or may be."""
        try:
            return any(worker.is_alive for worker in await health.workers(self._bus, "tool_dispatcher"))
        except ResponseError as error:  # without permission to read heartbeats, one may be running
            if is_unavailable(error):
                raise
            return True
