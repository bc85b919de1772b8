"""The catalogue of a session, extended by the published workflows and the recipes as tools."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.bus.recipe_store import KeptRecipes, Revision
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.as_tool import RECIPE, as_tool
from antiphon_shared.workflows.data_flow import with_flow_hints
from antiphon_shared.workflows.publication import Publication
from antiphon_shared.workflows.recipe import Recipe, changed_tools
from antiphon_shared.workflows.specification import Specification

_CACHED_MAX = 64


@dataclass(frozen=True, slots=True)
class Offers:
    """The publications and recipes at one time."""

    hashes: Mapping[str, str]
    """The hash of the specification of each published workflow, by name."""
    latest: Revision


NO_OFFERS = Offers({}, Revision())


@dataclass(slots=True)
class _Offered:
    """A catalogue with workflows and recipes, and when it has to be stored again."""

    catalogue: Catalogue
    recipes: tuple[Recipe, ...]
    """The recipes that are in the catalogue."""
    content_hash: str = ""
    due_s: float = 0.0


class OfferedWorkflows:
    """The workflows and recipes that sessions are offered in addition to the dispatchers' tools."""

    def __init__(self, bus: Bus, workflows: WorkflowStore, recipes: KeptRecipes) -> None:
        self._bus, self._workflows, self._recipes = bus, workflows, recipes
        self._offered: dict[Any, _Offered] = {}

    def current(self) -> Awaitable[Offers]:
        """Return the present publications and recipes."""
        return _offers(self._workflows.published(), self._recipes.latest())

    async def added_to(
        self, content_hash: str, catalogue: Catalogue, offers: Offers
    ) -> tuple[str, Catalogue]:
        """Return the hash and the catalogue, extended by the workflows and the current recipes."""
        hashes, latest = offers.hashes, offers.latest
        if not hashes and not latest.recipes:
            return content_hash, catalogue
        key = (content_hash, tuple(sorted(hashes.items())), latest.number)
        if key not in self._offered:
            offered = await self._with_all(catalogue, hashes, latest.recipes)
            if len(self._offered) >= _CACHED_MAX:
                self._offered.clear()
            self._offered[key] = offered
        offered = self._offered[key]
        if monotonic_s() >= offered.due_s:
            await asyncio.gather(*(self._workflows.store(one.specification) for one in offered.recipes))
            offered.content_hash = await self._bus.keep_catalogue(offered.catalogue)
            offered.due_s = monotonic_s() + self._bus.shared_retention_s / 4
        return offered.content_hash, offered.catalogue

    async def _with_all(
        self, catalogue: Catalogue, hashes: Mapping[str, str], recipes: tuple[Recipe, ...]
    ) -> _Offered:
        published = [one async for one in self._published(hashes)]
        tools = [
            tool
            for name, specification in published
            if (tool := as_tool(specification, name, catalogue)) is not None
            and tool.name not in catalogue.by_name
        ]
        offered: list[Recipe] = []
        for recipe in recipes:
            tool = as_tool(recipe.specification, recipe.name, catalogue, RECIPE)
            if (
                tool is not None
                and tool.name not in catalogue.by_name
                and not changed_tools(recipe, catalogue)
            ):
                tools.append(tool)
                offered.append(recipe)
        own = with_flow_hints(catalogue.tools, (one.workflows[name] for name, one in published))
        merged = Catalogue(tools=(*own, *tools), default_scopes=catalogue.default_scopes)
        return _Offered(merged, tuple(offered))

    async def _published(self, hashes: Mapping[str, str]) -> AsyncIterator[tuple[str, Specification]]:
        """Yield the published workflows whose specification is stored, by name."""
        for name, content_hash in hashes.items():
            specification = await self._workflows.specification(content_hash)
            if specification is not None:
                yield name, specification


async def _offers(published: Awaitable[Publication], latest: Awaitable[Revision]) -> Offers:
    return Offers((await published).hashes, await latest)
