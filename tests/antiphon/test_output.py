"""Answers of a shape, by the Python client and the command line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field, field_validator
from typer.testing import CliRunner
from typing_extensions import TypedDict

from antiphon import Antiphon, InvalidQuery
from antiphon.cli import app
from antiphon.errors import UnfitResult
from tests.messages_server import Scripted, serving


class Harbour(BaseModel):
    name: str
    berths: int = Field(ge=1)


@dataclass
class Place:
    name: str
    berths: int


class Named(TypedDict):
    name: str


class Short(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def _is_short(cls, name: str) -> str:
        if len(name) > 3:
            raise ValueError("it is too long")
        return name


SKAGEN = {"name": "Skagen", "berths": 14}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


async def result_of(shape: Any, monkeypatch: pytest.MonkeyPatch, reply: str = json.dumps(SKAGEN)) -> Any:
    async with serving(Scripted(text=reply, repeat=True)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        async with Antiphon.embedded([]) as antiphon:
            return (await antiphon.ask("Which harbour?", output=shape, max_rounds=2)).result


@pytest.mark.parametrize(
    ("shape", "result"),
    [
        (Harbour, Harbour(name="Skagen", berths=14)),
        (Place, Place("Skagen", 14)),
        (Named, {"name": "Skagen"}),
        (SCHEMA, SKAGEN),
    ],
    ids=["pydantic", "dataclass", "TypedDict", "schema"],
)
async def test_the_result_is_an_instance_of_the_shape(
    shape: Any, result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await result_of(shape, monkeypatch) == result


class Tide(BaseModel):
    level: int
    metres: float


async def test_a_number_that_the_schema_accepts_as_an_integer_becomes_an_integer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tide = await result_of(Tide, monkeypatch, reply='{"level": 3.0, "metres": 2}')
    assert (tide, type(tide.level), type(tide.metres)) == (Tide(level=3, metres=2.0), int, float)


async def test_a_reply_that_does_not_fit_the_shape_gives_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await result_of(Harbour, monkeypatch, reply='{"name": "Skagen", "berths": 0}') is None


async def test_rules_known_only_to_the_type_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnfitResult, match="name: Value error, it is too long"):
        await result_of(Short, monkeypatch)


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        (object(), "has no JSON Schema"),
        (CliRunner, "CliRunner has no JSON Schema"),
        ({"enum": []}, "no value satisfies it"),
        ({"$ref": "https://example.org"}, "refers to a place outside the document"),
    ],
)
async def test_a_shape_that_cannot_be_used_is_refused_before_anything_is_sent(shape: Any, why: str) -> None:
    async with Antiphon.embedded([], model="offline") as antiphon:
        with pytest.raises(InvalidQuery, match=why):
            await antiphon.ask("Which harbour?", output=shape)


async def test_only_one_output_schema_may_be_given() -> None:
    async with Antiphon.embedded([], model="offline") as antiphon:
        with pytest.raises(InvalidQuery, match="cannot be combined"):
            await antiphon.ask("Which harbour?", output=Harbour, output_schema=SCHEMA)


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [
        (None, 2, "does not exist"),
        (b"{", 3, "is not valid JSON"),
        (b"[]", 3, "does not contain a JSON object"),
        (b'{"enum": []}', 2, "no value satisfies it"),
    ],
)
def test_a_file_that_holds_no_schema_is_reported_by_name(
    tmp_path: Path, content: bytes | None, code: int, why: str
) -> None:
    path = tmp_path / "harbour.json"
    if content is not None:
        path.write_bytes(content)
    done = CliRunner().invoke(app, ["submit", "Which?", "--output-schema", str(path)])
    assert done.exit_code == code, done.output
    assert why in done.output.replace("\n", " ")
