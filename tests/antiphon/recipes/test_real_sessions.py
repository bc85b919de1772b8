"""Recipes of real sessions: recorded by the pipeline, they make the same calls, and others for other params."""

import re
from typing import Any

import pytest
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.recipe import changed_tools

from antiphon import ToolFailed, tool
from antiphon.recipes.chain import NotLearnable, chain_of
from antiphon.recipes.learn import Learned, learn
from antiphon.recording.files import read_lines
from antiphon.recording.lines import CatalogueLine
from antiphon.replay.testing.scripted import ScriptedModel
from antiphon.workflows import validate
from antiphon.workflows.draw import as_text
from antiphon.workflows.dry_run import cover, dry_run
from coordinator.workflows.messages import CallTool
from coordinator.workflows.plan import Plan
from tests.antiphon.conftest import ROOT
from tests.antiphon.recipes.sessions import TRAVEL, a_booking, session_of

QUESTION = "Book a flight from NYC to LIS on 2030-05-01, and a room there for 2 nights."
RECORDINGS = sorted((ROOT / "tests/recordings").glob("*.jsonl*"))


def calls_with(learned: Learned, params: dict[str, Any], results: dict[str, Any]) -> dict[str, Any]:
    """Return the calls of the recipe with their arguments, in order, for other params and results."""
    plan = Plan(compile_graph(learned.recipe.specification, learned.recipe.name))
    run = dry_run(plan, params, results)
    assert run.end.status == "completed"
    return {one.path: dict(one.arguments) for one in run.commands if isinstance(one, CallTool)}


async def test_a_booking_becomes_a_workflow_for_any_booking() -> None:
    lines = await session_of(a_booking("NYC", "LIS", "2030-05-01", 2), QUESTION, TRAVEL)
    learned = learn([chain_of(lines)])
    assert learned.recipe.name == "create_booking_and_process_payment_and_book_hotel"
    assert validate(learned.recipe.specification, tools=TRAVEL) == ()
    assert "book_hotel" in as_text(learned.recipe.name, learned.recipe.workflow)
    results = {
        "search_flights": [{"flight": "OSL-ROM-20310602-1", "price_eur": 220}],
        "search_hotels": [{"hotel": "rom-fig"}],
        "create_booking": {"booking": "B-1001", "price_eur": 220},
    }
    params = {"origin": "OSL", "destination": "ROM", "day": "2031-06-02", "nights": 9}
    stay = {"check_in": "2031-06-02", "nights": 9}
    assert calls_with(learned, params, results) == {
        "search_flights": {"origin": "OSL", "destination": "ROM", "day": "2031-06-02"},
        "search_hotels": {"city": "ROM", **stay},
        "create_booking": {"flight": "OSL-ROM-20310602-1", "passenger": "Ada Quill"},
        "process_payment": {"booking": "B-1001", "amount_eur": 220},
        "book_hotel": {"hotel": "rom-fig", "guest": "Ada Quill", **stay},
    }
    assert learned.fixed == (
        ("create_booking", "passenger", "Ada Quill"),
        ("book_hotel", "guest", "Ada Quill"),
    )
    assert learned.left_out == (("search_hotels", "its result was not used"),)
    coverage = cover(Plan(compile_graph(learned.recipe.specification, learned.recipe.name)), params, {})
    assert coverage.never_reached == ()


async def test_values_that_differ_between_two_bookings_become_params_without_a_question() -> None:
    sessions = [
        await session_of(a_booking("NYC", to, day, nights), "Book the usual.", TRAVEL)
        for to, day, nights in (("LIS", "2030-05-01", 2), ("ROM", "2031-06-02", 3))
    ]
    alone = learn([chain_of(sessions[0])])
    assert [*alone.recipe.workflow.params] == []
    both = learn([*map(chain_of, sessions)])
    assert [*both.recipe.workflow.params] == ["destination", "day", "nights"]
    assert both.recipe.workflow.params["day"].format == "date"
    assert {node: argument for node, argument, _ in both.fixed} == {
        "search_flights": "origin",
        "create_booking": "passenger",
        "book_hotel": "guest",
    }


