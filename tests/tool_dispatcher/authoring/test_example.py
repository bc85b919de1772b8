"""Examples made from a schema."""

from typing import Any

from jsonschema import Draft202012Validator

from tests.rows import each_row
from tool_dispatcher.authoring.example import example_of

PROPERTIES: list[dict[str, Any]] = [
    {"type": "string", "minLength": 9},
    {"type": "string", "maxLength": 2},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "string", "pattern": "^x+$", "examples": ["xx"]},
    {"type": "integer", "minimum": 7},
    {"type": "integer", "minimum": 7, "maximum": 7},
    {"type": "integer", "exclusiveMinimum": 7, "multipleOf": 5},
    {"type": "integer", "maximum": -3},
    {"type": "integer", "exclusiveMaximum": 1},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": ["null", "boolean"]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 3},
    {"type": "array", "maxItems": 0},
    {"type": "object", "properties": {"b": {"const": 5}, "c": {}}, "required": ["b"]},
    {"anyOf": [{"type": "null"}, {"type": "integer"}]},
    {"$ref": "#/$defs/Word"},
    {"default": 3, "type": "integer"},
    {},
]


@each_row("schema", PROPERTIES)
def test_an_example_fits_its_schema(schema: dict[str, Any]) -> None:
    whole = {
        "type": "object",
        "properties": {"a": schema, "optional": {"type": "string"}},
        "required": ["a"],
        "$defs": {"Word": {"type": "string", "minLength": 1}},
    }
    example = example_of(whole)
    Draft202012Validator(whole).validate(example)
    assert example.keys() == {"a"}


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert isinstance(example_of(node), dict)
