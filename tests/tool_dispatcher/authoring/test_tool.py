"""Defining tools: the tool made from a function, and the refusals with their fix."""

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from antiphon_shared.process.errors import ConfigurationError
from pydantic import BaseModel, Field, RootModel, field_validator

from tests.rows import each_row
from tests.tool_dispatcher.builders import ANYTHING, a_context
from tests.tool_dispatcher.toolboxes.postponed import later
from tool_dispatcher.authoring.contract import complete
from tool_dispatcher.authoring.tool import (
    FunctionTool,
    InvalidTool,
    Tool,
    ToolContext,
    tool,
)
from tool_dispatcher.authoring.toolset import Toolset


class Colour(Enum):
    RED = "red"


class Range(BaseModel):
    low: int = Field(ge=0)
    high: int | None = None


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Names(RootModel[list[str]]):
    pass


class Opaque:
    pass


@tool(effect="read", timeout_s=5)
async def paint(
    wall: Annotated[str, Field(description="Which wall.", min_length=1)],
    colour: Colour,
    context: ToolContext,
    coats: Literal["one", "two"] = "one",
    area: Range | None = None,
) -> str:
    """Paints a wall."""
    return f"{wall} {colour.value} {coats} {area} {context.call_id}"


class TestSchema:
    def test_type_hints_become_a_closed_schema_with_the_contract(self) -> None:
        assert paint.definition.input_schema == {
            "type": "object",
            "additionalProperties": False,
            "required": ["wall", "colour"],
            "properties": {
                "wall": {"type": "string", "description": "Which wall.", "minLength": 1},
                "colour": {"$ref": "#/$defs/Colour"},
                "coats": {"type": "string", "enum": ["one", "two"], "default": "one"},
                "area": {"anyOf": [{"$ref": "#/$defs/Range"}, {"type": "null"}], "default": None},
            },
            "$defs": {
                "Colour": {"type": "string", "enum": ["red"]},
                "Range": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["low"],
                    "properties": {
                        "low": {"type": "integer", "minimum": 0},
                        "high": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                    },
                },
            },
            "x-orchestration": complete("paint", "read", {"timeout_s": 5}).as_keyword(),
        }

    def test_name_and_description_come_from_the_function(self) -> None:
        assert (paint.name, paint.description, paint.effect) == ("paint", "Paints a wall.", "read")

    def test_name_and_description_may_be_given(self) -> None:
        named = tool(effect="write", name="x-1", description="Other.")(lambda: None)
        assert (named.name, named.description) == ("x-1", "Other.")

    def test_a_single_model_is_the_arguments(self) -> None:
        @tool(effect="read")
        def between(span: Range) -> int:
            """Something between."""
            return span.low

        assert set(between.input_schema["properties"]) == {"low", "high"}
        assert between.input_schema["additionalProperties"] is False
        assert between.call(between.parameters.read({"low": 3}), a_context()) == 3

    def test_a_recursive_model_keeps_an_object_at_the_top(self) -> None:
        @tool(effect="read")
        def walk(node: Node) -> str:
            """Walks a tree."""
            return node.name

        assert walk.input_schema["type"] == "object"
        assert "Node" in walk.input_schema["$defs"]

    def test_parameters_may_have_the_names_that_pydantic_reserves(self) -> None:
        @tool(effect="read")
        def odd(json: str, model_config: int, _hidden: bool = False) -> list[Any]:
            """Odd names."""
            return [json, model_config, _hidden]

        arguments = {"json": "j", "model_config": 1, "_hidden": True}
        assert odd.call(odd.parameters.read(arguments), a_context()) == ["j", 1, True]

    def test_a_default_that_is_not_json_is_left_to_the_function(self) -> None:
        nothing = Opaque()

        @tool(effect="read")
        def find(key: str, default: Any = nothing) -> bool:
            """Finds a key."""
            return default is nothing

        assert find.call(find.parameters.read({"key": "k"}), a_context()) is True
        assert "default" not in find.input_schema["properties"]["default"]

    def test_hints_that_are_text_are_resolved(self) -> None:
        assert later.input_schema["properties"] == {"x": {"type": "integer"}}
        assert later.call(later.parameters.read({"x": 2}), a_context()) == 4

    def test_a_json_schema_is_closed_by_default(self) -> None:
        closed = Tool("t", "T.", {"properties": {"a": {}}}, print, effect="read")
        opened = Tool("t", "T.", ANYTHING, print, effect="read")
        assert closed.input_schema["additionalProperties"] is False
        assert opened.input_schema["additionalProperties"] is True


