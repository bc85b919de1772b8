"""Positions lead to the source of a statement in the result."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from tests.memories import a_memory, a_round
from tests.rows import each_row
from tool_dispatcher.results.position import value_at

DATA: dict[str, Any] = {
    "results": [{"text": "One. Two."}, {"a b": {"ü": 7}}], "a.b": [1], "]": {'"': "x"},
    "columns": {"city": ["Oslo", "Lima"], "people": [7, 9]}, "written": '{"rows": [[1, 2]]}',
}  # fmt: skip  # a table


@each_row(
    ("position", "value"),
    [
        ("$", DATA),
        ("$.results[1]", DATA["results"][1]),
        ("$.results[0:2]", DATA["results"]),
        ("$.results[0].text[0:4]", "One."),
        ("$.results[0].text[5:9]", "Two."),
        ("$.results[0:1]", DATA["results"][:1]),
        ('$.results[1]["a b"].ü', 7),
        ('$["a.b"][0]', 1),
        ('$["]"]["\\""]', "x"),
        ("$.columns[*][1]", {"city": "Lima", "people": 9}),
        ("$.written(json).rows[0]", [1, 2]),
    ],
)
def test_a_position_is_followed_step_by_step(position: str, value: Any) -> None:
    assert value_at(DATA, position) == value


@each_row(
    "position",
    [
        "$.nothing",
        "$.results[9]",
        "$.results.text",
        "$[0]",
        "$.results[0][0]",
        "$..",
        "$.results[-1]",
        "$[",
        "x",
        '$["a',
        "$[" * 10_000,
        '$["' + "\\" * 10_001 + "]",
        '$["\\ud800"]',
        "$" + "[0]" * 10_000,
        "$[99999999999999]",
        "$.columns[*][2]",
        "$.results[*][0]",
        "$.columns(json)",
        "$.results[0].text(json)",
    ],
    ids=lambda position: position[:12],
)
def test_a_position_without_a_value_raises_lookup_error(position: str) -> None:
    with pytest.raises(LookupError):
        value_at(DATA, position)


TEXT = st.text(st.characters(codec="utf-8"), max_size=300)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(JSON)
def test_every_document_and_every_sentence_that_is_filed_can_be_found_again(data: Any) -> None:
    memory = a_memory(a_round(("search", {}, data)))
    for document in memory.documents.values():
        value_at(data, document.position)
    for fact in memory.facts.values():
        if fact.is_json:
            from_json(fact.statement)
        else:
            assert value_at(data, fact.position) == fact.statement
