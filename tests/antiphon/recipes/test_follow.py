"""Recipes are learned from sessions as they become complete, once, by any number of processes."""

import asyncio
import os
from pathlib import Path

import pytest
from antiphon_shared.bus.redis_bus import Bus

from antiphon.recipes.follow import Follower
from antiphon.recipes.store import RecipeStore
from antiphon.recording.files import write_lines
from tests.antiphon.cli.processes import launched
from tests.antiphon.conftest import ROOT, InProcess, until
from tests.antiphon.recipes.sessions import TRAVEL, a_booking, session_of

QUESTION = "Book a flight from NYC to LIS on 2030-05-01, and a room there for 2 nights."


@pytest.fixture
def booking(tmp_path: Path) -> str:
    lines = asyncio.run(session_of(a_booking("NYC", "LIS", "2030-05-01", 2), QUESTION, TRAVEL))
    write_lines(tmp_path / "booking.jsonl", lines)
    return str(tmp_path / "booking.jsonl")


def kept(run: InProcess, empty: dict[str, str]) -> list[str]:
    return [one["name"] for one in run.json("recipes", "list", **empty)]


def test_a_following_process_learns_from_completed_sessions(
    run: InProcess, booking: str, empty: dict[str, str]
) -> None:
    process = launched("recipes", "learn", "--follow", cwd=ROOT, **empty)
    try:
        assert process.stderr is not None
        assert "learning_recipes" in process.stderr.readline()
        assert run("recording", "import", booking, **empty).exit_code == 0
        until(lambda: bool(kept(run, empty)), "a recipe")
        assert "recipe_learned" in process.stderr.readline()
    finally:
        process.terminate()
        process.communicate()


def test_each_session_is_examined_once_and_nothing_is_replaced(
    run: InProcess, booking: str, empty: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = str(ROOT / "tests/recordings/a_single_round.jsonl")
    for one in (booking, poor):
        assert run("recording", "import", one, **empty).exit_code == 0
    for name, value in empty.items():
        monkeypatch.setitem(os.environ, name, value)

    async def followed() -> list[str]:
        bus = Bus.from_settings()
        await bus.open()
        try:
            first, second, third = (Follower(bus, 10) for _ in range(3))
            await asyncio.gather(first.look(), second.look())
            (recipe,) = await RecipeStore(bus).all()
            await RecipeStore(bus).forget(recipe.name)
            await first.look()
            assert await RecipeStore(bus).all() == [], (
                "what an operator forgets is not learned again by the process"
            )
            await third.look()
            return [one.name for one in await RecipeStore(bus).all()]
        finally:
            await bus.close()

    assert asyncio.run(followed()) == ["create_booking_and_process_payment_and_book_hotel"]


def test_follow_refuses_sessions_and_other_options(run: InProcess, empty: dict[str, str]) -> None:
    assert "--follow cannot be combined with sessions or other options" in run.refused(
        "recipes", "learn", "--follow", "--dry-run", **empty
    )