class TestContract:
    def test_every_constructor_of_a_tool_takes_the_same_options(self) -> None:
        toolset = Toolset()
        made = [
            Tool("t", "T.", ANYTHING, print, effect="write", retry=5, scopes="crm", idempotent=True),
            FunctionTool(fine, effect="write", description="T.", retry=5, scopes="crm", idempotent=True),
            tool(effect="write", description="T.", retry=5, scopes="crm", idempotent=True)(fine),
            toolset.tool(effect="write", description="T.", retry=5, scopes="crm", idempotent=True)(fine),
        ]
        assert len({one.contract.model_dump_json() for one in made}) == 1
        assert made[0].contract.retry.attempts == 5
        assert [one.name for one in toolset] == ["fine"]

    def test_the_contract_is_part_of_the_definition(self) -> None:
        searched = tool(effect="read", description="S.", depends_on="look", cache_ttl_s=60)(fine)
        assert searched.definition.contract == searched.contract
        assert (searched.effect, searched.timeout_s) == ("read", 30)


class TestExamples:
    def test_examples_of_the_author_are_published_and_the_first_is_shown_on_errors(self) -> None:
        shown = tool(effect="read", description="E.", examples=[{"a": 7}, {"a": 8}])(fine)
        assert shown.input_schema["examples"] == [{"a": 7}, {"a": 8}]
        assert shown.example == {"a": 7}

    def test_an_example_and_examples_are_combined(self) -> None:
        shown = tool(effect="read", description="E.", example={"a": 1}, examples=[{"a": 2}])(fine)
        assert shown.input_schema["examples"] == [{"a": 1}, {"a": 2}]

    def test_generated_examples_are_not_published(self) -> None:
        made = tool(effect="read", description="E.")(fine)
        assert "examples" not in made.input_schema
        assert made.example == {"a": 1}

    def test_a_model_and_a_schema_bring_their_own(self) -> None:
        class Span(BaseModel):
            __example__ = [{"low": 7}, {"low": 8}]  # no field
            low: int

        @tool(effect="read")
        def between(span: Span) -> None:
            """Between."""

        schema = {"properties": {"a": {"type": "integer"}}, "examples": [{"a": 3}]}
        assert between.input_schema["examples"] == [{"low": 7}, {"low": 8}]
        assert Tool("t", "T.", schema, print, effect="read").example == {"a": 3}
        with pytest.raises(InvalidTool, match=r"example .* is not valid: b: no such field"):
            Tool("t", "T.", {**schema, "examples": [{"b": 3}]}, print, effect="read")

    def test_values_of_python_are_shown_as_json(self) -> None:
        @tool(effect="read", example={"day": date(2026, 1, 31)})
        def on(day: date) -> None:
            """On a day."""

        assert on.example == {"day": "2026-01-31"}

    def test_a_validator_that_breaks_is_not_a_crash(self) -> None:
        class Fragile(BaseModel):
            a: int

            @field_validator("a")
            @classmethod
            def breaks(cls, value: int) -> int:
                raise KeyError(value)

        def fragile(arguments: Fragile) -> None: ...

        assert tool(effect="read", description="F.")(fragile).example is None
        with pytest.raises(InvalidTool, match=r"not valid: KeyError: 1 .*'fragile'"):
            tool(effect="read", description="F.", example={"a": 1})(fragile)


