"""`sql_query` at the dispatcher: results, limits and hostile queries."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from antiphon_shared.workflows.sql import SQL_TOOL, arguments_of

from tests.tool_dispatcher.builders import (
    Dispatcher,
    a_call,
    a_dispatcher,
    a_request,
)
from tests.tool_dispatcher.sql.asking import FOR_EVER, asked
from tests.tool_dispatcher.sql.forked_children import ForkingProcesses
from tool_dispatcher.sql import query as query_module

FLIGHTS = [
    {"id": "LX1", "price": 120, "stops": ["ZRH"]},
    {"id": "TP2", "price": 80.5, "stops": []},
    {"id": "012", "price": 300},
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def dispatcher() -> AsyncIterator[Dispatcher]:
    async with a_dispatcher(
        sql_cpu_s=1, sql_memory_mb=64, sql_rows_max=1_000, stored_result_bytes_max=100_000
    ) as dispatcher:
        yield dispatcher


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quick_dispatcher() -> AsyncIterator[Dispatcher]:
    """Yield a dispatcher with forked children: quick, for tests that neither start nor limit processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_module, "Processes", ForkingProcesses)
        opened = a_dispatcher(sql_memory_mb=64, sql_rows_max=1_000, stored_result_bytes_max=100_000)
        dispatcher = await opened.__aenter__()
    yield dispatcher
    await opened.__aexit__(None, None, None)


