"""A table within one test checks every row, and names those that fail."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.rows import each_row


class Noting:
    """Stands in for pytest's subtests: remembers how each ended."""

    def __init__(self) -> None:
        self.ended: list[tuple[str, str]] = []

    @contextlib.contextmanager
    def test(self, name: str) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            self.ended.append((name, str(error).splitlines()[0]))
        else:
            self.ended.append((name, "passed"))


def is_even(number: int, why: str) -> None:
    if number % 2:
        raise AssertionError(f"{number} is odd: {why}")


async def is_even_later(number: int, why: str) -> None:
    is_even(number, why)


ROWS = [(1, "a"), (2, "b"), (3, "c")]
ENDED = [
    ("number=1, why='a'", "1 is odd: a"),
    ("number=2, why='b'", "passed"),
    ("number=3, why='c'", "3 is odd: c"),
]


async def test_every_row_that_fails_is_named() -> None:
    noting, later = Noting(), Noting()
    each_row("number, why", ROWS)(is_even)(subtests=noting)
    await each_row(("number", "why"), ROWS)(is_even_later)(subtests=later)
    assert noting.ended == later.ended == ENDED


@pytest.mark.parametrize(
    "ids",
    [["one", "two", "three"], dict.fromkeys(("one", "two", "three")), {1: "one", 2: "two", 3: "three"}.get],
)
def test_a_row_is_named_by_its_id(ids: Any) -> None:
    noting = Noting()
    each_row("number", [1, 2, 3], ids=ids)(lambda number: None)(subtests=noting)
    assert [name for name, _ in noting.ended] == ["one", "two", "three"]


def test_two_tables_make_a_row_of_each_pair() -> None:
    noting, seen = Noting(), []
    by_sign = each_row("sign", "ab")(lambda number, sign: seen.append((number, sign)))
    each_row("number", [1, 2])(by_sign)(subtests=noting)
    assert seen == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    assert noting.ended[-1] == ("number=2; sign='b'", "passed")


@each_row("number", [1, 2])
def test_rows_can_be_combined_with_fixtures(number: int, namespace: str) -> None:
    assert number
    assert namespace
