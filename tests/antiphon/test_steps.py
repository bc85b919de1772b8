"""Steps as Python programs give them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.process.errors import MissingFile

from antiphon import Antiphon, InvalidQuery, Step, tool
from antiphon.cli.input_files import read_step_file
from antiphon.errors import SubmissionRejected
from antiphon.submission import Options

STEPS = [
    {"name": "a", "instructions": "Look.", "tools": ["look"]},
    {"name": "b", "instructions": "Book.", "tools": ["book"]},
]


@dataclass
class Booking:
    berths: int


@tool(effect="read")
def look() -> int:
    """Look."""
    return 14


async def test_a_step_that_no_session_could_take_is_refused_before_it_is_sent() -> None:
    refused: list[tuple[Any, str]] = [
        ([Step("a b", "Look.", ["look"])], "steps.0.name"),
        ([Step("a", "Look.", ["look"], validation_tools=["look"])], "validation_tools need an output"),
        ([Step("a", "Look.", [])], "steps.0.tools"),
        ([Step("a", "Look.", ["look"], max_rounds=51)], "steps.0.max_rounds"),
        ([Step("a", "Look.", ["look"], output={"enum": []})], "no value satisfies it"),
        ([Step("a", "Look.", ["look"])] * 2, "two steps are named 'a'"),
        ([Step("a", "Look.", ["look"], output=object())], "has no JSON Schema"),
        ([], "there are 0 steps"),
        ("a b", "steps"),
        (3, "steps"),
    ]
    async with Antiphon.embedded([look], model="offline") as antiphon:
        for steps, why in refused:
            with pytest.raises(InvalidQuery, match=why):
                await antiphon.submit("How many?", steps=steps)
        with pytest.raises(InvalidQuery, match="steps go without tools"):
            await antiphon.submit("How many?", steps=STEPS, tools=["look"])
        with pytest.raises(InvalidQuery, match="steps go without output_schema"):
            await antiphon.ask("How many?", steps=STEPS, output=Booking)


async def test_a_missing_tool_is_named() -> None:
    async with Antiphon.embedded([look], model="offline") as antiphon:
        response = await antiphon.ask("How many?", steps=[Step("a", "Look.", ["look", "lok"])])
    assert response.status == "failed"
    assert "`lok`, which this session cannot use" in str(response.uncertainty)


def test_a_step_is_sent_with_the_schema_of_its_output() -> None:
    option = Step("a", "Look.", ["look"], output=Booking).as_option()
    assert option["output"]["properties"] == {"berths": {"title": "Berths", "type": "integer"}}
    assert "validation_tools" not in option


def test_the_command_takes_a_file_first_and_else_the_name_of_published_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    by_name = Options()
    read_step_file(by_name, Path("assembly"))
    assert by_name == {"steps": "assembly"}
    Path("assembly").write_text("steps: [{name: find, instructions: Find it., tools: [search]}]")
    by_file = Options()
    read_step_file(by_file, Path("assembly"))
    assert isinstance(by_file["steps"], list)
    for missing in ("none.yaml", "folder/none", "no name"):
        with pytest.raises(MissingFile, match="does not exist"):
            read_step_file(Options(), Path(missing))


async def test_published_steps_are_asked_for_by_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looking.yaml").write_text("steps: [{name: look, instructions: Look., tools: [look]}]")
    monkeypatch.setenv("ANTIPHON_COORDINATOR_STEPS", str(tmp_path))
    async with Antiphon.embedded([look], model="offline") as antiphon:
        response = await antiphon.ask("What is there?", steps="looking")
        assert response.status == "complete"
        with pytest.raises(SubmissionRejected, match="no published steps are named 'looking"):
            await antiphon.ask("What is there?", steps="looking.yaml")
        with pytest.raises(InvalidQuery, match="steps go without output_schema"):
            await antiphon.ask("What is there?", steps="looking", output=int)
