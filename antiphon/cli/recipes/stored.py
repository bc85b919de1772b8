"""`antiphon recipes list`, `show` and `forget`: the stored recipes."""

from typing import Annotated, Any

import typer
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.recipe import Recipe, changed_tools
from antiphon_shared.workflows.write import as_yaml

from antiphon.cli.output import (
    Json,
    UsageError,
    command,
    counted,
    print_json,
    print_table,
    stderr,
    stdout,
    write,
)
from antiphon.cli.printer import one_line
from antiphon.observe import connected, published_catalogue
from antiphon.recipes.store import RecipeStore

_NO_RECIPES = "None is stored: `antiphon recipes learn` makes recipes of finished sessions."
RecipeName = Annotated[str, typer.Argument(metavar="NAME", help="The name of the recipe.")]


@command
async def list_recipes(json: Json = False) -> None:
    """List the stored recipes, the most recently learned or used first."""
    async with connected() as bus:
        recipes, catalogue = await RecipeStore(bus).all(), await published_catalogue(bus)
    if json:
        print_json([_summary(recipe, catalogue) for recipe in recipes])
        return
    rows = [
        (
            recipe.name,
            ", ".join(recipe.workflow.params) or "-",
            ", ".join(recipe.tools),
            _currency(recipe, catalogue),
            one_line(recipe.workflow.description, 80),
        )
        for recipe in recipes
    ]
    print_table(("name", "params", "tools", "current", "description"), rows, "No recipes.")


@command
async def show(name: RecipeName, json: Json = False) -> None:
    """Print a recipe as a workflow file.

    \b
    antiphon recipes show book_flight > book_flight.yaml
    antiphon workflows dry-run book_flight book_flight.yaml
    """
    async with connected() as bus:
        recipe, catalogue = await _existing(RecipeStore(bus), name), await published_catalogue(bus)
    if json:
        print_json({**_summary(recipe, catalogue), "file": recipe.file})
        return
    write(as_yaml(recipe.specification))
    source = f"Learned from {counted(len(recipe.learned_from), 'session')}: {', '.join(recipe.learned_from)}."
    stderr().print(one_line(f"{source} Current: {_currency(recipe, catalogue)}."), style="dim")


@command
async def forget(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="The names of the recipes.")],
    json: Json = False,
) -> None:
    """Remove recipes. If a recipe does not exist, no recipe is removed, and the exit code is 2."""
    async with connected() as bus:
        store = RecipeStore(bus)
        for name in names:
            await _existing(store, name)
        for name in names:
            await store.forget(name)
    if json:
        print_json({"forgotten": list(dict.fromkeys(names))})
    else:
        stdout().print(one_line(f"Forgotten: {', '.join(dict.fromkeys(names))}."))


async def _existing(store: RecipeStore, name: str) -> Recipe:
    recipe = await store.get(name)
    if recipe is None:
        stored = [one.name for one in await store.all()]
        raise UsageError(
            f"recipe {one_line(name, 80)!r} does not exist.", hint=did_you_mean(name, stored, _NO_RECIPES)
        )
    return recipe


def _currency(recipe: Recipe, catalogue: Catalogue | None) -> str:
    if catalogue is None:
        return "unknown: no dispatcher has published its tools"
    changed = changed_tools(recipe, catalogue)
    return f"no: {', '.join(changed)} changed" if changed else "yes"


def _summary(recipe: Recipe, catalogue: Catalogue | None) -> dict[str, Any]:
    changed = None if catalogue is None else list(changed_tools(recipe, catalogue))
    return {
        "name": recipe.name,
        "description": recipe.workflow.description,
        "params": list(recipe.workflow.params),
        "tools": list(recipe.tools),
        "changed_tools": changed,
        "learned_from": list(recipe.learned_from),
    }
