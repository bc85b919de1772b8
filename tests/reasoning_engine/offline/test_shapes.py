"""Schemas taken apart."""

from typing import Any

import pytest

from reasoning_engine.offline.shapes import alternatives, fits, is_open, types_of

ROOT: dict[str, Any] = {
    "$defs": {"Name": {"type": "string", "minLength": 2}, "Loop": {"$ref": "#/$defs/Loop"}}
}


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "null"}, [{"type": "null"}]),
        ({"$ref": "#/$defs/Name", "title": "N"}, [{"type": "string", "minLength": 2, "title": "N"}]),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Name"}]}, [{"type": "null"}, ROOT["$defs"]["Name"]]),
        ({"allOf": [{"$ref": "#/$defs/Name"}]}, [ROOT["$defs"]["Name"]]),
        ({"$ref": "#/$defs/Loop"}, []),
        (True, []),
    ],
)
def test_references_and_alternatives_are_followed(schema: Any, found: list[Any]) -> None:
    assert list(alternatives(schema, ROOT)) == found


def test_types_are_those_that_a_schema_allows() -> None:
    assert types_of({"type": ["string", "null"]}) == ("string", "null")
    assert types_of({"properties": {}}) == ("object",)
    assert types_of({"items": {}}) == ("array",)
    assert types_of({"type": 3}) == ("any",)


def test_a_value_fits_with_the_definitions_of_the_whole() -> None:
    assert fits({"$ref": "#/$defs/Name"}, "ab", ROOT)
    assert not fits({"$ref": "#/$defs/Name"}, "a", ROOT)
    assert not fits({"type": "string", "pattern": "("}, "a")


def test_an_object_is_open_whose_properties_are_not_named() -> None:
    assert is_open({"type": "object"})
    assert not is_open({"type": "object", "additionalProperties": False})
    assert not is_open({"type": "object", "properties": {"a": {}}})