@pytest.mark.asyncio(loop_scope="module")
class TestResults:
    async def test_a_query_joins_earlier_outputs_and_binds_its_references(
        self, dispatcher: Dispatcher
    ) -> None:
        sql = "SELECT id, price * $rate AS cost FROM flights JOIN seats USING (id) WHERE id <> $without ORDER BY cost"
        values: dict[str, Any] = {
            "flights": FLIGHTS,
            "seats": [[{"id": "LX1", "free": 3}], [{"id": "TP2", "free": 1}, {"id": "012", "free": 2}]],
            "rate": 2,
            "without": "012'; DROP TABLE flights; --",
        }
        arguments = arguments_of(sql, values)
        (result,) = await dispatcher.run(a_request(a_call("q", SQL_TOOL, arguments=arguments)))
        assert result.data == [
            {"id": "TP2", "cost": 161.0},
            {"id": "LX1", "cost": 240.0},
            {"id": "012", "cost": 600.0},
        ]

    @pytest.mark.parametrize(
        ("expression", "shown"),
        [
            ("DATE '2026-01-02'", "2026-01-02"),
            ("DATE '10000-01-01'", "10000-01-01"),
            ("TIMESTAMP '2026-01-02 03:04:05.5'", "2026-01-02T03:04:05.5"),
            ("TIMESTAMPTZ '2026-01-02 03:04:05+02'", "2026-01-02T01:04:05Z"),
            ("TIME '03:04:05'", "03:04:05"),
            ("INTERVAL 1 MONTH + INTERVAL 3 DAYS", "1 month 3 days"),
            ("1.50::DECIMAL(10, 2)", 1.5),
            ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
            ("'nan'::DOUBLE", None),
            ("'-inf'::DOUBLE", None),
            ("{'a': 'inf'::DOUBLE, 'b': [1, NULL]}", {"a": None, "b": [1, None]}),
            ("'abc'::BLOB", "YWJj"),
            ("UUID '6a3f7c1e-1111-4222-8333-444455556666'", "6a3f7c1e-1111-4222-8333-444455556666"),
            ("MAP {'a': 1}", {"a": 1}),
            ("'{\"a\": [1]}'::JSON", {"a": [1]}),
            ("'{\"a\": [1]}'", '{"a": [1]}'),
            ("TRUE", True),
            ("NULL", None),
        ],
    )
    async def test_every_type_has_its_form_as_json(
        self, quick_dispatcher: Dispatcher, expression: str, shown: Any
    ) -> None:
        assert await asked(quick_dispatcher, f"SELECT {expression} AS v") == [{"v": shown}]

    @pytest.mark.parametrize(
        ("sql", "params", "rows"),
        [
            ("SELECT id FROM flights WHERE id IN $p0", {"p0": ["TP2", "x"]}, [{"id": "TP2"}]),
            ("SELECT id FROM flights WHERE id IN $p0", {"p0": []}, []),
            ("SELECT id FROM flights WHERE price > $p0 LIMIT $p1", {"p0": 100, "p1": 1}, [{"id": "LX1"}]),
            ("SELECT $p0 IS NULL AS a, $p1 AS b", {"p0": None, "p1": True}, [{"a": True, "b": True}]),
            ("SELECT $p0->>'a' AS a", {"p0": {"a": "é"}}, [{"a": "é"}]),
            ("SELECT stops->>0 AS first FROM flights WHERE id = $p0", {"p0": "LX1"}, [{"first": "ZRH"}]),
            ("SELECT id, ID, count(*) AS n FROM flights WHERE id = '012' GROUP BY ALL", {}, None),
        ],
    )
    async def test_parameters_are_values(
        self, quick_dispatcher: Dispatcher, sql: str, params: dict[str, Any], rows: Any
    ) -> None:
        rows = [{"id": "012", "id_1": "012", "n": 1}] if rows is None else rows
        assert await asked(quick_dispatcher, sql, params, flights=FLIGHTS) == rows

    @pytest.mark.parametrize(
        ("sql", "rows"),
        [
            ("SELECT * FROM nothing", []),
            ("SELECT price, id FROM nothing WHERE price > 3 ORDER BY id", []),
            ("SELECT count(*) FROM nothing", []),
            ("SELECT n.*, m.x FROM nothing n JOIN nothing m USING (id)", []),
        ],
    )
    async def test_no_rows_and_no_known_columns_give_an_empty_list(
        self, quick_dispatcher: Dispatcher, sql: str, rows: Any
    ) -> None:
        assert await asked(quick_dispatcher, sql, nothing=[]) == rows
        assert await asked(quick_dispatcher, sql, nothing=None) == rows

    @pytest.mark.parametrize(
        ("sql", "rows"),
        [
            ("SELECT f.id, h.name FROM f LEFT JOIN h ON h.flight = f.id", [{"id": "a", "name": None}]),
            ("SELECT id, name FROM f LEFT JOIN h USING (id)", [{"id": "a", "name": None}]),
            ("SELECT f.* FROM f WHERE id NOT IN (SELECT id FROM h)", [{"id": "a"}]),
            ("SELECT * FROM f LEFT JOIN h ON true", [{"id": "a"}]),
            ("SELECT (SELECT count(*) FROM h) AS n FROM f", [{"n": 0}]),
            ("SELECT id FROM f JOIN h ON h.x = f.id", []),
            (
                "WITH q AS (SELECT * FROM h) SELECT f.id, q.name FROM f LEFT JOIN q ON true",
                [{"id": "a", "name": None}],
            ),
            ("SELECT a.id, b.y FROM f AS a LEFT JOIN h AS b ON b.x = a.id", [{"id": "a", "y": None}]),
        ],
    )
    async def test_an_empty_output_can_be_joined_to_one_with_rows(
        self, quick_dispatcher: Dispatcher, sql: str, rows: Any
    ) -> None:
        assert await asked(quick_dispatcher, sql, f=[{"id": "a"}], h=[]) == rows

    async def test_rows_keep_the_order_of_the_query(self, quick_dispatcher: Dispatcher) -> None:
        rows = [{"n": n, "of": n % 7} for n in range(1_000)]
        found = await asked(quick_dispatcher, "SELECT n FROM t ORDER BY of, n DESC", t=rows)
        assert [row["n"] for row in found] == [
            row["n"] for row in sorted(rows, key=lambda row: (row["of"], -row["n"]))
        ]

    async def test_a_last_semicolon_and_comments_are_no_second_statement(
        self, quick_dispatcher: Dispatcher
    ) -> None:
        assert await asked(quick_dispatcher, "SELECT 'é;' AS a -- ;\n ; ; -- ;") == [{"a": "é;"}]


