"""Earlier outputs as tables with columns. Pure, and light to import for the child process.

An object is one row; a list contains the rows of all its items, at any depth; a scalar is a row with the column
`value`. The columns are all keys, in the order in which they first appear; a row without a key has null there. Text
is never read as a date or a number.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

VALUE = "value"
"""The column of scalars."""
ColumnType = Literal["NULL", "BOOLEAN", "BIGINT", "HUGEINT", "DOUBLE", "VARCHAR", "JSON"]

_INT64, _INT128 = 2**63, 2**127
_KINDS: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "text"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column with values for DuckDB."""

    name: str
    type: ColumnType
    values: list[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; if all its objects are empty, it has rows but no columns."""

    columns: tuple[Column, ...]
    rows: int

    @property
    def is_empty(self) -> bool:
        """Return whether the table has neither rows nor columns."""
        return not self.rows and not self.columns


def table_of(value: object) -> Table:
    """Return an output as a table."""
    items = list(_items(value))
    if any(isinstance(item, dict) for item in items):
        # A null among objects is a row of nulls.
        rows = [item if isinstance(item, dict) else {} if item is None else {VALUE: item} for item in items]
    else:
        rows = [{VALUE: item} for item in items]
    names = list(dict.fromkeys(key for row in rows for key in row))
    column_names = _column_names(names)
    return Table(
        tuple(_column(column_names[name], [row.get(name) for row in rows]) for name in names), len(rows)
    )


def _items(value: object) -> Iterator[Any]:
    """Yield the rows of an output; null has no rows."""
    waiting = [iter(value if isinstance(value, list) else () if value is None else (value,))]
    while waiting:
        for item in waiting[-1]:
            if isinstance(item, list):
                waiting.append(iter(item))
                break
            yield item
        else:
            waiting.pop()


def _column_names(keys: list[str]) -> dict[str, str]:
    """Return the column name of each key, as SQL ignores case and allows no empty name."""
    names: dict[str, str] = {}
    folded_keys = {_folded(key) for key in keys}
    used: set[str] = set()
    for key in keys:
        name, n = key or "_", 0
        while _folded(name) in used or (n and _folded(name) in folded_keys):
            n += 1
            name = f"{key or '_'}_{n}"
        used.add(_folded(name))
        names[key] = name
    return names


def _folded(name: str) -> str:
    """Return a name as DuckDB compares it: with ASCII letters in lower case."""
    return name.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _column(name: str, values: list[Any]) -> Column:
    type = _type_of(values)
    match type:
        case "JSON":
            values = [None if one is None else _json(one) for one in values]
        case "VARCHAR":
            values = [one if one is None or isinstance(one, str) else _json(one) for one in values]
        case "DOUBLE":
            values = [None if one is None else float(one) for one in values]
    return Column(name, type, values)


def _type_of(values: list[Any]) -> ColumnType:
    """Return the common type of the values; if they have different types, VARCHAR if one is a text, else JSON."""
    kinds = {_KINDS.get(type(one), "nested") for one in values if one is not None}
    if not kinds:
        return "NULL"
    if "text" in kinds:
        return "VARCHAR"
    if kinds == {"bool"}:
        return "BOOLEAN"
    if not kinds <= {"int", "float"}:
        return "JSON"
    integers = [one for one in values if isinstance(one, int)]
    low, high = min(integers, default=0), max(integers, default=0)
    if low < -_INT128 or high >= _INT128:
        return "JSON"
    if "float" in kinds:
        return "DOUBLE"
    return "BIGINT" if low >= -_INT64 and high < _INT64 else "HUGEINT"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
