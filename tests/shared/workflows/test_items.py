"""The items of a foreach."""

from typing import Any

import pytest
from antiphon_shared.workflows.items import UnfitItems, fixed_count, read_items, resolve_items

from tests.rows import each_row

VALUES: dict[str, Any] = {
    "l": [1, 2, 3],
    "n": 2,
    "start": "2030-02-27",
    "end": "2030-03-02",
    "last": "9999-12-31",
    "t": "x",
}


@each_row(
    ("text", "items"),
    [
        ("$l", [1, 2, 3]),
        ("range(0, 3)", [0, 1, 2]),
        ("range(-1, $n)", [-1, 0, 1]),
        ("range(3, 0)", []),
        ("range(0, $l.length)", [0, 1, 2]),
        ("range($start, $end)", ["2030-02-27", "2030-02-28", "2030-03-01"]),
        ("range($start, $start + $n days)", ["2030-02-27", "2030-02-28"]),
        ("range( 2030-01-01 , 2030-01-01+1 day )", ["2030-01-01"]),
        ("range($start - 1 days, $start)", ["2030-02-26"]),
        ("range($end, $start)", []),
    ],
)
def test_items_are_a_list_or_a_half_open_range(text: str, items: list[object]) -> None:
    assert resolve_items(text, VALUES, 10) == items


@each_row(
    ("text", "why"),
    [
        ("$n", "$n is int, but a list is required"),
        ("range(0, 999999999999)", "999,999,999,999 items, more than the limit of 10"),
        ("range(0001-01-01, 9999-12-31)", "3,652,058 items, more than the limit of 10"),
        ("range($last, $last + 2 days)", "beyond the calendar, which ends in 9999"),
        ("range($start, $start + 99999999 days)", "a number of days is required"),
        ("range($start, 3)", "give two integers or two dates"),
        ("range($t, $t)", 'is "x", but a date such as 2030-01-31 is required'),
        ("range(0, $l)", "days can only be added to a date"),
    ],
)
def test_an_expression_without_items_fails_before_the_first(text: str, why: str) -> None:
    with pytest.raises(UnfitItems) as unfit:
        resolve_items(text, VALUES, 10)
    assert why in str(unfit.value)


@each_row("text", ["l", "range(1)", "range(1, 2, 3)", "range(a, b)", "[1, 2]", "range(1, 2) x", "$l $l", ""])
def test_other_texts_are_no_items(text: str) -> None:
    with pytest.raises(UnfitItems):
        read_items(text)


def test_a_range_without_references_can_be_counted() -> None:
    assert fixed_count(read_items("range(2030-01-01, 2031-01-01)")) == 365
    assert fixed_count(read_items("range(0, $n)")) is None
