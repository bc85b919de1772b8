"""Tables in structured results: rows of values with separate column names become records. Pure.

{"columns": ["city", "people"], "rows": [["Oslo", 700000], ...]}    at $.rows[0]
{"city": ["Oslo", ...], "people": [700000, ...]}                    at $[*][0]: the first of each column
[["city", "people"], ["Oslo", 700000], ...]                         at $[1]
{"Oslo": {"people": 700000}, "Lima": {"people": ...}, ...}          at $.Oslo, its key as `name`
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from antiphon_shared.memory.filing.pieces import PATH_MAX, member

_COLUMNS = ("columns", "headers", "header", "column_names", "fields", "cols")
_NAMES_OF_COLUMNS = frozenset(_COLUMNS)
_ROWS = ("rows", "data", "values", "records", "items")
_ROWS_MIN = 3
_KEYED_MIN = 4
_NAME_CHARACTERS_MAX = 100
_CELL_MAX = 200
_SCALARS = (str, int, float, bool, type(None))


class Row(NamedTuple):
    """A row as a record, with its position."""

    position: str
    record: dict[str, Any]


class Table(NamedTuple):
    """The rows of a table, and the keys of its object that they are made of."""

    rows: list[Row]
    keys: frozenset[str]


def table_of(value: object, path: str) -> Table | None:
    """Return the rows of a value that is a table, or holds a table under its keys; None for any other value."""
    if isinstance(value, list):
        rows = _of_lists(value, path)
    elif not isinstance(value, dict) or not value:
        return None
    elif columns_and_key := _columns_and_rows(value):
        names, key = columns_and_key
        rows = [
            Row(f"{path}{member(key)}[{at}]", dict(zip(names, row, strict=True)))
            for at, row in enumerate(value[key])
        ]
        used = next(name for name in _COLUMNS if value.get(name))
        return Table(rows, frozenset((used, key)))
    elif _is_columnar(value):
        count = len(next(iter(value.values())))
        rows = [
            Row(f"{path}[*][{at}]", {key: column[at] for key, column in value.items()}) for at in range(count)
        ]
    elif _is_keyed(value):
        rows = [Row(path + member(key), _with_key(key, inner)) for key, inner in value.items()]
    else:
        return None
    return Table(rows, frozenset(value) if isinstance(value, dict) else frozenset()) if rows else None


def column_names(cells: Sequence[Any]) -> list[str] | None:
    """Return the names of a header, each once; None for cells that are not a header."""
    names: list[str] = []
    for at, cell in enumerate(cells, 1):
        name = cell.get("name") if isinstance(cell, dict) else cell
        if not isinstance(name, str) or len(name) > _NAME_CHARACTERS_MAX:
            return None
        name = " ".join(name.split()) or f"column {at}"
        names.append(name if name not in names else f"{name} {at}")
    return names if len(names) > 1 else None


def _columns_and_rows(value: dict[str, Any]) -> tuple[list[str], str] | None:
    """Return the names of the columns, and the key of the rows, if each row has a value for every column."""
    if _NAMES_OF_COLUMNS.isdisjoint(value):
        return None
    columns = next((value[key] for key in _COLUMNS if isinstance(value.get(key), list) and value[key]), None)
    key = next((key for key in _ROWS if isinstance(value.get(key), list) and value[key]), None)
    names = column_names(columns) if columns is not None else None
    if names is None or key is None:
        return None
    return (
        (names, key) if all(isinstance(row, list) and len(row) == len(names) for row in value[key]) else None
    )


def _of_lists(value: list[Any], path: str) -> list[Row]:
    """Return the rows of a list of lists of which the first names the columns."""
    if len(value) < _ROWS_MIN or not isinstance(value[0], list) or not value[0]:
        return []
    if not all(isinstance(row, list) and len(row) == len(value[0]) for row in value):
        return []
    names = column_names(value[0])
    if names is None or len(set(value[0])) < len(names) or not _is_header(value[0], value[1:]):
        return []
    return [Row(f"{path}[{at}]", dict(zip(names, row, strict=True))) for at, row in enumerate(value[1:], 1)]


def _is_header(first: list[Any], rows: list[list[Any]]) -> bool:
    """Return whether the first row names the columns: words without digits that are not values of their columns."""
    if not all(
        isinstance(cell, str) and cell.strip() and not any(map(str.isdecimal, cell)) for cell in first
    ):
        return False
    return all(cell != row[at] for at, cell in enumerate(first) for row in rows)


def _is_columnar(value: dict[str, Any]) -> bool:
    columns = list(value.values()) if len(value) > 1 else []
    if not columns or not all(isinstance(column, list) for column in columns):
        return False
    count = len(columns[0])
    return (
        count >= _KEYED_MIN
        and all(len(column) == count for column in columns)
        and all(isinstance(cell, _SCALARS) for column in columns for cell in column)
    )


def _is_keyed(value: dict[str, Any]) -> bool:
    """Return whether the members are records of one shape, each under its name."""
    records = list(value.values()) if len(value) >= _KEYED_MIN else []
    if not records or not all(isinstance(one, dict) and one for one in records):
        return False
    if not all(len(key) <= PATH_MAX for key in value):
        return False
    shape = records[0].keys()
    return all(2 * len(shape & one.keys()) > len(shape | one.keys()) for one in records) and all(
        isinstance(inner, _SCALARS) and len(str(inner)) <= _CELL_MAX
        for one in records
        for inner in one.values()
    )


def _with_key(key: str, inner: dict[str, Any]) -> dict[str, Any]:
    return {"key" if "name" in inner else "name": key, **inner}
