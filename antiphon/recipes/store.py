"""Recipes in Redis: a hash of them by name, and their names by when each was last learned or used."""

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import script_of
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.recipe import RECIPE, Recipe

from antiphon.errors import AlreadyThere

_KEEP = script_of(__package__, "keep")


class RecipeStore:
    """The recipes of a deployment. Every method raises RedisError."""

    def __init__(self, bus: Bus) -> None:
        self._batcher = bus.batcher
        self._recipes, self._recency = bus.keys.recipes(), bus.keys.recipes_recency()

    async def keep(self, recipe: Recipe, kept_max: int, *, may_replace: bool = False) -> tuple[str, ...]:
        """Keep a recipe, of at most `kept_max`; returns the names of those that had to go for it.

        Raises AlreadyThere when another recipe has its name.
        """
        written = RECIPE.write(recipe, FORMAT)
        keys = [self._recipes, self._recency]
        outcome, *gone = await self._batcher.run(
            _KEEP, keys, [recipe.name, written, kept_max, int(may_replace)]
        )
        if outcome == b"taken":
            raise AlreadyThere(
                f"there is another recipe named {recipe.name}.",
                hint="Give this one a --name, or replace the other one with --replace.",
            )
        return tuple(name.decode() for name in gone[0])

    async def used(self, name: str) -> None:
        """Note that a recipe was used, so that others go first."""
        now_s, microseconds = await self._batcher.submit("TIME")
        score = int(now_s) * 1000 + int(microseconds) // 1000
        await self._batcher.submit("ZADD", self._recency, "XX", score, name)

    async def all(self) -> list[Recipe]:
        """Return the recipes, the one learned or used last first; without those that a later release wrote."""
        listed = self._batcher.submit("ZRANGE", self._recency, 0, -1, "REV")
        kept = await self._batcher.submit("HGETALL", self._recipes)
        found: list[Recipe] = []
        for name in await listed:
            try:
                found.append(RECIPE.read(kept[name]))
            except (KeyError, UnreadableEvent):
                continue
        return found

    async def get(self, name: str) -> Recipe | None:
        """Return a recipe; None when there is none of that name. Raises UnreadableEvent."""
        content = await self._batcher.submit("HGET", self._recipes, name)
        return None if content is None else RECIPE.read(content)

    async def forget(self, name: str) -> bool:
        """Remove a recipe; returns whether there was one."""
        removed = self._batcher.submit("HDEL", self._recipes, name)
        await self._batcher.submit("ZREM", self._recency, name)
        return bool(await removed)
