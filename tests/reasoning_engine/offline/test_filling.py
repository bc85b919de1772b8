"""Schemas filled from facts: by names, types and formats, and only with values of facts."""

from typing import Any

import pytest
from antiphon_shared.output.bounds import UnfitSchema
from antiphon_shared.output.schema import OutputSchema
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning_engine.offline.filling import NOTHING, fill_shape
from reasoning_engine.offline.shapes import fits
from tests.reasoning_engine.offline.briefings import values_in
from tests.rows import each_row

BOAT = (
    "get_boat",
    {"boat": "Signe"},
    {
        "boat_id": "B-7",
        "name": "Signe",
        "berths": "14",
        "built": "2019-05-04T10:00:00Z",
        "state": "sold",
        "note": "Ask kaj@skagen.example first.",
        "home": {"harbour": "Skagen", "price": 12.5},
        "tags": ["blue", "fast", "blue"],
    },
)
CREW = (
    "list_crew",
    {"boat": "Signe"},
    [
        {"id": 1, "name": "Kaj", "age": 41},
        {"id": 2, "name": "Ida"},
    ],
)


def an_object(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    needed = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def filled(schema: dict[str, Any], question: str = "What about the boat Signe?", *more: Any) -> Any:
    found = fill_shape(schema, values_in(question, BOAT, *more))
    return found if found is not NOTHING and fits(schema, found) else NOTHING


TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


@each_row(
    ("schema", "value"),
    [
        (an_object(name=TEXT), {"name": "Signe"}),
        (an_object(berths={"type": "integer", "minimum": 1, "maximum": 20}), {"berths": 14}),
        (an_object(state={"enum": ["built", "sold"]}), {"state": "sold"}),
        (
            an_object(home=an_object(harbour=TEXT, price=NUMBER)),
            {"home": {"harbour": "Skagen", "price": 12.5}},
        ),
        (an_object(tags={"type": "array", "items": TEXT, "uniqueItems": True}), {"tags": ["blue", "fast"]}),
        (an_object(id=TEXT), {"id": "B-7"}),
        (an_object(["name"], name=TEXT, owner=TEXT), {"name": "Signe"}),
        (an_object(name=TEXT, owner={"type": ["string", "null"]}), {"name": "Signe", "owner": None}),
        (an_object(name={"anyOf": [INTEGER, TEXT]}), {"name": "Signe"}),
        (an_object(home={"type": "object"}), {"home": {"harbour": "Skagen", "price": 12.5}}),
        (an_object(kind={"const": "boat"}, name=TEXT), {"kind": "boat", "name": "Signe"}),
    ],
)
def test_a_shape_is_filled_by_names_types_and_formats(schema: dict[str, Any], value: Any) -> None:
    assert filled(schema) == value


@pytest.mark.parametrize(
    "schema",
    [
        an_object(owner=TEXT),
        an_object(berths={"type": "integer", "maximum": 10}),
        an_object(state={"enum": ["new", "old"]}),
        an_object(paid={"type": "boolean"}),
    ],
)
def test_a_value_that_no_fact_holds_is_not_invented(schema: dict[str, Any]) -> None:
    assert filled(schema) is NOTHING


def test_a_list_of_objects_has_one_for_each_that_is_held() -> None:
    item = an_object(["name"], name=TEXT, age=INTEGER)
    crew = an_object(crew={"type": "array", "items": item})
    found = fill_shape(crew, values_in("List all the crew of the boat Signe", CREW))
    assert found == {"crew": [{"name": "Kaj", "age": 41}, {"name": "Ida"}]}


def test_a_definition_is_followed() -> None:
    schema = {**an_object(home={"$ref": "#/$defs/Home"}), "$defs": {"Home": an_object(harbour=TEXT)}}
    assert filled(schema) == {"home": {"harbour": "Skagen"}}


def test_a_count_is_read_from_text() -> None:
    course: Any = ("get_course", {}, {"course": "Knots", "about": "It has six lessons and a test."})
    found = fill_shape(an_object(number_of_lessons=INTEGER), values_in("How many lessons?", course))
    assert found == {"number_of_lessons": 6}


def test_settings_that_a_result_describes_are_filled_from_the_question() -> None:
    details = {
        "component": "siren",
        "settings": [
            {"name": "site", "type": "string", "required": True, "choices": ["Skagen", "Grenaa"]},
            {"name": "seconds", "type": "integer", "required": True, "minimum": 1, "maximum": 60},
            {"name": "volume", "type": "integer", "required": False, "default": 5},
        ],
    }
    part = an_object(component=TEXT, settings={"type": "object"})
    schema = an_object(parts={"type": "array", "items": part})
    values = values_in(
        "Sound the siren of Grenaa for 20 seconds.",
        ("find", {}, {"component": ["siren"]}),
        ("get_details", {"component": "siren"}, details),
    )
    assert fill_shape(schema, values) == {
        "parts": [{"component": "siren", "settings": {"site": "Grenaa", "seconds": 20}}]
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/nothing"},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]},
        {"type": "object", "properties": 3, "required": "name"},
        {"type": ["nothing"], "items": 7, "anyOf": "x"},
        {"type": "string", "pattern": "("},
        {"type": "array", "items": True, "maxItems": "many"},
    ],
)
def test_a_schema_that_makes_no_sense_ends_without_a_crash(schema: dict[str, Any]) -> None:
    fill_shape(schema, values_in("What about the boat Signe?", BOAT, CREW))


