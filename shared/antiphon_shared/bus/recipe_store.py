"""The recipes in Redis, for the components that run them: a hash by name, and the names by last use."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import cached_property

from antiphon_shared.bus.reads import redis_time_ms
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.recipe import RECIPE, Recipe
from antiphon_shared.workflows.specification import specification_hash

REVISION = ":revision"
"""The field that changes with the recipes; the name of a recipe contains no colon."""


@dataclass(frozen=True)
class Revision:
    """A snapshot of the recipes."""

    number: bytes = b""
    recipes: tuple[Recipe, ...] = ()

    @cached_property
    def names(self) -> dict[str, str]:
        """Return the names of the recipes, by the hashes of their specifications."""
        return {specification_hash(one.specification): one.name for one in self.recipes}


class KeptRecipes:
    """The recipes of a deployment, for reading. Every method raises RedisError."""

    def __init__(self, bus: Bus) -> None:
        self._batcher = bus.batcher
        self._recipes, self._recency = bus.keys.recipes(), bus.keys.recipes_recency()
        self._latest = Revision()

    def latest(self) -> Awaitable[Revision]:
        """Return the recipes, without recipes of a later release; they are read again only after a change."""
        return self._latest_of(self._batcher.submit("HGET", self._recipes, REVISION))

    async def _latest_of(self, reply: Awaitable[bytes | None]) -> Revision:
        number = await reply
        if (number or b"") != self._latest.number:
            stored = await self._batcher.submit("HGETALL", self._recipes)
            names = sorted(set(stored) - {REVISION.encode()})
            recipes = tuple(one for name in names if (one := _readable(stored[name])))
            self._latest = Revision(stored.get(REVISION.encode(), b""), recipes)
        return self._latest

    async def used(self, name: str) -> None:
        """Note the use of a recipe, so that recipes with an older use are dropped first."""
        now_ms = await redis_time_ms(self._batcher)
        await self._batcher.submit("ZADD", self._recency, "XX", now_ms, name)

    async def run_begun(self, content_hash: str) -> None:
        """Note the use of a recipe if a run begins with the specification of a recipe."""
        if (name := (await self.latest()).names.get(content_hash)) is not None:
            await self.used(name)

    async def all(self) -> list[Recipe]:
        """Return the recipes, without recipes of a later release, the last learned or used first."""
        names, stored = await asyncio.gather(
            self._batcher.submit("ZRANGE", self._recency, 0, -1, "REV"),
            self._batcher.submit("HGETALL", self._recipes),
        )
        return [one for name in names if name in stored and (one := _readable(stored[name]))]

    async def get(self, name: str) -> Recipe | None:
        """Return the recipe of that name, or None. Raises UnreadableEvent."""
        content = await self._batcher.submit("HGET", self._recipes, name)
        return None if content is None else RECIPE.read(content)


def _readable(content: bytes) -> Recipe | None:
    try:
        return RECIPE.read(content)
    except UnreadableEvent:
        return None
