"""Earlier outputs as tables: their rows, their columns, and the types of these."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tool_dispatcher.sql.one_database import OneDatabase
from tool_dispatcher.sql.tables import table_of


@cache
def the_database() -> OneDatabase:
    return OneDatabase()


@pytest.fixture(autouse=True, scope="module")
def _closed() -> Iterator[None]:
    yield
    the_database().close()
    the_database.cache_clear()


def selected(value: Any) -> Any:
    """Return the result of `SELECT * FROM t`."""
    return the_database().selected(value)


def types_of(value: Any) -> dict[str, str]:
    return {column.name: column.type for column in table_of(value).columns}


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_INTS = st.integers(-(2**127), 2**127 - 1)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _FLOATS | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)
_NESTED = st.lists(_JSON, max_size=3) | st.dictionaries(_TEXT, _JSON, max_size=3)
_COLUMNS = (st.booleans(), _INTS, _FLOATS, _TEXT, _NESTED, st.none())


@st.composite
def objects(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw a list of objects; the values under each key are of one kind, null, or missing."""
    names = draw(st.lists(_TEXT.filter(bool), min_size=1, max_size=4, unique_by=lambda name: name.lower()))
    columns = {name: draw(st.sampled_from(_COLUMNS)) for name in names}
    count = draw(st.integers(1, 5))
    return [
        {name: draw(st.none() | kind) for name, kind in columns.items() if draw(st.booleans())}
        for _ in range(count)
    ]


@given(objects())
def test_rows_in_are_rows_out(rows: list[dict[str, Any]]) -> None:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    found = selected(rows)
    assert found == [{key: row.get(key) for key in keys} for row in rows]
    assert all(list(row) == keys for row in found)


@given(st.lists(objects(), max_size=3))
def test_a_list_of_lists_is_all_their_rows(lists: list[list[dict[str, Any]]]) -> None:
    assert selected(lists) == selected([row for rows in lists for row in rows])


@given(
    st.one_of(*(st.lists(st.none() | kind, min_size=1) for kind in (st.booleans(), _INTS, _FLOATS, _TEXT)))
)
def test_scalars_are_a_column_named_value(values: list[Any]) -> None:
    assert selected(values) == [{"value": value} for value in values]


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ({"a": 1, "b": {"c": [2]}}, [{"a": 1, "b": {"c": [2]}}]),
        (7, [{"value": 7}]),
        ("seven", [{"value": "seven"}]),
        (None, []),
        ([], []),
        ([[], []], []),
        ([{}, {}], [{}, {}]),
        ([[1, 2], [3]], [{"value": 1}, {"value": 2}, {"value": 3}]),
        ([[[{"a": 1}]], {"a": 2}], [{"a": 1}, {"a": 2}]),
        ([{"a": 1}, None], [{"a": 1}, {"a": None}]),
        ([{"a": 1}, 5], [{"a": 1, "value": None}, {"a": None, "value": 5}]),
        (
            [{"a": 1}, {"error": {"message": "no"}}],
            [{"a": 1, "error": None}, {"a": None, "error": {"message": "no"}}],
        ),
    ],
    ids=str,
)
def test_every_form_of_an_output_is_a_table(value: Any, rows: Any) -> None:
    assert selected(value) == rows


@pytest.mark.parametrize(
    ("values", "type", "shown"),
    [
        (
            ["012", "2026-01-01", "1e3", "true", "null", ""],
            "VARCHAR",
            ["012", "2026-01-01", "1e3", "true", "null", ""],
        ),
        ([1, None, 2], "BIGINT", [1, None, 2]),
        ([2**63, 1], "HUGEINT", [2**63, 1]),
        ([2**127, 1], "JSON", [2**127, 1]),
        ([1, 2.5], "DOUBLE", [1.0, 2.5]),
        ([1, "one"], "VARCHAR", ["1", "one"]),
        ([True, "one", None], "VARCHAR", ["true", "one", None]),
        ([{"a": "é"}, "one", [1, 2]], "VARCHAR", ['{"a":"é"}', "one", "[1,2]"]),
        ([{"a": 1}, 5, True], "JSON", [{"a": 1}, 5, True]),
        ([1, True], "JSON", [1, True]),
        ([None, None], "NULL", [None, None]),
    ],
    ids=str,
)
def test_a_column_has_one_type(values: list[Any], type: str, shown: list[Any]) -> None:
    rows = [{"a": value} for value in values]
    assert types_of(rows) == {"a": type}
    assert [row["a"] for row in selected(rows)] == shown


def test_keys_that_sql_cannot_distinguish_become_separate_columns() -> None:
    rows = [{"a": 1, "A": 2, "A_1": 3, "": 4, "é": 5, "É": 6}]
    assert selected(rows) == [{"a": 1, "A_2": 2, "A_1": 3, "_": 4, "é": 5, "É": 6}]


def test_quotes_and_semicolons_in_keys_and_values_are_preserved() -> None:
    rows = [{'a"; DROP TABLE t; --': "'; DROP TABLE t; --", "$p0": "${x}", "a\nb": "\0"}]
    assert selected(rows) == rows
