"""Recipes and workflows as tools of a session: offered, planned with, run, and noted as used."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

import pytest
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import ReasoningRequested, ToolsCompleted
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.recipe import Recipe
from antiphon_shared.workflows.validate import problems_of

from antiphon import Antiphon, tool
from antiphon.embedded import registry_of
from antiphon.recipes.chain import NotLearnable, chain_of
from antiphon.recipes.learn import learn
from antiphon.recipes.store import RecipeStore
from antiphon.replay.testing.scripted import ScriptedModel
from antiphon.workflows import build
from tests.antiphon.recipes.sessions import session_of
from tests.antiphon.recording.recorded import closed_lines
from tool_dispatcher.catalogue import to_catalogue


@tool(effect="read")
def find_course(title: str) -> dict[str, str]:
    """Find a course by its title."""
    return {"id": f"C-{title}"}


@tool(effect="read")
def find_lessons(course: str) -> list[str]:
    """Find the lessons of a course by its id."""
    return [f"{course}/1"]


TOOLS = [find_course, find_lessons]
QUESTION = 'Find the lessons of "Rope Work".'
WORKFLOW = build(
    {
        "domain": "post",
        "version": "1",
        "workflows": {
            "greet": {
                "description": "Look a course up, and greet its author by mail.",
                "params": {"author": {"type": "str", "format": "email", "required": True}},
                "graph": {"course": {"call": "find_course", "args": {"title": "$author"}}},
            }
        },
    }
)


def a_search() -> ScriptedModel:
    model = ScriptedModel().calls("find_course", title="Rope Work")
    return model.calls("find_lessons", course="C-Rope Work").says("C-Rope Work/1")


async def a_recipe(name: str) -> Recipe:
    return learn([chain_of(await session_of(a_search(), QUESTION, TOOLS))], name).recipe


@asynccontextmanager
async def pipeline(model: ScriptedModel, *recipes: Recipe, tools: Any = TOOLS) -> AsyncIterator[Antiphon]:
    async with Antiphon.embedded(tools=tools, model=model.model(), scopes=("read", "write")) as antiphon:
        store = RecipeStore(antiphon.open_bus())
        for recipe in recipes:
            await store.store(recipe, 10)
        yield antiphon
    assert model.unexpected == []


async def offered(antiphon: Antiphon, session_id: str) -> list[tuple[str, ...]]:
    """Return the tools of each round."""
    log = await antiphon.open_bus().session(session_id).log()
    return [event.data.tools for _, event in log if isinstance(event.data, ReasoningRequested)]


async def results(antiphon: Antiphon, session_id: str) -> list[ToolResult]:
    log = await antiphon.open_bus().session(session_id).log()
    return [one for _, event in log if isinstance(event.data, ToolsCompleted) for one in event.data.results]


async def test_a_recipe_is_a_tool_that_a_model_runs_and_its_use_is_noted() -> None:
    recipe, other = await a_recipe("lessons_of"), await a_recipe("other")
    model = ScriptedModel().calls("r_lessons_of", title="Knots").says("C-Knots/1")
    async with pipeline(model, recipe, other) as antiphon:
        bus = antiphon.open_bus()
        for n, name in enumerate(("lessons_of", "other")):
            await bus.batcher.submit("ZADD", bus.keys.recipes_recency(), n, name)
        response = await antiphon.ask("Which lessons?")
        (result,) = await results(antiphon, response.session_id)
        assert (result.tool, result.status) == ("r_lessons_of", "ok")
        assert result.data == {"find_lessons": ["C-Knots/1"]}
        assert [one.name for one in await RecipeStore(bus).all()] == ["lessons_of", "other"]
        first, *_ = await offered(antiphon, response.session_id)
        assert first == ("_plan", "find_course", "find_lessons", "r_lessons_of", "r_other")


async def test_recipes_are_offered_while_they_are_kept() -> None:
    recipe = await a_recipe("lessons_of")
    model = ScriptedModel().says("1").says("2").says("3")
    async with pipeline(model) as antiphon:
        store = RecipeStore(antiphon.open_bus())
        before = (await antiphon.ask("Which?")).session_id
        await store.store(recipe, 10)
        then = (await antiphon.ask("Which?")).session_id
        await store.forget("lessons_of")
        after = (await antiphon.ask("Which?")).session_id
        plain = ("find_course", "find_lessons")
        assert [await offered(antiphon, one) for one in (before, then, after)] == [
            [plain],
            [("_plan", *plain, "r_lessons_of")],
            [plain],
        ]


async def test_a_recipe_whose_tool_has_changed_is_not_offered() -> None:
    recipe = await a_recipe("lessons_of")

    @tool(effect="read", name="find_course")
    def changed(title: str, language: str = "en") -> dict[str, str]:
        """Find a course by its title."""
        return {"id": title + language}

    model = ScriptedModel().says("None.")
    async with pipeline(model, recipe, tools=[changed, find_lessons]) as antiphon:
        session_id = (await antiphon.ask("Which lessons?")).session_id
        assert await offered(antiphon, session_id) == [("find_course", "find_lessons")]


async def test_a_session_that_ran_a_recipe_is_not_learned_from() -> None:
    model = ScriptedModel().calls("r_lessons_of", title="Knots").and_calls("find_course", title="Knots")
    async with pipeline(model.says("Done."), await a_recipe("lessons_of")) as antiphon:
        session_id = (await antiphon.ask("Which lessons?")).session_id
        lines = await closed_lines(antiphon, session_id)
    with pytest.raises(NotLearnable, match="ran the workflow lessons_of"):
        chain_of(lines)


async def planned(goal: str) -> Any:
    """Return the answer of `_plan` with a recipe and a workflow."""
    model = ScriptedModel().calls("_plan", goal=goal).says("So it is.")
    async with pipeline(model, await a_recipe("lessons_of")) as antiphon:
        await WorkflowStore(antiphon.open_bus()).publish([WORKFLOW])
        session_id = (await antiphon.ask("How is it done?")).session_id
        (result,) = await results(antiphon, session_id)
        assert (result.tool, result.status) == ("_plan", "ok")
        return result.data


async def test_a_plan_names_the_best_match_with_its_params_and_missing_values() -> None:
    first, *_ = (await planned("find the lessons of Splicing"))["tools"]
    assert (first["name"], first["kind"], first["params"]) == ("r_lessons_of", "recipe", {"title": "str"})
    assert first["missing"] == []
    first, *_ = (await planned("greet the author of Splicing"))["tools"]
    assert (first["name"], first["kind"]) == ("w_greet", "workflow")
    assert (first["params"], first["missing"]) == ({"author": "str (email)"}, ["author"])
    first, *_ = (await planned("greet the author, ada@example.org"))["tools"]
    assert (first["name"], first["missing"]) == ("w_greet", [])


async def test_a_plan_without_a_match_proposes_a_workflow_for_approval() -> None:
    model = ScriptedModel().calls("_plan", goal="What degrees has it tomorrow?").says("So it is.")

    @tool(effect="read")
    def forecast(town: str, day: date) -> str:
        """Say how many degrees it has on a day."""
        return f"{town} {day}"

    tools = [find_course, find_lessons, forecast]
    async with pipeline(model, await a_recipe("lessons_of"), tools=tools) as antiphon:
        session_id = (await antiphon.ask("How is it done?")).session_id
        (result,) = await results(antiphon, session_id)
    assert result.data["tools"] == []
    assert "antiphon workflows publish" in result.data["note"]
    file = read_file(result.data["proposed"], "proposed.yaml")
    assert file.specification is not None
    assert [*problems_of(file.specification, to_catalogue(registry_of(tools)))] == []
    (workflow,) = file.specification.workflows.values()
    assert [*workflow.graph] == ["forecast"]
    assert workflow.params["day"].format == "date"