NO_SELECT = (
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE t",
    "DROP TABLE t",
    "INSERT INTO t VALUES (1)",
    "COPY t TO '/tmp/antiphon-sql'",
    "COPY (SELECT 1) TO '/tmp/antiphon-sql'",
    "ATTACH '/tmp/antiphon-sql.db'",
    "EXPORT DATABASE '/tmp/antiphon-sql'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA threads = 9",
    "SET memory_limit = '100GB'",
    "CALL pragma_version()",
    "EXPLAIN SELECT 1",
    "DESCRIBE t",
    "SHOW TABLES",
    "SUMMARIZE t",
    "PREPARE p AS SELECT 1",
    "BEGIN",
    "",
    ";",
)
OUTSIDE = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_json('http://127.0.0.1:1/x')",
    "SELECT * FROM read_parquet('s3://bucket/x')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')",
    "SELECT * FROM sqlite_scan('/tmp/x.db', 't')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT getenv('HOME')",
    "SELECT * FROM os",
)
HOSTILE = {
    "rows without end": ("SELECT * FROM range(1000000000000)", "more than 1,000 rows"),
    "a sum without end": (FOR_EVER, "more than 1 s of CPU time"),
    "a recursion without end": (
        "WITH RECURSIVE q AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM q) SELECT count(*) FROM q",
        "CPU time|memory",
    ),
    "a recursion that doubles": (
        "WITH RECURSIVE q AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM q) SELECT max(length(s)) FROM q",
        "memory|CPU time",
    ),
    "a list without end": ("SELECT list(range) FROM range(1000000000000)", "64 MiB of memory|CPU time"),
    "a text of 2 GB": ("SELECT repeat('x', 2000000000)", "64 MiB of memory"),
    "a text of 1 TB": ("SELECT repeat('x', 1000000000000)", "Out of Range"),
    "a result of too many bytes": ("SELECT repeat('x', 200000) AS a", "more than 100,000 bytes"),
    "a sort of a product": (
        "SELECT * FROM range(100000) a, range(100000) b ORDER BY random()",
        "memory|CPU time",
    ),
    "nested brackets": (f"SELECT {'(' * 5_000}1{')' * 5_000}", "depth|memory|CPU time"),
    "nested lists": (f"SELECT {'[' * 900}1{']' * 900}", "CPU time|memory|depth|deeper|JSON"),
    "a long sum": (f"SELECT {'1+' * 15_000}1", "depth|memory|CPU time"),
    "a repetition of repetitions": (
        "SELECT regexp_matches(repeat('a', 100000), '(((a{1,100}){1,100}){1,100})b')",
        "invalid repetition|CPU time|memory",
    ),
    "a date beyond all": ("SELECT DATE '99999999-01-01'", "out of range"),
    "an overflow": ("SELECT 9223372036854775807 + t.n FROM t", "Overflow|out of range"),
    "a text as a number": ("SELECT s + 1 FROM t", "Could not convert|explicit type casts"),
}


@pytest.mark.asyncio(loop_scope="module")
class TestHostile:
    @pytest.mark.parametrize("sql", NO_SELECT)
    async def test_only_one_select_runs(self, quick_dispatcher: Dispatcher, sql: str) -> None:
        error = await asked(quick_dispatcher, sql, t=[{"n": 1}])
        assert (error.error_type, error.message) == ("validation_error", "The SQL is not one SELECT.")

    @pytest.mark.parametrize("sql", OUTSIDE)
    async def test_a_query_reaches_nothing_outside_its_tables(
        self, quick_dispatcher: Dispatcher, sql: str
    ) -> None:
        error = await asked(quick_dispatcher, sql, t=[{"n": 1}])
        assert error.error_type == "validation_error"
        assert "root:" not in error.message

    @pytest.mark.parametrize(("sql", "why"), HOSTILE.values(), ids=HOSTILE)
    async def test_an_expensive_query_ends_with_a_clear_error(
        self, dispatcher: Dispatcher, sql: str, why: str
    ) -> None:
        error = await asked(dispatcher, sql, t=[{"n": 1, "s": "one"}])
        assert error.error_type in ("validation_error", "timeout", "api_failure")
        with pytest.raises(ValueError, match=why):
            raise ValueError(error.message)
        assert error.suggested_action

    async def test_an_exponential_pattern_takes_linear_time(self, quick_dispatcher: Dispatcher) -> None:
        sql = "SELECT regexp_matches(repeat('a', 100000), '(a+)+b') AS found"
        assert await asked(quick_dispatcher, sql) == [{"found": False}]

    async def test_an_error_names_the_existing_tables_and_columns(self, quick_dispatcher: Dispatcher) -> None:
        error = await asked(quick_dispatcher, "SELECT prize FROM flights", flights=FLIGHTS, hotels=[])
        assert 'Referenced column "prize" not found' in error.message
        assert "flights (id VARCHAR, price DOUBLE, stops JSON; rows: 3)" in error.suggested_action
        error = await asked(quick_dispatcher, "SELECT * FROM fligths", flights=FLIGHTS)
        assert "Table with name fligths does not exist" in error.message

    async def test_an_error_is_short_for_any_column_names(self, quick_dispatcher: Dispatcher) -> None:
        error = await asked(quick_dispatcher, "SELECT prize FROM t", t=[{"x" * 200_000: 1}])
        assert error.error_type == "validation_error"
        assert len(error.message) + len(error.suggested_action) <= 4_000

    async def test_tables_that_differ_in_case_only_are_refused(self, quick_dispatcher: Dispatcher) -> None:
        error = await asked(quick_dispatcher, "SELECT * FROM a", a=[1], A=[2])
        assert "a and A differ only in upper and lower case" in error.message

    async def test_names_of_any_script_and_keywords_are_tables(self, quick_dispatcher: Dispatcher) -> None:
        tables = {"order": [{"größe": 1}], "日本": [{"値": 2}]}
        sql = 'SELECT "größe", 値 FROM "order", 日本'
        assert await asked(quick_dispatcher, sql, **tables) == [{"größe": 1, "値": 2}]