NAMES = st.sampled_from(["name", "berths", "boat_id", "home", "harbour", "tags", "state", "crew", "x"])
LEAVES = st.one_of(
    st.just({}),
    st.builds(lambda low: {"type": "integer", "minimum": low}, st.integers(-3, 20)),
    st.builds(lambda high: {"type": "number", "maximum": high}, st.integers(-3, 20)),
    st.builds(lambda least: {"type": "string", "minLength": least}, st.integers(0, 8)),
    st.sampled_from(
        [
            {"type": "string", "format": "date"},
            {"type": "string", "format": "email"},
            {"type": "string", "pattern": "^[A-Z]-[0-9]$"},
            {"type": ["integer", "null"]},
            {"type": "boolean"},
            {"enum": ["sold", 3, None]},
            {"const": 4},
            {"$ref": "#/$defs/leaf"},
            {"type": "object"},
        ]
    ),
)


def _larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    properties = st.dictionaries(NAMES, inner, max_size=4)
    objects = st.builds(
        lambda parts, needed, more: {
            "type": "object",
            "properties": parts,
            "required": [name for name in parts if name in needed],
            **more,
        },
        properties,
        st.sets(NAMES),
        st.sampled_from([{}, {"additionalProperties": False}]),
    )
    arrays = st.builds(
        lambda items, least, unique: {
            "type": "array",
            "items": items,
            "minItems": least,
            "uniqueItems": unique,
        },
        inner,
        st.integers(0, 2),
        st.booleans(),
    )
    several = st.builds(
        lambda key, parts: {key: parts},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(inner, min_size=1, max_size=3),
    )
    return st.one_of(objects, arrays, several)


SCHEMAS = st.recursive(LEAVES, _larger, max_leaves=8).map(
    lambda schema: {**schema, "$defs": {"leaf": {"type": "string"}}}
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 20)
    | st.floats(-5, 20, allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["sold", "2019-05-04", "B-7", "a@b.example", "14"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
QUESTIONS = st.sampled_from(
    ["Which boat is it?", "Name it B-7, with 4 berths of harbour Skagen.", "List all."]
)


@settings(max_examples=150, deadline=None)
@given(SCHEMAS, st.lists(VALUES, max_size=3), QUESTIONS)
def test_a_filling_that_fits_has_no_faults_under_any_schema(
    schema: dict[str, Any], facts: list[Any], question: str
) -> None:
    results = [("look_up", {"name": str(n)}, value) for n, value in enumerate(facts)]
    found = fill_shape(schema, values_in(question, *results))
    if found is not NOTHING and fits(schema, found):
        try:
            whole = OutputSchema(schema)
        except UnfitSchema:
            raise AssertionError(f"{schema} is no schema, and {found} fits it") from None
        assert not whole.faults(found)
