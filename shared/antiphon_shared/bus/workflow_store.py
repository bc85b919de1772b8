"""Workflows in Redis: each specification under its hash, and which of them are published."""

import asyncio
from collections.abc import Mapping

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.workflows.publication import PUBLICATION, SPECIFICATION, Publication
from antiphon_shared.workflows.specification import Specification, canonical, specification_hash

_CACHED_MAX = 64
_LIFE_S_MIN = 31 * 86_400.0
"""A run may wait so long for a person, and needs its specification after that."""


class WorkflowStore:
    """Specifications and publications of one deployment."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._cached: dict[str, Specification] = {}

    async def keep(self, specification: Specification) -> str:
        """Keep a specification for as long as a run may need it; returns its hash."""
        content_hash = specification_hash(specification)
        life_s = max(_LIFE_S_MIN, self._bus.shared_retention_s)
        await self._bus.batcher.submit(
            "SET",
            self._bus.keys.specification(content_hash),
            canonical(specification),
            "PX",
            milliseconds(life_s),
        )
        return content_hash

    async def specification(self, content_hash: str) -> Specification | None:
        """Return a specification by its hash, and have it kept on; None where it is not kept."""
        if content_hash not in self._cached:
            key = self._bus.keys.specification(content_hash)
            content = await self._bus.batcher.submit("GET", key)
            if content is None:
                return None
            if len(self._cached) >= _CACHED_MAX:
                self._cached.clear()
            self._cached[content_hash] = SPECIFICATION.read(content)
        return self._cached[content_hash]

    async def publish(self, specifications: list[Specification]) -> Publication:
        """Publish workflows beside those of other domains. Raises ConfigurationError where names clash."""
        published = (await self.published()).with_all(specifications)
        await asyncio.gather(*map(self.keep, specifications))
        await self._bus.batcher.submit(
            "SET", self._bus.keys.workflows(), PUBLICATION.write(published, FORMAT)
        )
        return published

    async def hashes(self) -> Mapping[str, str]:
        """Return the specification of each published workflow."""
        return (await self.published()).hashes

    async def published(self) -> Publication:
        """Return what is published now."""
        content = await self._bus.batcher.submit("GET", self._bus.keys.workflows())
        return Publication() if content is None else PUBLICATION.read(content)
