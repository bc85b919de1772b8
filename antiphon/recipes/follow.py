"""Recipes learned automatically from each complete session, in a process next to the components.

Several such processes may run: they learn the same from the same sessions, and skip stored recipes.
"""

import asyncio

import structlog
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus

from antiphon.errors import AlreadyThere
from antiphon.recipes.learn import Learned
from antiphon.recipes.recent import learn_recent
from antiphon.recipes.store import RecipeStore

EVERY_S = 10.0
SESSIONS_MAX = 200
"""The number of newest sessions per check; if more have ended since the last one, the oldest are skipped."""
_SEEN_MAX = 50 * SESSIONS_MAX


class Follower:
    """The learning from sessions as they become complete."""

    def __init__(self, bus: Bus, recipes_max: int) -> None:
        """Prepare to learn; at most `recipes_max` recipes are kept, beyond which the longest unused one is removed."""
        self._bus, self._store, self._recipes_max = bus, RecipeStore(bus), recipes_max
        self._seen: set[str] = set()
        """The ids of sessions that have been handled: a recipe was learned from them, or none can be."""
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Check for complete sessions again and again, also through outages of Redis."""
        self._log.info("learning_recipes", every_s=EVERY_S)
        while True:
            await retry_while_unavailable("learn recipes", self.look)
            await asyncio.sleep(EVERY_S)

    async def look(self) -> None:
        """Learn from the sessions that are complete now and were not checked before. Raises RedisError."""
        handled = await self._store.learned_from() | self._seen
        recent = await learn_recent(self._bus, SESSIONS_MAX, handled)
        if len(self._seen) > _SEEN_MAX:
            self._seen.clear()
        for learned in recent.learned:
            await self._store_recipe(learned)
        for session_id, why in recent.refused:
            self._log.debug("recipe_not_learned", session=session_id, because=why)
        self._seen.update(session_id for session_id, _ in recent.refused)

    async def _store_recipe(self, learned: Learned) -> None:
        recipe = learned.recipe
        self._seen.update(recipe.learned_from)
        try:
            removed = await self._store.store(recipe, self._recipes_max)
        except AlreadyThere:
            self._log.debug("recipe_name_taken", recipe=recipe.name, sessions=recipe.learned_from)
            return
        self._log.info("recipe_learned", recipe=recipe.name, sessions=recipe.learned_from, gone=removed)
