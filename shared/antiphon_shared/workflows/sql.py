"""The SQL of a `sql_query`: one SELECT, the tables that it reads, its references as bound parameters. Pure.

The import of sqlglot takes 200 ms, so it is deferred until there is SQL.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from antiphon_shared.values import Json, JsonObject
from antiphon_shared.workflows.references import Reference, Template, look_up, read_template

if TYPE_CHECKING:
    from sqlglot import exp

SQL_TOOL = "sql_query"
LENGTH_MAX = 20_000
_REMEMBERED = 256


class UnfitSql(ValueError):
    """Raised for a text that is not an accepted query; the message says why."""


@dataclass(frozen=True, slots=True)
class SqlNames:
    """The names that a query reads, and its text with a bound parameter for each reference."""

    sql: str
    """The text, as in `SELECT a FROM t WHERE b = $p0`."""
    tables: tuple[str, ...]
    """Names of earlier outputs, without names of the query's own WITH."""
    params: tuple[Reference, ...]
    """The references of `$p0`, `$p1`, ..., each once."""


@lru_cache(_REMEMBERED)
def names_in(text: str) -> SqlNames:
    """Return the names that a query reads. Raises UnfitSql, and MalformedReference."""
    if len(text) > LENGTH_MAX:
        raise UnfitSql(f"it has {len(text):,} characters, more than the limit of {LENGTH_MAX:,}")
    template = read_template(text)
    params = tuple(dict.fromkeys(template.references))
    sql = _with_parameters(template, params)
    try:
        query = _one_select(sql)
        _check_parameters(query, template, params)
        return SqlNames(sql, tuple(dict.fromkeys(_tables(query))), params)
    except RecursionError:
        raise UnfitSql("it is nested too deeply; split it") from None


def arguments_of(text: str, values: Mapping[str, Json]) -> JsonObject:
    """Return the arguments of the dispatchers' `sql_query` for a query; `values` holds the available values by name.

    Raises UnfitSql, MalformedReference and ReferenceMissing.
    """
    names = names_in(text)
    return {
        "sql": names.sql,
        "params": {f"p{n}": look_up(reference, values) for n, reference in enumerate(names.params)},
        "tables": {name: look_up(Reference(name), values) for name in names.tables},
    }


def _with_parameters(template: Template, params: tuple[Reference, ...]) -> str:
    number = {reference: n for n, reference in enumerate(params)}
    return "".join(part if isinstance(part, str) else f"$p{number[part]}" for part in template.parts)


def _one_select(sql: str) -> "exp.Query":
    from sqlglot import ErrorLevel, exp, parse
    from sqlglot.errors import SqlglotError

    try:
        parsed = parse(sql, read="duckdb", error_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise UnfitSql(f"it cannot be read as SQL: {str(error).partition('. ')[0][:200]}") from None
    # A comment after the last semicolon is a statement for sqlglot.
    statements = [one for one in parsed if one is not None and not isinstance(one, exp.Semicolon)]
    query = statements[0] if len(statements) == 1 else None
    if not isinstance(query, exp.Query):
        raise UnfitSql("it is not one SELECT; write exactly one, with nothing that changes anything")
    if any(not isinstance(one, exp.Query) for one in query.find_all(exp.DML, exp.DDL)):
        raise UnfitSql("it changes something; write one SELECT")
    return query


def _check_parameters(query: "exp.Query", template: Template, params: tuple[Reference, ...]) -> None:
    """Compare the parameters of a query with its references: one could be in a text, or be the author's own."""
    from sqlglot import exp

    names = [one.name for one in query.find_all(exp.Parameter, exp.Placeholder)]
    for n, reference in enumerate(params):
        if names.count(f"p{n}") < template.references.count(reference):
            raise UnfitSql(
                f"{reference} is inside a text or a comment of the SQL; write it outside of the quotes"
            )
    if len(names) > len(template.references):
        raise UnfitSql("it has parameters of its own; write a reference, such as $name, for each value")


def _tables(query: "exp.Query") -> Iterator[str]:
    """Yield the names of the tables that a query reads, except the tables that it defines."""
    from sqlglot import exp

    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            raise UnfitSql(
                f"{table.sql('duckdb')[:80]} is not an earlier output; files and functions cannot be read"
            )
        if table.db or table.catalog:
            raise UnfitSql(f"{table.sql('duckdb')[:80]} has a schema; tables are earlier outputs by name")
        if table.name.lower() not in _defined_around(table):
            yield table.name


def _defined_around(table: "exp.Table") -> set[str]:
    """Return the lower-case names that the WITHs around a table define; in its own WITH only earlier ones."""
    from sqlglot import exp

    names: set[str] = set()
    inner: exp.Expr = table
    while (outer := inner.parent) is not None:
        if isinstance(outer, exp.With):
            index = [id(one) for one in outer.expressions].index(id(inner))
            names.update(one.alias.lower() for one in outer.expressions[: index + bool(outer.recursive)])
        elif isinstance(outer, exp.Query) and not isinstance(inner, exp.With):
            names.update(one.alias.lower() for one in outer.ctes)
        inner = outer
    return names