async def test_a_recipe_is_current_while_its_tools_are_unchanged() -> None:
    lines = await session_of(a_booking("NYC", "LIS", "2030-05-01", 2), QUESTION, TRAVEL)
    recipe = learn([chain_of(lines)]).recipe
    catalogue = next(line.catalogue for line in lines if isinstance(line, CatalogueLine))
    assert not changed_tools(recipe, catalogue)
    assert changed_tools(recipe, Catalogue()) == tuple(recipe.tools)

    def changed(**update: Any) -> Catalogue:
        tools = [
            one.model_copy(update=update) if one.name == "book_hotel" else one for one in catalogue.tools
        ]
        return Catalogue(tools=tuple(tools))

    assert not changed_tools(recipe, changed(description="Other words."))
    assert changed_tools(recipe, changed(effect="read")) == ("book_hotel",)
    assert changed_tools(recipe, changed(input_schema={"type": "object"})) == ("book_hotel",)


@tool(effect="read")
def look_up(what: str) -> dict[str, Any]:
    """Look something up."""
    if what == "nothing":
        raise ToolFailed("not_found", "There is nothing.", "Look up something else.")
    return {
        "id": f"№ {what} ☃",
        "empty": "",
        "much": ["x" * 1_000] * (300 if what == "Zürich" else 1),
        "what": what,
    }


@tool(effect="write")
def put(id: str, note: str = "") -> dict[str, str]:
    """Put something down."""
    return {"receipt": f"R-{id}"}


TOOLS = [look_up, put]


async def test_failed_and_repeated_calls_are_left_out_and_deliberate_repetitions_are_not() -> None:
    model = ScriptedModel().calls("look_up", what="nothing").calls("look_up", what="Zürich")
    model.calls("put", id="№ Zürich ☃", note="")
    model.calls("put", id="№ Zürich ☃", note="")
    model.calls("repeat_call", call_id="toolu_3_1", reason="They want two.")
    lines = await session_of(model.says("It is done."), "Put Zürich down, twice.", TOOLS)
    learned = learn([chain_of(lines)], "twice")
    nodes = learned.recipe.file["workflows"]["twice"]["graph"]
    assert [(node, one["args"]) for node, one in nodes.items()] == [
        ("look_up", {"what": "$what"}),
        ("put", {"id": "$look_up.id", "note": ""}),
        ("put_2", {"id": "$look_up.id", "note": ""}),
    ]
    assert [tool for tool, _ in learned.left_out] == ["look_up", "put"]
    calls = calls_with(learned, {"what": "x"}, {"look_up": {"id": "№ x ☃"}})
    assert calls["put_2"] == {"id": "№ x ☃", "note": ""}


async def test_a_placeholder_for_another_call_becomes_a_reference() -> None:
    model = ScriptedModel().calls("put", id="${calls[1].id}", note="$${calls[1].id}")
    model.and_calls("look_up", what="soup")
    lines = await session_of(model.says("Done."), "Put it down.", TOOLS)
    learned = learn([chain_of(lines)], "w")
    graph = learned.recipe.file["workflows"]["w"]["graph"]
    assert graph["put"]["args"] == {"id": "$look_up.id", "note": "$${calls[1].id}"}
    assert graph["put"]["depends_on"] == ["look_up"]


async def test_a_session_that_failed_or_called_nothing_is_refused() -> None:
    nothing = await session_of(ScriptedModel().says("It is so."), "Is it so?", TOOLS)
    with pytest.raises(NotLearnable, match="has no call"):
        chain_of(nothing)
    model = ScriptedModel().calls("look_up", what="nothing").says("There is nothing.")
    failed = await session_of(model, "Look up nothing.", TOOLS)
    with pytest.raises(NotLearnable, match="has no call"):
        chain_of(failed)
    unfinished = [
        line for line in nothing if "response" not in getattr(getattr(line, "event", None), "type", "")
    ]
    with pytest.raises(NotLearnable, match="no answer yet"):
        chain_of(unfinished)


@pytest.mark.parametrize("name", ["a_plain_write_that_a_crash_left_unknown.jsonl"])
def test_a_session_with_an_unknown_outcome_is_refused(name: str) -> None:
    with pytest.raises(NotLearnable, match="the outcome of call"):
        chain_of(read_lines(ROOT / "tests/recordings" / name))


def test_every_recording_there_is_becomes_a_recipe_or_is_refused_with_the_reason() -> None:
    """A recipe has made the same calls in the simulation, is valid, and reads back: `learn` refuses it otherwise."""
    refused: list[str] = []
    for path in RECORDINGS:
        try:
            learn([chain_of(read_lines(path))])
        except NotLearnable as error:
            refused.append(error.message)
    expected = re.compile(
        "has no call that|ended as|no answer yet|the outcome of call|the limit of a recipe|(a|the) workflow"
    )
    assert [one for one in refused if not expected.search(one)] == []
    assert 30 < len(refused) < len(RECORDINGS) - 90
