"""DuckDB without outside access: tables in, one SELECT, JSON out.

Only the child process imports this file. A value of a result has the form of DuckDB's `to_json`: numbers, also
decimals and integers of more than 64 bits, are numbers; dates, times and intervals are texts; lists, structs, maps
and JSON are JSON. In addition, a timestamp has a `T` between date and time; a timestamp with a time zone is in UTC
and ends in `Z`; a blob is Base64. The parent reads NaN and infinities as null.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
from antiphon_shared.values import JsonObject

from tool_dispatcher.sql.limits import Limits
from tool_dispatcher.sql.tables import Table, table_of

NO_COLUMNS = "(no columns)"
"""The placeholder column of a table without columns; it is never in a result."""
_FETCHED_AT_ONCE = 1_000
_TABLES_LISTED_MAX, _COLUMNS_LISTED_MAX = 10, 30
_NOT_QUERIES = {"describe", "desc", "show", "summarize", "pragma", "explain"}
"""Statements that DuckDB parses as a SELECT, although they are about DuckDB or its tables."""


class QueryFailed(Exception):
    """A query is wrong or has exceeded a limit; the error has the reason and the next action."""

    def __init__(self, message: str, action: str) -> None:
        super().__init__(message)
        self.message, self.action = message, action


class Database:
    """A database in memory for one query."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "memory_limit": f"{limits.memory_mb}MiB",
                "temp_directory": "",
                "python_enable_replacements": False,
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
                "allow_community_extensions": False,
            },
        )
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def answer(self, sql: str, params: Mapping[str, object], values: Mapping[str, object]) -> bytes:
        """Return the rows as a JSON list of objects. Raises QueryFailed."""
        tables = {name: table_of(value) for name, value in values.items()}
        _check_names(tables)
        try:
            query = self._one_select(sql)
            if tables and all(table.is_empty for table in tables.values()):
                return b"[]"
            for name, table in tables.items():
                self._create(
                    name, table, self._guessed_columns(query, name, tables) if table.is_empty else ()
                )
            return self._rows(query, {name: _parameter(value) for name, value in params.items()})
        except (duckdb.OutOfMemoryException, MemoryError):
            raise QueryFailed(
                f"The query needs more than {self._limits.memory_mb} MiB of memory.",
                "Read fewer rows or columns, or aggregate earlier.",
            ) from None
        except duckdb.PermissionException:
            raise QueryFailed(
                "The query asks for a file, the network or an extension, but SQL in workflows can only read "
                "earlier outputs.",
                "Fetch the data by a call of a tool, and name the node of that call as the table.",
            ) from None
        except (duckdb.InternalException, duckdb.FatalException, duckdb.IOException):
            raise
        except duckdb.Error as error:
            raise QueryFailed(_reason(error), f"Correct the SQL. {_described(tables)}") from None

    def _one_select(self, sql: str) -> str:
        """Return the query without its last semicolon and the text after it. Raises QueryFailed."""
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise _not_one_select()
        written = sql.encode()
        tokens = [offset for offset, kind in duckdb.tokenize(sql) if kind != duckdb.token_type.comment]
        first = written[tokens[0] :].split(None, 1)[0].lower()
        if first.decode(errors="replace") in _NOT_QUERIES:
            raise _not_one_select()
        while written[tokens[-1] : tokens[-1] + 1] == b";":
            written = written[: tokens.pop()]
        return written.decode()

    def _create(self, name: str, table: Table, guessed: tuple[str, ...]) -> None:
        """Create a table; `guessed` are the columns of a table without known columns."""
        parts = [
            f"unnest(${n})" if column.type == "NULL" else f"unnest(${n}::{column.type}[])"
            for n, column in enumerate(table.columns, 1)
        ]
        names = [column.name for column in table.columns]
        values = [column.values for column in table.columns]
        if not parts:
            parts = ["NULL" for _ in guessed] or ["NULL"]
            names = [*guessed] or [NO_COLUMNS]
        selected = ", ".join(f"{part} AS {_quoted(one)}" for part, one in zip(parts, names, strict=True))
        rows = "" if values else f" FROM range({table.rows})"
        self._connection.execute(f"CREATE TABLE {_quoted(name)} AS SELECT {selected}{rows}", values)

    def _guessed_columns(self, query: str, name: str, tables: Mapping[str, Table]) -> tuple[str, ...]:
        """Return the columns that the query seems to read from a table without known columns."""
        (serialized,) = self._connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()
        tree = json.loads(serialized[0])
        names = {column.name.lower() for table in tables.values() for column in table.columns}
        names |= {str(one["alias"]).lower() for one in _objects(tree) if one.get("alias")}
        own, others = {name.lower()}, {other.lower() for other in tables} - {name.lower()}
        for one in _objects(tree):
            if one.get("type") == "BASE_TABLE" and one["alias"]:
                (own if one["table_name"].lower() in own else others).add(one["alias"].lower())
        guessed: dict[str, str] = {}
        for one in _objects(tree):
            path = one.get("column_names") or []
            # A column read from a subquery may come from the table too.
            is_between = len(path) > 1 and path[0].lower() not in own | others
            if len(path) > 1 and path[0].lower() in own:
                guessed.setdefault(path[1].lower(), path[1])
            elif (len(path) == 1 or is_between) and path[-1].lower() not in names:
                guessed.setdefault(path[-1].lower(), path[-1])
            for shared in one.get("using_columns") or []:
                guessed.setdefault(shared.lower(), shared)
        return tuple(guessed.values())

    def _rows(self, query: str, params: JsonObject) -> bytes:
        # The query has been parsed as one SELECT, and so cannot close the brackets.
        inner = f"(\n{query}\n)"
        described = self._connection.execute(f"SELECT * FROM {inner} LIMIT 0", params or None)  # noqa: S608  # one SELECT
        columns = [(str(one[0]), str(one[1])) for one in described.description or ()]
        result_columns = [(n, name) for n, (name, _) in enumerate(columns) if name != NO_COLUMNS]
        keys = [json.dumps(name, ensure_ascii=False) for _, name in result_columns]
        parts = ", ".join(_as_json(f"c{n}", columns[n][1]) for n, _ in result_columns) or "NULL"
        aliases = ", ".join(f"c{n}" for n in range(len(columns)))
        self._connection.execute(f"SELECT {parts} FROM {inner} AS q({aliases})", params or None)  # noqa: S608  # one SELECT
        written: list[str] = []
        size = 2
        while rows := self._connection.fetchmany(_FETCHED_AT_ONCE):
            for row in rows:
                pairs = zip(keys, row, strict=False)
                text = "{" + ",".join(f"{key}:{'null' if one is None else one}" for key, one in pairs) + "}"
                size += len(text.encode()) + 1
                written.append(text)
            self._check_size(len(written), size)
        return f"[{','.join(written)}]".encode()

    def _check_size(self, rows: int, size: int) -> None:
        action = "Narrow it with WHERE, aggregate, or give a LIMIT."
        if rows > self._limits.rows_max:
            raise QueryFailed(f"The query returns more than {self._limits.rows_max:,} rows.", action)
        if size > self._limits.bytes_max:
            raise QueryFailed(f"The query returns more than {self._limits.bytes_max:,} bytes.", action)


