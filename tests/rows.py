"""Tables of cases within one test: each row is a subtest, and all rows that fail are reported at once, by name.

A test of its own costs a row more than most checks do: each worker collects it, sets it up, and reports it.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import product
from typing import Any

import pytest

Test = Callable[..., Any]
Ids = Callable[[Any], object] | Iterable[str] | None
_CHARACTERS_MAX = 120
"""The most characters of a value in a row's name."""


def each_row(names: str | Sequence[str], rows: Iterable[Any], ids: Ids = None) -> Callable[[Test], Test]:
    """Run a test's body once for every row, with the arguments of `pytest.mark.parametrize`.

    Two tables on one test make a row of each pair. Rows share the test's fixtures and one event loop: a test whose
    rows need their own is parametrized instead.
    """
    fields = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    table = _Table(fields, list(rows), ids if ids is None or callable(ids) else list(ids))

    def with_rows(test: Test) -> Test:
        check, others = getattr(test, "checks", (test, ()))
        return _test_of(check, (table, *others))

    return with_rows


@dataclass(frozen=True)
class _Table:
    fields: list[str]
    rows: list[Any]
    ids: Callable[[Any], object] | list[str] | None

    def named(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each row: its name, and its values by argument."""
        for n, row in enumerate(self.rows):
            values = (row,) if len(self.fields) == 1 else row
            yield self._name(n, values), dict(zip(self.fields, values, strict=True))

    def _name(self, n: int, values: Sequence[Any]) -> str:
        if self.ids is None:
            return ", ".join(
                f"{field}={_shown(value)}" for field, value in zip(self.fields, values, strict=True)
            )
        return ", ".join(str(self.ids(value)) for value in values) if callable(self.ids) else self.ids[n]


def _shown(value: object) -> str:
    try:
        shown = ascii(value)
    except (ValueError, RecursionError):  # a number of too many digits, or too deep
        return type(value).__name__
    return shown if len(shown) <= _CHARACTERS_MAX else f"{shown[:_CHARACTERS_MAX]}..."


def _test_of(check: Test, tables: tuple[_Table, ...]) -> Test:
    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for parts in product(*(table.named() for table in tables)):
            yield (
                "; ".join(name for name, _ in parts),
                {k: v for _, values in parts for k, v in values.items()},
            )

    @wraps(check)
    def test(*own: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
        for name, row in rows():
            with subtests.test(name):
                check(*own, **fixtures, **row)

    @wraps(check)
    async def async_test(*own: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
        for name, row in rows():
            with subtests.test(name):
                await check(*own, **fixtures, **row)

    made: Any = async_test if inspect.iscoroutinefunction(check) else test
    made.checks = check, tables
    made.__signature__ = _signature(check, [field for table in tables for field in table.fields])
    return made  # type: ignore[no-any-return]  # one of the two


def _signature(check: Test, fields: list[str]) -> inspect.Signature:
    """Return what pytest has to bring: the fixtures of the check, and subtests."""
    whole = inspect.signature(check)
    fixtures = [parameter for name, parameter in whole.parameters.items() if name not in fields]
    subtests = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
    return whole.replace(parameters=[*fixtures, subtests])
