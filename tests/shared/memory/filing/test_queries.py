"""The arguments that form the search query of a call."""

from typing import Any

import pytest
from antiphon_shared.memory.filing.queries import search_query
from hypothesis import given
from hypothesis import strategies as st

from tests.memories import tool_output


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": "who  built\nthe bridge", "limit": 5}, "who built the bridge"),
        ({"q": "bridge", "page": 2, "id": "abc def"}, "bridge"),
        ({"searchQuery": "bridge", "course_name": "MCP"}, "bridge; MCP"),
        ({"keywords": ["bridge", "steel", 7, "bridge"]}, "bridge; steel"),
        ({"course": "MCP: Build Rich-Context Apps"}, "MCP: Build Rich-Context Apps"),
        ({"anything": "two words", "n": 1}, "two words"),
        ({"query": "橋"}, "橋"),
        ({"anything": "oneword"}, ""),
        ({"anything": "two words", "other": "three more words"}, ""),
        ({"id": "F12"}, ""),
        ({"query": "2024-01-01"}, ""),
        ({"query": "12 345"}, ""),
        ({"query": "https://a.example/b?c=d"}, ""),
        ({"query": "ann@a.example"}, ""),
        ({"name": "ORD-2024-0099"}, ""),
        ({"name": "sort_by_date"}, ""),
        ({"query": True, "text": None, "topic": {"a": "b c"}}, ""),
        ({}, ""),
    ],
)
def test_a_query_contains_words_but_no_ids_dates_or_addresses(arguments: dict[str, Any], query: str) -> None:
    assert search_query(arguments) == query


def test_a_query_is_bounded() -> None:
    assert len(search_query({"query": "words " * 10_000})) <= 400


@given(st.dictionaries(st.text(), tool_output, max_size=4))
def test_the_query_is_one_line_for_any_arguments(arguments: dict[str, Any]) -> None:
    assert len(search_query(arguments).splitlines()) <= 1
