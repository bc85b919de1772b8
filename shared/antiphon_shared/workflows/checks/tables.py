"""SQL over earlier outputs: one SELECT, its tables, its parameters. Pure."""

from antiphon_shared.workflows.references import MalformedReference, Reference, read_template

SQL_TOOL = "sql_query"
LENGTH_MAX = 20_000
_PARAMETER = "reference_"


class UnfitSql(ValueError):
    """A text is no query that is taken; the message says why."""


def read_sql(text: str) -> list[str]:
    """Return the names of the tables that a query reads, but for those that it defines itself.

    Raises UnfitSql, and MalformedReference.
    """
    from sqlglot import ErrorLevel, exp, parse  # imported where there is SQL
    from sqlglot.errors import SqlglotError

    if len(text) > LENGTH_MAX:
        raise UnfitSql(f"it has {len(text):,} characters, of at most {LENGTH_MAX:,}")
    written, count = _with_parameters(text)
    try:
        statements = [
            one for one in parse(written, read="duckdb", error_level=ErrorLevel.RAISE) if one is not None
        ]
    except SqlglotError as error:
        raise UnfitSql(f"it cannot be read as SQL: {str(error).partition('. ')[0][:200]}") from None
    except RecursionError:
        raise UnfitSql("it is nested too deeply; split it") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise UnfitSql("it is not one SELECT; write exactly one, with nothing that changes anything")
    (query,) = statements
    found = {one.name for one in query.find_all(exp.Parameter, exp.Placeholder)}
    if lost := [n for n in range(count) if f"{_PARAMETER}{n}" not in found]:
        raise UnfitSql(
            f"reference {lost[0] + 1} stands inside a text of the SQL; write it outside of the quotes"
        )
    if next(query.find_all(exp.DML, exp.DDL), None) is not query and any(
        not isinstance(one, exp.Query) for one in query.find_all(exp.DML, exp.DDL)
    ):
        raise UnfitSql("it changes something; write one SELECT")
    own = {one.alias for one in query.find_all(exp.CTE)}
    return list(dict.fromkeys(_table(one) for one in query.find_all(exp.Table) if one.name not in own))


def _with_parameters(text: str) -> tuple[str, int]:
    """Return a query with a parameter in the place of each reference, and how many there are."""
    written, count = "", 0
    for part in read_template(text).parts:
        if isinstance(part, Reference):
            part, count = f"${_PARAMETER}{count}", count + 1
        written += part
    return written, count


def _table(table: object) -> str:
    from sqlglot import exp

    assert isinstance(table, exp.Table)
    if not isinstance(table.this, exp.Identifier):
        raise UnfitSql(f"{table.sql('duckdb')[:80]} is no earlier output; files and functions are not read")
    if table.db or table.catalog:
        raise UnfitSql(f"{table.sql('duckdb')[:80]} has a schema; tables are earlier outputs by name")
    return table.name


__all__ = ["LENGTH_MAX", "SQL_TOOL", "MalformedReference", "UnfitSql", "read_sql"]
