"""Recipes in Redis, for operators, who keep and remove them."""

from antiphon_shared.bus.recipe_store import REVISION, KeptRecipes
from antiphon_shared.bus.scripts import script_of
from antiphon_shared.formats import FORMAT
from antiphon_shared.workflows.recipe import RECIPE, Recipe

from antiphon.errors import AlreadyThere

_KEEP, _FORGET = script_of(__name__, "keep"), script_of(__name__, "forget")


class RecipeStore(KeptRecipes):
    """The recipes of a deployment. Every method raises RedisError."""

    async def store(self, recipe: Recipe, recipes_max: int, *, may_replace: bool = False) -> tuple[str, ...]:
        """Store a recipe; return the names of the recipes that were removed to stay within `recipes_max`.

        Raises AlreadyThere when another recipe has its name.
        """
        written = RECIPE.write(recipe, FORMAT)
        keys = [self._recipes, self._recency]
        outcome, *removed = await self._batcher.run(
            _KEEP, keys, [recipe.name, written, recipes_max, int(may_replace), REVISION]
        )
        if outcome == b"taken":
            raise AlreadyThere(
                f"another recipe is named {recipe.name}.",
                hint="Use --name to choose another name, or --replace to replace it.",
            )
        return tuple(name.decode() for name in removed[0])

    async def learned_from(self) -> set[str]:
        """Return the ids of the sessions that the stored recipes were learned from."""
        return {id for one in await self.all() for id in one.learned_from}

    async def forget(self, name: str) -> bool:
        """Remove a recipe; return whether it existed."""
        keys = [self._recipes, self._recency]
        return bool(await self._batcher.run(_FORGET, keys, [name, REVISION]))
