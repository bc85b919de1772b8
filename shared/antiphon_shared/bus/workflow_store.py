"""The workflows in Redis: each specification by its hash, and the publications."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence

import structlog

from antiphon_shared.bus.reads import PendingRead
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Argument
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.publication import (
    PUBLISHED_DOMAIN,
    SPECIFICATION,
    Publication,
    PublishedDomain,
    published,
)
from antiphon_shared.workflows.specification import Specification, canonical, specification_hash

_CACHED_MAX = 64
_LIFE_S_MIN = 31 * 86_400.0
"""Longer than a run may wait for a person, as it needs its specification after that."""


class WorkflowStore:
    """The specifications and publications of one deployment."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._cached: dict[str, Specification] = {}

    async def store(self, specification: Specification) -> str:
        """Store a specification for as long as a run may need it; return its hash."""
        content_hash = specification_hash(specification)
        key = self._bus.keys.specification(content_hash)
        await self._bus.batcher.submit("SET", key, canonical(specification), "NX", "PX", self._life_ms())
        await self.keep_on([content_hash])
        return content_hash

    async def keep_on(self, hashes: Iterable[str], more_s: float = 0.0) -> None:
        """Extend the life of stored specifications to that of newly stored ones, plus `more_s`."""
        life_ms = self._life_ms(more_s)
        extending = (
            self._bus.batcher.submit("PEXPIRE", self._bus.keys.specification(one), life_ms, "GT")
            for one in hashes
        )
        await asyncio.gather(*extending)

    async def specification(self, content_hash: str) -> Specification | None:
        """Return a specification by its hash, and extend its life; None if it is not stored."""
        if content_hash not in self._cached:
            content = await self._bus.specification(content_hash)
            if content is None:
                return None
            await self.keep_on([content_hash])
            if len(self._cached) >= _CACHED_MAX:
                self._cached.clear()
            self._cached[content_hash] = SPECIFICATION.read(content)
        return self._cached[content_hash]

    async def publish(self, specifications: Sequence[Specification]) -> Publication:
        """Publish workflows, which replace those of their domains. Raises ConfigurationError if names clash."""
        publication = (await self.published()).with_all(specifications)
        await asyncio.gather(*map(self.store, specifications))
        fields: list[Argument] = []
        for one in specifications:
            fields += [one.domain, PUBLISHED_DOMAIN.write(published(one), FORMAT)]
        if fields:
            await self._bus.batcher.submit("HSET", self._bus.keys.workflows(), *fields)
        return publication

    async def restore(self, specifications: Sequence[Specification]) -> None:
        """Publish workflows that Redis has lost again; an existing domain stays unchanged."""
        for one in specifications:
            content = PUBLISHED_DOMAIN.write(published(one), FORMAT)
            await self._bus.batcher.submit("HSETNX", self._bus.keys.workflows(), one.domain, content)
        await asyncio.gather(*map(self.store, specifications))
        await self.keep_on(set((await self.hashes()).values()))

    async def withdraw(self, domain: str) -> PublishedDomain | None:
        """Withdraw the workflows of a domain; return them. Runs that have begun continue."""
        domain_entry = (await self.published()).domains.get(domain)
        await self._bus.batcher.submit("HDEL", self._bus.keys.workflows(), domain)
        return domain_entry

    async def hashes(self) -> Mapping[str, str]:
        """Return the hash of the specification of each published workflow, by name."""
        return (await self.published()).hashes

    def published(self) -> Awaitable[Publication]:
        """Return the present publications."""
        return PendingRead(self._bus.batcher.submit("HGETALL", self._bus.keys.workflows()), _published)

    def _life_ms(self, more_s: float = 0.0) -> int:
        return milliseconds(max(_LIFE_S_MIN, self._bus.shared_retention_s) + more_s)


def _published(fields: dict[bytes, bytes]) -> Publication:
    domains: dict[str, PublishedDomain] = {}
    for name, content in sorted(fields.items()):
        try:
            domains[name.decode()] = PUBLISHED_DOMAIN.read(content)
        except (UnreadableEvent, UnicodeDecodeError) as error:
            structlog.get_logger().warning("published_workflows_unreadable", reason=str(error))
    return Publication(domains=domains)
