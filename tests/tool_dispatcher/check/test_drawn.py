"""Drawn arguments are valid, and follow from the seed."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from antiphon_shared.process.errors import ConfigurationError
from pydantic import BaseModel, Field

from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.check.generated import draw
from tool_dispatcher.check.judge import Judge

ROOT = Path(__file__).parents[3]


class Node(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=5)]
    children: list["Node"] = []


@tool(effect="read")
def everything(
    code: Annotated[str, Field(pattern=r"^[A-Z]{2}-[0-9]{4}$")],
    kind: Literal["a", "b"],
    tree: Node,
    pair: tuple[int, str],
    counts: dict[str, int],
    numbers: Annotated[list[float], Field(min_length=2, max_length=4)],
    either: int | list[bool] | None = None,
    anything: Any = None,
) -> str:
    """Everything."""
    return ""


SCHEMA = everything.parameters.schema
HARD = {
    "type": "object",
    "properties": {"x": {"type": "string", "pattern": "^(?!a)\\p{L}+$"}},
    "required": ["x"],
}
IMPOSSIBLE = {"type": "object", "properties": {"x": {"enum": []}}, "required": ["x"]}
ENDLESS = {
    "type": "object",
    "properties": {"x": {"$ref": "#"}},
    "required": ["x"],
    "additionalProperties": False,
}


def test_drawn_arguments_are_valid_different_and_taken_by_the_tool() -> None:
    drawn = draw(SCHEMA, 60, seed=0)
    judge = Judge(SCHEMA)
    assert len({repr(arguments) for arguments in drawn}) == len(drawn) > 30
    assert all(judge.of(arguments).word == "valid" for arguments in drawn)
    taken = [validate(everything, arguments) for arguments in drawn]
    assert all(isinstance(arguments, dict) for arguments in taken)


def test_drawn_arguments_reach_into_every_part() -> None:
    drawn = draw(SCHEMA, 60, seed=0)
    assert any(arguments["tree"].get("children") for arguments in drawn)
    assert {type(arguments["either"]).__name__ for arguments in drawn if "either" in arguments} == {
        "int",
        "list",
        "NoneType",
    }
    assert any("anything" not in arguments for arguments in drawn)


def test_the_same_seed_gives_the_same_and_another_seed_others() -> None:
    assert draw(SCHEMA, 20, seed=1) == draw(SCHEMA, 20, seed=1)
    assert draw(SCHEMA, 20, seed=1) != draw(SCHEMA, 20, seed=2)


def test_the_same_seed_gives_the_same_in_another_process() -> None:
    program = (
        "from tool_dispatcher.check.generated import draw\n"
        "print(draw({'type': 'object', 'properties': {'q': {'type': 'string'}, 'n': {'type': 'integer'}}}, 20, 7))"
    )

    def printed(hash_seed: str) -> str:
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=True,
        )
        return done.stdout

    assert printed("1") == printed("2") != "[]\n"


def test_at_most_the_requested_number_of_cases_is_drawn() -> None:
    assert draw(SCHEMA, 0, seed=0) == []
    assert len(draw(SCHEMA, 3, seed=0)) <= 3


@pytest.mark.parametrize("schema", [HARD, IMPOSSIBLE, ENDLESS])
def test_a_schema_from_which_nothing_can_be_drawn_gives_nothing(schema: dict[str, Any]) -> None:
    assert draw(schema, 10, seed=0) == []


@pytest.mark.parametrize("library", ["hypothesis", "hypothesis_jsonschema"])
def test_a_missing_library_is_reported_with_the_install_command(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigurationError, match=r"pip install 'antiphon\[check\]'") as refused:
        draw(SCHEMA, 10, seed=0)
    assert library in refused.value.message
