"""The parts of a tool's JSON Schema that the offline model's rules read."""

from typing import Any

import pytest
from antiphon_shared.tools.contract import CHANGES

from reasoning_engine.offline.schema import Parameter, Tool, key_nouns, nouns_of, parameters_of, resolved
from tests.rows import each_row

TEXT = {"type": "string"}
_QUERIES = (
    *("query", "queries", "q", "text", "topic", "keyword"),
    *("term", "phrase", "word", "words", "search", "question"),
    *("prompt", "subject", "what", "string", "pattern", "contains", "keywords", "searchTerm", "search_text"),
)


def a_parameter(name: str, schema: dict[str, Any], required: bool = False) -> Parameter:
    return Parameter(name, schema, required, schema)


def a_tool(name: str, properties: dict[str, Any], required: tuple[str, ...] = (), **fields: Any) -> Tool:
    return Tool(
        name, fields.pop("description", ""), {"properties": properties, "required": list(required), **fields}
    )


@each_row(
    ("schema", "types"),
    [
        ({"type": "integer"}, ("integer",)),
        ({"type": ["null", "string", "integer"]}, ("string", "integer")),
        ({"type": "null"}, ("string", "integer", "number")),
        ({"type": ["string", 7]}, ("string",)),
        ({"properties": {"a": TEXT}}, ("object",)),
        ({"properties": "none"}, ("string", "integer", "number")),
        ({"type": "string", "properties": {}}, ("string",)),
        ({}, ("string", "integer", "number")),
    ],
)
def test_a_parameter_may_have_the_types_that_it_names_or_all_plain_ones(
    schema: dict[str, Any], types: tuple[str, ...]
) -> None:
    assert a_parameter("a", schema).types == types


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        ({"const": 7, "enum": [1, 2]}, (7,)),
        ({"const": None}, (None,)),
        ({"enum": ["a", None, "b", 0]}, ("a", "b", 0)),
        ({"enum": "a"}, ()),
        ({}, ()),
    ],
)
def test_a_parameter_is_free_unless_its_schema_lists_values(
    schema: dict[str, Any], options: tuple[Any, ...]
) -> None:
    assert a_parameter("a", schema).options == options


@each_row("word", _QUERIES)
def test_a_text_parameter_is_a_query_by_its_name(word: str) -> None:
    assert a_parameter(word, TEXT).is_query
    assert a_parameter(word, {"type": "array"}).is_query
    assert not a_parameter(word, {"type": "integer"}).is_query
    assert not a_parameter(word, {"type": "string", "enum": ["a"]}).is_query
    assert not a_parameter(f"{word}_id", TEXT).is_query


@pytest.mark.parametrize("word", ["name", "city", "title", "id"])
def test_any_other_text_is_not_a_query(word: str) -> None:
    assert not a_parameter(word, TEXT).is_query


@each_row(
    "word",
    ["id", "ids", "key", "ref", "uuid", "number", "no", "isbn", "sku", "slug", "orderId", "room_number"],
)
def test_a_parameter_is_a_key_by_its_name(word: str) -> None:
    assert a_parameter(word, TEXT).is_key


@pytest.mark.parametrize("word", ["name", "idea", "query", "keyword"])
def test_a_parameter_of_another_name_is_not_a_key(word: str) -> None:
    assert not a_parameter(word, TEXT).is_key


@each_row("word", ["limit", "max", "maximum", "top", "count", "n", "first", "max_results"])
def test_an_optional_integer_is_a_limit_by_its_name(word: str) -> None:
    assert a_parameter(word, {"type": "integer"}).is_limit
    assert not a_parameter(word, {"type": "integer"}, required=True).is_limit
    assert not a_parameter(word, TEXT).is_limit
    assert not a_parameter("page", {"type": "integer"}).is_limit


@each_row(
    ("name", "schema", "is_date"),
    [
        ("a", {"format": "date"}, True),
        ("a", {"format": "date-time"}, True),
        ("a", {"format": "time"}, False),
        ("date", {}, True),
        ("start_date", {}, True),
        ("day", {}, True),
        ("when", {}, True),
        ("until", {}, True),
        ("month", {}, False),
    ],
)
def test_a_date_is_one_by_its_format_or_its_name(name: str, schema: dict[str, Any], is_date: bool) -> None:
    assert a_parameter(name, schema).is_date is is_date


