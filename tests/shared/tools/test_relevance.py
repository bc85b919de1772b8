"""The tools that are relevant to a text."""

from typing import Any

import pytest
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.relevance import rank, tool_names_in
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row


def a_tool(name: str, description: str = "", **properties: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": properties}
    return ToolDefinition(name=name, description=description, input_schema=schema, effect="read")


def names(tools: list[ToolDefinition], text: str, n: int = 10) -> list[str]:
    return [tool.name for tool in rank(tools, text, n)]


WEATHER = a_tool("current_weather", "The weather of a city right now.", city={"description": "Its name."})
ORDERS = a_tool("search_orders", "Find the newest orders of a customer.", customer={"type": "string"})
MAIL = a_tool("sendMail", "Write to somebody.", body={"description": "What the letter says."})
TOOLS = [WEATHER, ORDERS, MAIL]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("What's the weather in Oslo?", "current_weather"),
        ("list my orders", "search_orders"),
        ("an order", "search_orders"),
        ("CUSTOMERS", "search_orders"),
        ("send it", "sendMail"),
        ("a letter", "sendMail"),
        ("two cities", "current_weather"),
    ],
)
def test_a_tool_is_found_by_its_name_its_description_and_its_parameters(text: str, first: str) -> None:
    assert names(TOOLS, text) == [first]


@pytest.mark.parametrize("text", ["", "   ", "what is it?", "xylophone", "é", "!!!"])
def test_an_unrelated_text_finds_no_tool(text: str) -> None:
    assert names(TOOLS, text) == []


def test_nested_parameters_count() -> None:
    items = {"type": "array", "items": {"properties": {"invoice_number": {"type": "string"}}}}
    assert names([a_tool("x", "y", rows=items), *TOOLS], "invoices") == ["x"]


def test_at_most_the_requested_number_of_tools_is_found() -> None:
    same = [a_tool(f"t{n}", "weather") for n in range(5)]
    assert names(same, "weather", 2) == ["t0", "t1"]


def test_equally_relevant_tools_are_ordered_by_name() -> None:
    same = [a_tool(name, "weather") for name in ("c", "a", "b")]
    assert names(same, "weather") == ["a", "b", "c"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    tools = [a_tool("a", "course search"), a_tool("b", "course outline"), a_tool("c", "course price")]
    assert names(tools, "course outline")[0] == "b"


def test_a_short_description_counts_more_than_a_long_one() -> None:
    tools = [a_tool("a", "weather " + "and many other things " * 20), a_tool("b", "weather")]
    assert names(tools, "weather") == ["b", "a"]


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": 1}, {"properties": {"a": True}}, {"properties": {"a": {"description": 1}}}, {"items": []}],
)  # fmt: skip
def test_a_schema_of_any_form_is_read(schema: dict[str, Any]) -> None:
    tool = ToolDefinition(name="weather", description="", input_schema=schema, effect="read")
    assert names([tool], "weather") == ["weather"]


@given(st.lists(st.text(), max_size=6), st.text(), st.integers(0, 5), st.randoms())
def test_the_ranking_depends_on_tools_and_text_alone(
    descriptions: list[str], text: str, n: int, random: Any
) -> None:
    tools = [a_tool(f"t{index}", description) for index, description in enumerate(descriptions)]
    shuffled = list(tools)
    random.shuffle(shuffled)
    found = rank(tools, text, n)
    assert rank(shuffled, text, n) == found
    assert len(found) <= n
    assert len({tool.name for tool in found}) == len(found)


@each_row(
    ("data", "found"),
    [
        ({"tools": [{"name": "a", "description": "x"}, {"name": "b"}], "more": 1}, ("a", "b")),
        ({"tools": []}, ()),
        ({"tools": [{"name": 1}, "a", {}, None, {"name": "b"}]}, ("b",)),
        ({"tools": "a"}, None),
        ({}, None),
        ([{"name": "a"}], None),
        ("a", None),
        (None, None),
    ],
)
def test_malformed_data_of_find_tools_is_tolerated(data: Any, found: tuple[str, ...] | None) -> None:
    assert tool_names_in(data) == found
