"""Validation of arguments: strict, and helpful when it refuses."""

import json
import re
from datetime import date
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Any, Literal

import pytest
from antiphon_shared.tools.calls import ToolError
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field

from tests.rows import each_row
from tool_dispatcher.authoring.tool import Tool, tool
from tool_dispatcher.authoring.validate import validate


class Level(IntEnum):
    LOW = 1


class Filter(BaseModel):
    model_config = ConfigDict(strict=False, extra="ignore")
    name: str
    tags: list[str] = []


@tool(effect="read")
def ask(
    text: str = "",
    number: int = 0,
    share: float = 0.0,
    yes: bool = False,
    day: date | None = None,
    price: Decimal = Decimal(1),
    either: int | str = 0,
    which: Literal[1, 2, "three"] = 1,
    level: Level = Level.LOW,
    filters: list[Filter] = [],  # noqa: B006  # never changed
    table: dict[str, int] = {},  # noqa: B006  # never changed
    course_name: str = "",
    small: Annotated[int, Field(ge=1, le=3)] = 1,
) -> None:
    """Takes one of everything."""


SCHEMA = {
    "properties": {
        "text": {"type": "string"},
        "number": {"type": "integer", "minimum": 0},
        "share": {"type": "number"},
        "yes": {"type": "boolean"},
        "filters": {
            "type": "array",
            "items": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
    }
}
ask_schema = Tool("ask_schema", "Takes some.", SCHEMA, print, effect="read")
needy = Tool(
    "needy", "Needs a.", {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}, print, effect="read"
)

GOOD: list[tuple[Tool, dict[str, Any]]] = [
    (ask, {}),
    (ask, {"share": 1, "day": "2026-01-31", "price": "1.50", "either": "x", "which": 2, "level": 1}),
    (ask, {"filters": [{"name": "a", "tags": []}], "table": {"a": 1}, "number": -(10**30)}),
    (ask_schema, {"share": 1, "number": 0, "yes": True, "filters": [{"name": "a", "other": 1}]}),
]

BAD: list[tuple[Tool, dict[str, Any], str, str]] = [
    (ask, {"number": "42"}, "number", 'valid integer, got "42"'),
    (ask, {"number": True}, "number", "valid integer, got true"),
    (ask, {"number": 1.0}, "number", "valid integer"),
    (ask, {"number": None}, "number", "got null"),
    (ask, {"share": "1.5"}, "share", "valid number"),
    (ask, {"share": True}, "share", "valid number"),
    (ask, {"share": float("nan")}, "share", "finite"),
    (ask, {"yes": 1}, "yes", "valid boolean, got 1"),
    (ask, {"yes": "true"}, "yes", "valid boolean"),
    (ask, {"text": 5}, "text", "valid string"),
    (ask, {"text": ["a"]}, "text", "valid string"),
    (ask, {"day": "tomorrow"}, "day", "valid date"),
    (ask, {"day": 20260131}, "day", "valid date"),
    (ask, {"either": 1.5}, "either", "valid integer.*, or: .*valid string"),
    (ask, {"which": 3}, "which", "'three'"),
    (ask, {"which": True}, "which", "not one of"),
    (ask, {"level": True}, "level", "."),
    (ask, {"small": 4}, "small", "less than or equal to 3"),
    (ask, {"table": {"a": "1"}}, "table.a", "valid integer"),
    (ask, {"table": []}, "table", "valid dict|object"),
    (ask, {"filters": [{"name": "a"}, {"name": 1}]}, "filters[1].name", "valid string, got 1"),
    (ask, {"filters": [{"name": "a", "x": 1}]}, "filters[0].x", "no such field"),
    (ask, {"filters": [{}]}, "filters[0].name", "required, but missing"),
    (ask, {"course": "a"}, "course", "no such field; did you mean 'course_name'"),
    (ask, {"p0": "a"}, "p0", "no such field"),
    (ask, {"text": "\ud800"}, "", "not JSON"),
    (ask, {"text": "x" * 10_000, "number": "y" * 100_000}, "number", "valid integer"),
    (ask_schema, {"number": "42"}, "number", "not of type 'integer'"),
    (ask_schema, {"number": True}, "number", "not of type 'integer'"),
    (ask_schema, {"number": -1}, "number", "minimum"),
    (ask_schema, {"yes": 1}, "yes", "not of type 'boolean'"),
    (ask_schema, {"texts": "a"}, "texts", "no such field; did you mean 'text'"),
    (ask_schema, {"filters": [{}]}, "filters[0].name", "required, but missing"),
    (needy, {"a": 1}, "b", "required, but missing"),
]


@pytest.mark.parametrize(("asked", "arguments"), GOOD)
def test_good_arguments_are_taken(asked: Tool, arguments: dict[str, Any]) -> None:
    assert isinstance(validate(asked, arguments), dict)


@each_row(("asked", "arguments", "field", "why"), BAD)
def test_a_bad_argument_is_named_with_the_fix(
    asked: Tool, arguments: dict[str, Any], field: str, why: str
) -> None:
    error = validate(asked, arguments)
    assert isinstance(error, ToolError)
    assert error.error_type == "validation_error"
    assert error.fields.keys() == {field}
    assert len(error.message) <= 2_000
    assert re.search(why, error.fields[field])
    assert f"Call {asked.name} again" in error.suggested_action
    assert error.example_valid_call is not None
    assert isinstance(validate(asked, error.example_valid_call), dict)
    assert ToolError.model_validate_json(error.model_dump_json()) == error


def test_every_fault_is_reported_at_once() -> None:
    error = validate(ask, {"number": "1", "yes": 0, "nothing": 1})
    assert isinstance(error, ToolError)
    assert error.fields.keys() == {"number", "yes", "nothing"}


def test_faults_are_bounded() -> None:
    for asked in (ask, ask_schema):
        error = validate(asked, {f"x{n}": n for n in range(1_000)})
        assert isinstance(error, ToolError)
        assert len(error.fields) <= 20


def test_an_example_of_the_author_is_given_back() -> None:
    class Span(BaseModel):
        __example__ = {"low": 7}
        low: int = Field(ge=5)

    @tool(effect="read")
    def between(span: Span) -> None:
        """Between."""

    @tool(effect="read", example={"q": "why"})
    def search(q: str) -> None:
        """Searches."""

    assert (between.example, search.example) == ({"low": 7}, {"q": "why"})


def test_an_example_that_cannot_be_made_is_left_out() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^[0-9]{7}$"}}, "required": ["a"]}
    asked = Tool("asked", "Asks.", schema, print, effect="read")
    error = validate(asked, {})
    assert isinstance(error, ToolError)
    assert error.example_valid_call is None


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_names = st.sampled_from(sorted(ask.input_schema["properties"])) | st.text(max_size=5)


@given(st.dictionaries(_names, _json, max_size=4))
def test_accepted_arguments_fit_the_published_schema(arguments: dict[str, Any]) -> None:
    """No input crashes validation, and it never accepts a value that its own schema refuses."""
    for asked in (ask, ask_schema):
        if isinstance(validate(asked, arguments), dict):
            Draft202012Validator(asked.input_schema).validate(json.loads(json.dumps(arguments)))


class Page(BaseModel):
    model_config = ConfigDict(strict=False, extra="ignore")
    number: int


@tool(effect="read")
def search(page: Page) -> None:
    """Takes a model whole."""


@pytest.mark.parametrize("arguments", [{"number": "1"}, {"number": True}, {"number": 1, "more": 1}])
def test_a_model_as_argument_is_validated_strictly_despite_its_own_settings(
    arguments: dict[str, Any],
) -> None:
    assert isinstance(validate(search, arguments), ToolError)
