"""Workflows in Redis: each specification under its hash, and which of them are published."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.as_tool import as_tool
from antiphon_shared.workflows.publication import PUBLICATION, SPECIFICATION, Publication
from antiphon_shared.workflows.specification import Specification, canonical, specification_hash

_CACHED_MAX = 64
_LIFE_S_MIN = 31 * 86_400.0
"""A run may wait so long for a person, and needs its specification after that."""


@dataclass(slots=True)
class _Offered:
    """A catalogue with workflows, and when it is to be kept anew."""

    catalogue: Catalogue
    content_hash: str = ""
    due_s: float = 0.0


class WorkflowStore:
    """Specifications and publications of one deployment."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._cached: dict[str, Specification] = {}
        self._offered: dict[Any, _Offered] = {}

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
            content = await self._bus.specification(content_hash)
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

    async def offered(self, content_hash: str, catalogue: Catalogue) -> tuple[str, Catalogue]:
        """Return a catalogue with the published workflows as tools, and the hash that it is kept under."""
        published = await self.published()
        if not published.workflows:
            return content_hash, catalogue
        key = (content_hash, tuple(sorted(published.hashes.items())))
        if key not in self._offered:
            tools = [*catalogue.tools]
            for name, one in published.workflows.items():
                specification = await self.specification(one.specification)
                tool = as_tool(specification, name, catalogue) if specification else None
                if tool is not None and tool.name not in catalogue.by_name:
                    tools.append(tool)
            if len(self._offered) >= _CACHED_MAX:
                self._offered.clear()
            self._offered[key] = _Offered(
                Catalogue(tools=tuple(tools), default_scopes=catalogue.default_scopes)
            )
        offered = self._offered[key]
        if monotonic_s() >= offered.due_s:
            offered.content_hash = await self._bus.keep_catalogue(offered.catalogue)
            offered.due_s = monotonic_s() + self._bus.shared_retention_s / 4
        return offered.content_hash, offered.catalogue

    async def hashes(self) -> Mapping[str, str]:
        """Return the specification of each published workflow."""
        return (await self.published()).hashes

    async def published(self) -> Publication:
        """Return what is published now."""
        content = await self._bus.batcher.submit("GET", self._bus.keys.workflows())
        return Publication() if content is None else PUBLICATION.read(content)
