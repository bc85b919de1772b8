"""Tables of any form become rows with the names of their columns."""

import csv
import io
import json
from collections.abc import Callable
from html import escape
from typing import Any

import pytest
from antiphon_shared.memory.filing.parts import parts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from tests.shared.memory.filing.places import value_at

Rows = list[dict[str, Any]]


def separated(separator: str) -> Callable[[Rows], str]:
    def written(rows: Rows) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, [*rows[0]], delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    return written


def markdown(rows: Rows) -> str:
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return (
        "# The list\n\nAll that is known.\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"
    )


def html(rows: Rows) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row.values())}</tr>\n" for row in rows
    )
    return f"<p>All that is known.</p>\n<table>\n<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def keyed(rows: Rows) -> dict[str, Any]:
    first = next(iter(rows[0]))
    return {str(row[first]): {name: cell for name, cell in row.items() if name != first} for row in rows}


FORMS: dict[str, Callable[[Rows], Any]] = {
    "comma-separated": separated(","),
    "semicolon-separated": separated(";"),
    "tab-separated": separated("\t"),
    "Markdown": markdown,
    "HTML": html,
    "JSON as text": json.dumps,
    "JSON as text in a record": lambda rows: {"content": [{"type": "text", "text": json.dumps(rows)}]},
    "lines of JSON": lambda rows: "\n".join(map(json.dumps, rows)),
    "records by name": keyed,
    "columns and rows": lambda rows: {"columns": [*rows[0]], "rows": [[*row.values()] for row in rows], "total": 3},
    "columns and rows, deeper": lambda rows: {
        "ok": True,
        "result": {"fields": [{"name": name} for name in rows[0]], "data": [[*row.values()] for row in rows]},
    },
    "lists by column": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "lists below a header": lambda rows: [[*rows[0]], *([*row.values()] for row in rows)],
}  # fmt: skip  # a table


def cities(count: int) -> Rows:
    return [
        {
            "name": f"Vardby {number}",
            "people": 1000 + 7 * number,
            "mayor": f'Ada Holm-{number}, "the {number}th"',
        }
        for number in range(count)
    ]


def filed(data: Any) -> list[tuple[str, str, bool]]:
    return [
        (statement.position, statement.text, statement.is_json)
        for part in parts_of(data)
        for statement in part.statements
    ]


@pytest.mark.parametrize("form", FORMS)
def test_each_row_is_a_statement_with_its_column_names_and_position(form: str) -> None:
    rows = cities(40)
    data = FORMS[form](rows)
    records = {}
    for position, text, is_json in filed(data):
        if is_json and "mayor" in (record := from_json(text)):
            records[position] = {name: str(cell) for name, cell in record.items()}
    assert list(records.values()) == [{name: str(cell) for name, cell in row.items()} for row in rows]
    for number, position in enumerate(records):
        assert f"Vardby {number}" in str(value_at(data, position)) or form == "records by name"


@pytest.mark.parametrize("form", FORMS)
def test_very_many_rows_are_filed_in_groups(form: str) -> None:
    rows = filed(FORMS[form](cities(3_000)))
    assert 10 < len(rows) <= 1_000
    assert sum("Vardby 2999" in text for _, text, _ in rows) == 1 or form in ("JSON as text in a record",)


@pytest.mark.parametrize("form", ["Markdown", "HTML"])
def test_text_around_a_table_is_filed_under_its_headings(form: str) -> None:
    after = "\n\nThe list was made in May by the keepers of the harbour."
    parts = parts_of(FORMS[form](cities(3)) + after)
    rows = [one.text for part in parts for one in part.statements]
    assert any("All that is known." in one for one in (parts[0].title, *rows))
    assert rows[-1] == after.strip()
    if form == "Markdown":
        assert [part.title for part in parts[1:4]] == [f"The list: Vardby {number}" for number in range(3)]


def test_a_row_of_another_length_stays_text() -> None:
    lines = FORMS["Markdown"](cities(12)).splitlines()
    lines.insert(9, "| Lund | and nothing else |")
    rows = filed("\n".join(lines))
    assert ("| Lund | and nothing else |", False) in [(text, is_json) for _, text, is_json in rows]
    assert sum(is_json for *_, is_json in rows) == 12


@pytest.mark.parametrize(
    "text",
    [
        "name\nAda\nOlaf\nEva",
        "a,b\n1\n2,3,4\n5\n6,7,8,9",
        'a,b\n"1,2\n3,4\n5,6',
        "Ada came, and she saw\nthe harbour, and the\nmole of Holm, of old.",
        "| a | b |\n| 1 | 2 |\n| 3 | 4 |",
        "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>",
        "<table><tr><th>a</th><th>b</th></tr><tr><td><table><tr><td>1</td></tr></table></td><td>2</td></tr>",
        '[{"a": 1}, {"a":',
        "{not: json}",
    ],
)
def test_an_incomplete_table_is_filed_as_text(text: str) -> None:
    rows = filed(text)
    assert rows
    assert not any(is_json for *_, is_json in rows)
    assert [value_at(text, position) for position, *_ in rows] == [one for _, one, _ in rows]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "1,2\n" * 2_500_000,
        "<table>" + "<tr><th>a</th><th>b</th>" * 200_000,
        "<table>" + "<!" * 500_000,
        "[" * 100_000 + "]" * 100_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_table_of_any_size_is_filed(text: str) -> None:
    assert 0 < len(filed(text)) <= 1_000


PIECES = st.sampled_from([
    "|", "a", "---", "\n", "\n\n", "|---|---|", "| a | b |", "<table>", "<tr>", "<td>", "</td>", "</table>", "<th>",
    ",", ";", "\t", '"', "7", "{", "}", '{"a":1}', "[1]", "[[", "]]", ":", "x" * 30, "<!--", "&amp;", "</tr>", " ",
    "a,b",
])  # fmt: skip  # a table


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_reading_tables_loses_no_text_and_raises_no_error(text: str) -> None:
    for position, text_of_row, is_json in filed(text):
        if not is_json:
            assert value_at(text, position) == text_of_row
        elif "(json)" not in position and position != "$":
            assert isinstance(value_at(text, position), str)