class TestCalling:
    async def test_a_decorated_function_stays_callable(self) -> None:
        assert await paint("north", Colour.RED, a_context()) == "north red one None c1"
        assert inspect.signature(paint).parameters.keys() == {"wall", "colour", "context", "coats", "area"}

    def test_bound_methods_partials_and_callable_objects_can_be_tools(self) -> None:
        class Shop:
            def price(self, item: str) -> str:
                """Says a price."""
                return f"{item}: 1"

            async def __call__(self, item: str) -> str:
                """Buys."""
                return item

        assert tool(effect="read")(Shop().price).call({"item": "tea"}, a_context()) == "tea: 1"
        assert tool(effect="write", name="buy", description="Buys.")(Shop()).is_async
        fixed = functools.partial(pow, exp=2)
        with pytest.raises(InvalidTool, match="needs a type hint"):
            tool(effect="read", name="square", description="Squares.")(fixed)

    async def test_the_context_is_injected_and_may_be_optional(self) -> None:
        @tool(effect="read")
        def who(context: ToolContext | None = None) -> str:
            """Says who calls."""
            return context.session_id if context else "nobody"

        assert who() == "nobody"
        assert who.call({}, a_context()) == "s1"
        assert who.input_schema["properties"] == {}


def _define(function: Callable[..., Any], **options: Any) -> None:
    tool(**{"effect": "read", "description": "D.", "name": "t", **options})(function)


def star(*numbers: int) -> None: ...
def stars(**words: str) -> None: ...
def positional(a: int, /) -> None: ...
def unannotated(a) -> None: ...  # type: ignore[no-untyped-def]  # the very fault
def opaque(a: Opaque) -> None: ...
def nested_callable(a: list[Callable[[], int]]) -> None: ...
def field_default(a: int = Field(default=1, ge=0)) -> None: ...
def root(a: Names) -> None: ...
def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


def unresolved(a: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821  # the very fault
def fine(a: int) -> None: ...


BAD_FUNCTIONS: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (fine, {"description": None}, "no description.*docstring"),
    (fine, {"description": "  "}, "no description.*docstring"),
    (fine, {"effect": None}, r'effect is missing.*@tool\(effect="read"\)'),
    (fine, {"effect": "reed"}, "effect is 'reed'.*Write effect="),
    (fine, {"name": "has space"}, "its name.*name="),
    (fine, {"name": "x" * 65}, "its name.*name="),
    (fine, {"name": ""}, "its name.*name="),
    (fine, {"name": "line\n"}, "its name.*name="),
    (lambda: None, {"name": None}, "its name.*name="),
    (fine, {"timeout_s": 0}, "timeout_s is 0.*above 0"),
    (fine, {"timeout_s": float("nan")}, "timeout_s is nan.*above 0"),
    (fine, {"timeout_s": float("inf")}, "timeout_s is inf.*above 0"),
    (fine, {"timeout_s": "soon"}, "timeout_s is 'soon'.*above 0"),
    (fine, {"timeout_s": True}, "timeout_s is True.*above 0"),
    (fine, {"example": {"a": "1"}}, "example .* is not valid: a: .*valid integer"),
    (fine, {"examples": [{"a": 1}, {}]}, "example {} is not valid: a: required"),
    (fine, {"examples": {"a": 1}}, "examples are .*Pass a list"),
    (fine, {"examples": [1]}, "example 1 is not valid: it is not a dict"),
    (fine, {"timeout": 5}, "option 'timeout' does not exist.*Did you mean timeout_s"),
    (fine, {"mode": "dependent"}, "dependent, without depends_on"),
    (fine, {"reconcile": print}, "read with reconcile"),
    (star, {}, r"\*numbers.*Name every parameter"),
    (stars, {}, r"\*\*words.*Name every parameter"),
    (positional, {}, "'a' is positional-only.*Remove the `/`"),
    (unannotated, {}, "'a' needs a type hint.*Write `a: str`"),
    (opaque, {}, "type of parameter 'a' cannot be used"),
    (nested_callable, {}, "type of parameter 'a' cannot be used"),
    (field_default, {}, "'a' has a Field as its default.*Annotated"),
    (root, {}, "'a' is a RootModel"),
    (generator, {}, "generator.*Return a list"),
    (async_generator, {}, "generator.*Return a list"),
    (unresolved, {}, "'Missing' is not defined.*top level"),
    (Opaque, {}, "not a function"),
    (paint, {}, "not a function"),
    ("text", {}, "not a function"),  # type: ignore[list-item]  # the very fault
]


