"""docs/recipes.md shows the recipe learned from its session."""

import re
from pathlib import Path

from typer.main import get_command

from antiphon.cli import app
from antiphon.recipes.chain import chain_of
from antiphon.recipes.learn import learn
from tests.antiphon.recording.recorded import recorded
from tests.docs.pages import blocks_of

PAGE = Path(__file__).parents[2] / "docs/recipes.md"


async def test_the_recipe_of_the_page_is_learned_from_its_question() -> None:
    blocks = {block.language: block.text for block in blocks_of(PAGE)}
    lines = await recorded(blocks["text"].strip(), tools=["examples.courses"])
    assert learn([chain_of(lines)], "same_topic").text == blocks["yaml"]


def test_the_page_shows_every_command() -> None:
    group = get_command(app).get_command(None, "recipes")  # type: ignore[attr-defined]  # a group
    shown = {*re.findall(r"^antiphon recipes (\w+)", PAGE.read_text(), re.M)}
    assert {*group.list_commands(None)} == shown
