"""Figures in more than one notation."""

import pytest
from antiphon_shared.text.notations import readings, readings_in


@pytest.mark.parametrize(
    ("written", "read"),
    [("1,250.50", {"1250.5"}), ("1.250", {"1250", "1.25"}), ("7", {"7"}), ("1.2.3", {"1.2.3"})],
)
def test_figures_are_read_in_every_possible_notation(written: str, read: set[str]) -> None:
    assert readings(written) == read


def test_each_part_of_a_date_is_a_number_too() -> None:
    assert readings_in("on 24.12.2026 for 7,50") >= {"24", "12", "2026", "7.5"}
