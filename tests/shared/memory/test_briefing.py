"""Ranges of fact ids."""

from antiphon_shared.memory.briefing import id_ranges, id_ranges_without, ids_in
from hypothesis import given
from hypothesis import strategies as st

_ids = st.sets(st.integers(1, 40)).map(lambda numbers: [f"F{number}" for number in numbers])


@given(_ids)
def test_ranges_contain_each_id_once_in_numerical_order(ids: list[str]) -> None:
    assert list(ids_in(id_ranges(ids))) == sorted(ids, key=lambda id: int(id[1:]))


@given(_ids, st.integers(40, 60))
def test_ranges_omit_excluded_ids(ids: list[str], count: int) -> None:
    others = [f"F{number}" for number in range(1, count + 1) if f"F{number}" not in ids]
    assert id_ranges_without(ids, count) == id_ranges(others)


def test_three_neighbouring_ids_form_a_range_and_two_do_not() -> None:
    assert id_ranges(["F9", "F1", "F2", "F4", "F5", "F6"]) == ("F1", "F2", "F4-F6", "F9")
