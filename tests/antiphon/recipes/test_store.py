"""Recipes in Redis: kept by name, as many as there is room for."""

import json

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.recipe import Recipe

from antiphon.errors import AlreadyThere
from antiphon.recipes.learn import learn
from antiphon.recipes.store import RecipeStore
from tests.antiphon.recipes.chains import a_call, a_chain


def a_recipe(name: str, what: str = "soup") -> Recipe:
    return learn([a_chain("Go.", a_call("put", {"x": what}, {}, 1, effect="write"))], name).recipe


async def names(store: RecipeStore) -> list[str]:
    return [recipe.name for recipe in await store.all()]


async def test_a_recipe_is_read_as_it_was_stored(bus: Bus) -> None:
    store = RecipeStore(bus)
    await store.store(a_recipe("one"), 10)
    assert await store.get("one") == a_recipe("one")
    assert (await store.all())[0].workflow.graph["put"] == a_recipe("one").workflow.graph["put"]
    assert await store.get("two") is None


async def test_the_least_recently_used_recipe_is_removed_at_the_limit(bus: Bus) -> None:
    store = RecipeStore(bus)
    for n, name in enumerate(("a", "b", "c")):
        assert await store.store(a_recipe(name), 3) == ()
        await bus.batcher.submit("ZADD", bus.keys.recipes_recency(), n, name)
    await store.used("a")
    assert await store.store(a_recipe("d"), 3) == ("b",)
    assert {*await names(store)} == {"a", "c", "d"}
    assert await store.get("b") is None
    assert {*await store.store(a_recipe("e"), 1)} == {"a", "c", "d"}


async def test_using_an_unknown_recipe_stores_nothing(bus: Bus) -> None:
    store = RecipeStore(bus)
    await store.used("nobody")
    assert await names(store) == []


async def test_a_recipe_of_the_same_name_is_replaced_only_on_request(bus: Bus) -> None:
    store = RecipeStore(bus)
    await store.store(a_recipe("one"), 10)
    await store.store(a_recipe("one"), 10)
    with pytest.raises(AlreadyThere, match="another recipe is named one"):
        await store.store(a_recipe("one", "stew"), 10)
    assert await store.get("one") == a_recipe("one")
    await store.store(a_recipe("one", "stew"), 10, may_replace=True)
    assert await store.get("one") == a_recipe("one", "stew")


async def test_a_forgotten_recipe_is_removed(bus: Bus) -> None:
    store = RecipeStore(bus)
    await store.store(a_recipe("one"), 10)
    assert await store.forget("one")
    assert not await store.forget("one")
    assert await names(store) == []


async def test_an_unreadable_recipe_is_left_out_of_the_list(bus: Bus) -> None:
    store = RecipeStore(bus)
    await store.store(a_recipe("one"), 10)
    fields = a_recipe("one").model_dump(mode="json")
    others = {
        "junk": "{",
        "renamed": json.dumps({**fields, "name": "renamed"}),
        "changed": json.dumps({**fields, "file": {"domain": "d"}}),
    }
    for n, (name, content) in enumerate(others.items()):
        await bus.batcher.submit("HSET", bus.keys.recipes(), name, content)
        await bus.batcher.submit("ZADD", bus.keys.recipes_recency(), n, name, n, "gone")
    assert await names(store) == ["one"]
    for name in others:
        with pytest.raises(UnreadableEvent, match="a recipe cannot be read"):
            await store.get(name)