def _not_one_select() -> QueryFailed:
    return QueryFailed("The SQL is not one SELECT.", "Write exactly one SELECT.")


def _check_names(tables: Mapping[str, Table]) -> None:
    """Raise QueryFailed if DuckDB could not distinguish two tables."""
    seen: dict[str, str] = {}
    for name in tables:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise QueryFailed(
                f"The tables {other} and {name} differ only in upper and lower case, which SQL does not distinguish.",
                "Rename one of the nodes, or give it an `output` of another name.",
            )


def _parameter(value: object) -> Any:
    """Return the value to bind: a scalar or a list of scalars unchanged, a nested value as JSON text."""
    if isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict | list) for one in value)
    ):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, int) and not -(2**127) <= value < 2**127:
        return str(value)
    return value


def _as_json(column: str, type: str) -> str:
    match type:
        case "TIMESTAMP" | "TIMESTAMP_S" | "TIMESTAMP_MS" | "TIMESTAMP_NS":
            return f"to_json(regexp_replace({column}::VARCHAR, ' ', 'T'))"
        case "TIMESTAMP WITH TIME ZONE":
            return rf"to_json(regexp_replace(regexp_replace({column}::VARCHAR, ' ', 'T'), '\+00$', 'Z'))"
        case "BLOB":
            return f"to_json(to_base64({column}))"
    return f"to_json({column})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _objects(tree: object) -> Iterator[dict[str, Any]]:
    """Yield every object at any depth, in order."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _reason(error: duckdb.Error) -> str:
    """Return DuckDB's message without its quotation of the SQL, which is not the author's text."""
    text = " ".join(str(error).partition("\n\n")[0].partition("\nLINE ")[0].split())
    return f"DuckDB cannot run the SQL: {text[:1_000].rstrip('.')}."


def _described(tables: Mapping[str, Table]) -> str:
    """Return a sentence that lists the tables and their columns."""
    if not tables:
        return "There are no tables."
    lines = []
    for name, table in list(tables.items())[:_TABLES_LISTED_MAX]:
        columns = [f"{column.name} {column.type}" for column in table.columns[:_COLUMNS_LISTED_MAX]]
        if (more := len(table.columns) - _COLUMNS_LISTED_MAX) > 0:
            columns.append(f"{more} more")
        lines.append(f"{name} ({', '.join(columns) or 'no columns'}; rows: {table.rows})")
    return f"There {'are' if len(tables) > 1 else 'is'}: {', '.join(lines)}."
