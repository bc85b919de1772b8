"""The SQL of a sql_query: its tables, its references as bound parameters, and invalid queries."""

import subprocess
import sys
from typing import Any

import pytest
from antiphon_shared.workflows.references import MalformedReference, Reference, ReferenceMissing
from antiphon_shared.workflows.sql import LENGTH_MAX, UnfitSql, arguments_of, names_in

from tests.rows import each_row


@each_row(
    ("sql", "tables"),
    [
        ("SELECT 1", ()),
        ("SELECT * FROM flights", ("flights",)),
        ("FROM flights", ("flights",)),
        ("SELECT * FROM flights; -- the end", ("flights",)),
        ('SELECT * FROM "order"', ("order",)),
        ("SELECT * FROM a JOIN b USING (id) LEFT JOIN a AS c ON true", ("a", "b")),
        ("SELECT * FROM a WHERE id IN (SELECT id FROM b)", ("a", "b")),
        ("SELECT * FROM a UNION ALL SELECT * FROM b ORDER BY 1", ("a", "b")),
        ("SELECT * FROM a, unnest(a.items)", ("a",)),
        ("WITH q AS (SELECT * FROM a) SELECT * FROM Q", ("a",)),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", ("a",)),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b", ()),
        ("WITH b AS (SELECT * FROM a), a AS (SELECT 1) SELECT * FROM b", ("a",)),
        ("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) FROM t", ()),
        ("SELECT * FROM (WITH b AS (SELECT 1) SELECT * FROM b) AS x JOIN b ON true", ("b",)),
    ],
)
def test_the_tables_of_a_query_are_those_it_reads_and_does_not_define(
    sql: str, tables: tuple[str, ...]
) -> None:
    assert set(names_in(sql).tables) == set(tables)


def test_each_reference_becomes_one_bound_parameter() -> None:
    names = names_in("SELECT * FROM t WHERE a = $x.y AND b > $limit AND c = $x.y AND d IN ${z?.w}")
    assert names.sql == "SELECT * FROM t WHERE a = $p0 AND b > $p1 AND c = $p0 AND d IN $p2"
    assert names.params == (Reference("x", ("y",)), Reference("limit"), Reference("z", ("w",), True))


def test_arguments_hold_the_values_of_tables_and_parameters() -> None:
    values: dict[str, Any] = {"flights": [{"price": 3}], "limit": 5, "other": 1}
    assert arguments_of("SELECT * FROM flights WHERE price < $limit", values) == {
        "sql": "SELECT * FROM flights WHERE price < $p0",
        "params": {"p0": 5},
        "tables": {"flights": [{"price": 3}]},
    }
    with pytest.raises(ReferenceMissing, match="hotels"):
        arguments_of("SELECT * FROM hotels", values)


@each_row(
    ("sql", "why"),
    [
        ("SELECT '$x'", "is inside a text"),
        ("SELECT 1 -- $x", "is inside a text or a comment"),
        ("SELECT $x, '$x'", "is inside a text"),
        ("SELECT $1", "parameters of its own"),
        ("SELECT ?", "parameters of its own"),
        ("SELECT $x, $$p0", "parameters of its own"),
        ("$x", "not one SELECT"),
        ("SELECT 1; DROP TABLE t", "not one SELECT"),
        ("", "not one SELECT"),
        ("DESCRIBE t", "not one SELECT"),
        ("SHOW TABLES", "not one SELECT"),
        ("PRAGMA threads = 9", "not one SELECT"),
        ("COPY t TO 'x'", "not one SELECT"),
        ("ATTACH 'x.db'", "not one SELECT"),
        ("INSTALL httpfs", "not one SELECT"),
        ("CALL pragma_version()", "not one SELECT"),
        ("SET threads = 9", "not one SELECT"),
        ("WITH q AS (DELETE FROM t RETURNING *) SELECT * FROM q", "changes something|cannot be read"),
        ("SELECT * FROM read_csv('/etc/passwd')", "files and functions cannot be read"),
        ("SELECT * FROM range(1000000000000)", "files and functions cannot be read"),
        ("SELECT * FROM query('SELECT 1')", "files and functions cannot be read"),
        ("SELECT * FROM main.t", "has a schema"),
        ("SELECT FROM WHERE", "cannot be read as SQL"),
        (f"SELECT {'(' * 5_000}1{')' * 5_000}", "cannot be read|nested too deeply"),
        (f"SELECT {' ' * LENGTH_MAX}1", "more than the limit of 20,000"),
    ],
)
def test_an_invalid_query_is_refused_with_the_reason(sql: str, why: str) -> None:
    with pytest.raises(UnfitSql, match=why):
        names_in(sql)


def test_a_brace_without_a_reference_is_refused() -> None:
    with pytest.raises(MalformedReference):
        names_in("SELECT ${}")


def test_sqlglot_is_imported_only_where_there_is_sql() -> None:
    code = "import sys, antiphon_shared.workflows.sql; sys.exit('sqlglot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