@pytest.mark.parametrize(
    ("description", "schema", "writes"),
    [
        ("Reads.", {}, False),
        (f"Books a room.\n{CHANGES}", {}, True),
    ],
)
def test_a_tool_is_a_write_by_its_description(description: str, schema: dict[str, Any], writes: bool) -> None:
    assert Tool("book", description, schema).writes is writes


def test_a_tool_is_known_by_the_words_of_its_name_description_and_parameters() -> None:
    tool = a_tool("bookFlights", {"seat_class": TEXT}, description=f"Reserves tickets.\n{CHANGES}")
    assert tool.verb == "book"
    assert tool.name_stems == {"book", "flight"}
    assert tool.all_stems >= {"book", "flight", "reserv", "ticket", "seat", "class"}
    assert Tool("", "", {}).verb == ""


def test_a_required_parameter_takes_the_search_words_before_an_optional_one() -> None:
    found = a_tool("t", {"text": TEXT, "query": TEXT}, ("query",)).search_parameter
    assert found is not None
    assert found.name == "query"
    first = a_tool("t", {"text": TEXT, "query": TEXT}).search_parameter
    assert first is not None
    assert first.name == "text"
    assert a_tool("t", {"city": TEXT}).search_parameter is None


def test_a_catalogue_deals_in_the_nouns_of_its_tools_and_parameters() -> None:
    tools = (
        a_tool("find_boats", {"harbour_name": TEXT, "lamp_query": TEXT, "by_id": TEXT}),
        a_tool("get_all_ox", {"topic_x": TEXT, "crew": TEXT}),
    )
    assert nouns_of(tools) == {"boat", "harbour", "crew"}


def test_the_keys_of_a_result_speak_of_things() -> None:
    assert key_nouns({"hall_title", "id", "query", "ox", "courseName"}) == {"hall", "cours"}
    assert key_nouns({"a" * 101}) == {"a" * 100}


def test_the_properties_of_a_schema_are_its_parameters_in_their_order() -> None:
    schema = {"properties": {"b": TEXT, "a": {"type": "integer"}, "c": 7}, "required": ["a", 7, "z"]}
    found = parameters_of(schema, schema)
    assert [(one.name, one.required) for one in found] == [("b", False), ("a", True)]
    assert [one.required for one in parameters_of({**schema, "required": "a"}, schema)] == [False, False]


def test_a_schema_that_is_not_an_object_has_no_parameters() -> None:
    assert parameters_of({"properties": [1]}, {}) == ()
    assert parameters_of({}, {}) == ()


ROOT = {
    "$defs": {
        "Day": {"type": "string", "format": "date"},
        "Again": {"$ref": "#/$defs/Day", "title": "again"},
        "Loop": {"$ref": "#/$defs/Loop"},
        "No": 7,
    }
}


@each_row(
    ("schema", "found"),
    [
        (TEXT, TEXT),
        ({"$ref": "#/$defs/Day"}, {"type": "string", "format": "date"}),
        ({"$ref": "#/$defs/Day", "format": "time"}, {"type": "string", "format": "time"}),
        ({"$ref": "#/$defs/Again"}, {"type": "string", "format": "date", "title": "again"}),
        ({"$ref": "#/$defs/None", "title": "x"}, {"title": "x"}),
        ({"$ref": "#/$defs/No"}, {}),
        ({"anyOf": [{"type": "null"}, TEXT, {"type": "integer"}]}, TEXT),
        ({"oneOf": [7, TEXT], "title": "x"}, {"type": "string", "title": "x"}),
        ({"allOf": [{"$ref": "#/$defs/Day"}]}, {"type": "string", "format": "date"}),
        ({"anyOf": [TEXT], "type": "integer"}, TEXT),
        ({"anyOf": [{"type": "null"}], "title": "x"}, {}),
        ({"anyOf": "a"}, {"anyOf": "a"}),
        ({"anyOf": [{"oneOf": [TEXT]}]}, TEXT),
    ],
)
def test_references_are_followed_and_the_first_alternative_is_taken(
    schema: dict[str, Any], found: dict[str, Any]
) -> None:
    assert resolved(schema, ROOT) == found


def test_a_reference_to_itself_ends() -> None:
    assert resolved({"$ref": "#/$defs/Loop"}, ROOT) == {}