@each_row(("function", "options", "why"), BAD_FUNCTIONS)
def test_a_bad_definition_is_refused_with_the_fix(
    function: Callable[..., Any], options: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidTool, match=f"(?s){why}") as refused:
        _define(function, **options)
    assert isinstance(refused.value, ConfigurationError)
    assert refused.value.hint


def test_a_decorator_without_parentheses_is_refused_with_the_fix() -> None:
    with pytest.raises(InvalidTool, match=r"effect is missing .*'fine'.*@tool\(effect="):
        tool(fine)  # type: ignore[arg-type]  # the very fault


def test_an_unbound_method_is_refused_with_the_advice_to_bind_it() -> None:
    with pytest.raises(InvalidTool, match=r"'self' needs a type hint.*bound method"):

        class Shop:
            @tool(effect="read")
            def price(self, item: str) -> str:
                """Says a price."""
                return item


BAD_SCHEMAS: list[tuple[Any, str]] = [
    (None, "not the JSON Schema of an object"),
    ([], "not the JSON Schema of an object"),
    ({"type": "string"}, "not the JSON Schema of an object"),
    ({"type": "object", "properties": []}, "not a valid JSON Schema"),
    ({"properties": {"a": {"type": "text"}}}, "not a valid JSON Schema"),
    ({"properties": {"a": {"pattern": "("}}}, "not a valid JSON Schema"),
    ({"properties": {"a": {"$ref": "#/$defs/Missing"}}}, "not a valid JSON Schema"),
    ({"properties": {"a": {"$ref": "https://example.com/schema.json"}}}, "not a valid JSON Schema"),
    ({"properties": {"a": object()}}, "not JSON"),
]


@each_row(("schema", "why"), BAD_SCHEMAS)
def test_a_bad_json_schema_is_refused(schema: Any, why: str) -> None:
    with pytest.raises(InvalidTool, match=f"Tool 't'.*{why}.*Pass a JSON Schema"):
        Tool("t", "T.", schema, print, effect="read")


def test_a_value_that_is_not_callable_is_refused() -> None:
    with pytest.raises(InvalidTool, match="Pass a callable"):
        Tool("t", "T.", ANYTHING, None, effect="read")  # type: ignore[arg-type]  # the very fault


class TestToolset:
    def test_a_toolset_contains_its_given_and_its_decorated_tools(self) -> None:
        toolset = Toolset(paint)

        @toolset.tool(effect="read")
        def look() -> str:
            """Look."""
            return "seen"

        assert [one.name for one in toolset] == ["paint", "look"]
        assert look() == "seen"

    def test_two_tools_of_one_name_are_refused(self) -> None:
        other = tool(effect="read", name="paint", description="P.")(lambda: None)
        with pytest.raises(InvalidTool, match=r"'paint'.*another tool with this name.*name="):
            Toolset(paint, paint, other)

    def test_a_plain_function_is_refused(self) -> None:
        with pytest.raises(InvalidTool, match=r"'fine'.*not a tool.*Decorate"):
            Toolset(fine)  # type: ignore[arg-type]  # the very fault
