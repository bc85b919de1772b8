"""The schema in the form of the Messages API: the one that the SDK makes, without its import."""

from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from anthropic import transform_schema
from antiphon_shared.output.bounds import UnfitSchema
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic_core import to_json

from reasoning_engine.native_schema import native_schema

NAMES = st.sampled_from(["a", "b", "type", "$ref"])
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "boolean", "null", ["string", "null"]]),
        "description": st.sampled_from(["", "A part."]),
        "title": st.just("Part"),
        "enum": st.sampled_from([["x", 1, None], [{"x": 1}]]),
        "const": st.sampled_from(["x", None, ["x"]]),
        "format": st.sampled_from(["", "email", "regex"]),
        "minLength": st.integers(0, 2),
        "default": st.just("x"),
        "$ref": st.just("#/$defs/a"),
    },
)


def schemas_of(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, parts, min_size=1, max_size=3)},
        optional={
            "additionalProperties": st.just(False),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "description": st.just("An object."),
            "minProperties": st.just(1),
        },
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={"maxItems": st.just(3), "items": parts, "minItems": st.integers(0, 2)},
    )
    branches = st.dictionaries(
        st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(parts, min_size=1, max_size=2), min_size=1
    )
    typed = st.fixed_dictionaries({}, optional={"type": st.just("string"), "const": st.just("x")})
    return objects | arrays | st.builds(lambda words, more: {**words, **more}, branches, typed)


SCHEMAS = st.recursive(LEAVES | st.just(True), schemas_of, max_leaves=6).filter(lambda one: one is not True)


def by_the_sdk(schema: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return transform_schema(deepcopy(schema))
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError):
        return None


@given(SCHEMAS, LEAVES)
@example({"type": "object", "properties": {"a": True}}, {})
@example({"type": "string", "format": "regex", "minLength": 1}, {"type": "null"})
def test_it_is_the_one_of_the_sdk(schema: dict[str, Any], definition: dict[str, Any]) -> None:
    definition.pop("$ref", None)
    whole = {**schema, "$defs": {"a": definition}}
    before = deepcopy(whole)
    with suppress(UnfitSchema):  # such a schema is refused with the query
        assert to_json(native_schema(whole)) == to_json(by_the_sdk(whole))
        assert whole == before


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
    ],
    ids=["any object", "an open object", "a recursive one"],
)
def test_the_api_takes_neither_open_nor_recursive_objects(schema: dict[str, Any]) -> None:
    assert native_schema(schema) is None
