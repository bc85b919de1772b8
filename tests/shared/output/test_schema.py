"""The schemas that answers may have, and the errors of a value that breaks their rules."""

from typing import Any

import pytest
from antiphon_shared.output.bounds import UnfitSchema
from antiphon_shared.output.schema import BYTES_MAX, FAULTS_MAX, OutputSchema

from tests.rows import each_row

CHANNEL = {
    "type": "object",
    "properties": {
        "channel": {"type": "string", "pattern": "^[a-z]+$"},
        "day": {"type": "string", "format": "date"},
        "level": {"type": "integer", "minimum": 1, "maximum": 5},
    },
    "required": ["channel"],
    "additionalProperties": False,
}
TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "left": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        "more": {"type": "array", "items": {"$ref": "#"}},
    },
}


def faults(value: Any, schema: dict[str, Any] = CHANNEL) -> list[str]:
    return [str(fault) for fault in OutputSchema(schema).faults(value)]


@pytest.mark.parametrize("value", [{"channel": "a"}, {"channel": "b", "day": "2026-11-23", "level": 5}])
def test_a_value_that_fits_breaks_no_rule(value: Any) -> None:
    assert faults(value) == []


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({}, "Property: channel, Message: Required field 'channel' is missing"),
        ({"channel": "A"}, 'Property: channel, Message: "A" does not match "^[a-z]+$"'),
        ({"channel": "a", "day": "2026-13-01"}, 'Property: day, Message: "2026-13-01" is not a "date"'),
        ({"channel": "a", "level": True}, 'Property: level, Message: true is not of type "integer"'),
        ({"channel": "a", "level": "3"}, 'Property: level, Message: "3" is not of type "integer"'),
        ({"channel": "a", "level": 0}, "Property: level, Message: 0 is less than the minimum of 1"),
        ([], 'Property: (the whole), Message: [] is not of type "object"'),
    ],
)
def test_a_broken_rule_is_reported_with_the_field_and_the_value(value: Any, fault: str) -> None:
    assert faults(value) == [fault]


def test_the_number_of_reported_faults_is_limited() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    assert len(faults(["x"] * 1_000, schema)) == FAULTS_MAX
    (long,) = faults("x" * 10_000, {"type": "integer"})
    assert len(long) < 400
    (at,) = faults({"k" * 10_000: 1}, {"additionalProperties": {"type": "string"}})
    assert len(at) < 700


def test_a_value_that_breaks_millions_of_rules_is_reported_once() -> None:
    """To make them out takes gigabytes."""
    schema = {"items": {"anyOf": [{"const": n} for n in range(5_000)]}}
    (fault,) = faults(["x"] * 20_000, schema)
    assert "too large to name them" in fault
    assert faults([1] * 1_000, schema) == []


def test_a_schema_may_lead_back_to_itself_through_properties_and_items() -> None:
    assert OutputSchema(TREE).extent.is_recursive
    assert not OutputSchema(CHANNEL).extent.is_recursive
    assert faults({"left": {"more": [{"name": "x"}]}}, TREE) == []
    assert faults({"left": {"more": [{"name": 1}]}}, TREE) != []


def deep(levels: int) -> dict[str, Any]:
    return {"properties": {"a": deep(levels - 1)}} if levels else {}


def doubling(levels: int) -> dict[str, Any]:
    """Return definitions that use each other twice: small to write, vast to evaluate."""
    definitions: dict[str, Any] = {
        f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**definitions, f"a{levels}": {}}}


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    schema = {"properties": {"$id": {"type": "integer"}, "$ref": {"type": "integer"}}}
    assert faults({"$id": 1, "$ref": 2}, schema) == []


BACK_TWICE = {"anyOf": [{"properties": {"n": {"$ref": "#"}}}, {"properties": {"n": {"$ref": "#"}}}]}


BACK_WITH_SIBLINGS = {
    "$ref": "#/$defs/m",
    "properties": {"n": {"$ref": "#"}},
    "$defs": {"m": {"properties": {"n": {"$ref": "#"}}}},
}
NULL_WITH_SIBLINGS = {
    "properties": {"n": {"$ref": "#"}},
    "anyOf": [{"properties": {"n": {"$ref": "#"}}}, {"type": "null"}],
}
"""A schema that checks each part twice at each level of the value."""
ESCAPED = {"$ref": "#/$defs/a%30", "$defs": {**doubling(30)["$defs"], "a%30": {}}}
"""The raw name is harmless; the name with its escapes resolved is not."""
OTHER_BASE = {
    "$ref": "#/$defs/x/properties/y",
    "$defs": {"a0": {}, "x": {**doubling(5), "$id": "urn:x", "properties": {"y": {"$ref": "#/$defs/a0"}}}},
}


@each_row(
    ("schema", "why"),
    [
        (BACK_WITH_SIBLINGS, "leads back to itself through anyOf"),
        (NULL_WITH_SIBLINGS, "leads back to itself through anyOf"),
        (ESCAPED, "is escaped by %"),
        (OTHER_BASE, r"\$id and \$dynamicRef are not supported"),
        ([], "it is not a JSON object"),
        ({"type": "strin"}, "it is not JSON Schema 2020-12"),
        ({"description": "x" * BYTES_MAX}, "bytes, more than the limit of 100,000"),
        (deep(40), "more than 32 levels"),
        (doubling(30), "more than 10,000 schemas"),
        ({"$ref": "https://example.org/schema"}, "refers to a place outside the document"),
        ({"$ref": "#/$defs/nowhere"}, "names nothing in the document"),
        ({"$ref": "#"}, "leads to itself without a step into the value"),
        (BACK_TWICE, "leads back to itself through anyOf"),
        ({"properties": {"a": {"$id": "https://example.org/a"}}}, r"\$id and \$dynamicRef are not supported"),
        ({"pattern": "(?=a)b"}, "regex"),
        ({"pattern": "(a{1000}){1000}"}, "regex"),
        ({"enum": []}, "no value satisfies it"),
        ({"type": "integer", "minimum": 5, "maximum": 3}, "no value satisfies it"),
        ({"allOf": [{"type": "string"}, {"type": "number"}]}, "no value satisfies it"),
    ],
)
def test_a_schema_against_which_no_answer_can_be_checked_is_refused_with_the_reason(
    schema: Any, why: str
) -> None:
    with pytest.raises(UnfitSchema, match=why):
        OutputSchema(schema)


def test_a_pattern_that_backtracks_elsewhere_is_matched_in_linear_time() -> None:
    """Python's own engine would take longer than the universe lasts."""
    assert faults("a" * 50_000 + "!", {"type": "string", "pattern": "^(a+)+$"}) != []
