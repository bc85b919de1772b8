"""The amounts that are read in texts."""

from decimal import Decimal
from itertools import pairwise

import pytest
from antiphon_shared.text.numbers import Amount, amounts_in, plain_number
from hypothesis import example, given
from hypothesis import strategies as st

from tests.rows import each_row


def read(text: str) -> list[tuple[str, str, str]]:
    return [
        (f"{one.low.normalize():f}", f"{one.high.normalize():f}", one.unit)
        for one in amounts_in(text.split())
    ]


def amount(text: str) -> Amount:
    (one,) = amounts_in(text.split())
    return one


@each_row(
    ("text", "value", "unit"),
    [
        ("1,204 people", "1204", ""),
        ("2 914 metres", "2914", "m"),
        ("1.204.000", "1204000", ""),
        ("1'204", "1204", ""),
        ("7,50", "7.5", ""),
        ("-5", "-5", ""),
        ("twelve hundred", "1200", ""),
        ("two hundred and six dogs", "206", ""),
        ("twenty-five", "25", ""),
        ("forty two", "42", ""),
        ("1.2 thousand", "1200", ""),
        ("14.2 km", "14200", "m"),
        ("14km", "14000", "m"),
        ("3.4 million cubic metres", "3400000", "m3"),
        ("two square km", "2000000", "m2"),
        ("$1.2 billion", "1200000000", "usd"),
        ("usd 1,200", "1200", "usd"),
        ("€42m", "42000000", "eur"),
        ("£5 pounds", "5", "gbp"),
        ("21 per cent", "21", "%"),
        ("21%", "21", "%"),
        ("90 minutes", "5400", "s"),
        ("9 am", "540", "clock"),
        ("2:30 pm", "870", "clock"),
        ("14:30", "870", "clock"),
    ],
)
def test_a_number_is_read_as_its_value_in_a_base_unit(text: str, value: str, unit: str) -> None:
    assert read(text) == [(value, value, unit)]


@pytest.mark.parametrize(
    ("text", "low", "high", "unit"),
    [
        ("4-6 weeks", "2419200", "3628800", "s"),
        ("8–10", "8", "10", ""),
        ("from 5 to 35 °c", "5", "35", "°c"),
        ("between 20 and 30 km", "20000", "30000", "m"),
        ("9 am to 5 pm", "540", "1020", "clock"),
    ],
)
def test_a_range_is_read_as_one_amount(text: str, low: str, high: str, unit: str) -> None:
    assert read(text) == [(low, high, unit)]


@pytest.mark.parametrize("text", ["2024-03-01", "mp3", "1.2.3", "12th", "on time", "one-way street-12b"])
def test_text_that_is_not_a_number_gives_no_amount(text: str) -> None:
    assert [one for one in read(text) if one[0] != "1"] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,200", "1.2 thousand"), ("14 km", "14.2 km"), ("90 minutes", "1.5 hours"), ("48,210", "48,000")],
)
def test_amounts_are_equal_within_the_precision_of_the_rougher_one(one: str, other: str) -> None:
    assert amount(one).is_same(amount(other))
    assert not amount(one).excludes(amount(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,204", "1,300"),
        ("1,000", "1,400"),
        ("14.2 km", "15 km"),
        ("4-6", "8-10"),
        ("4-6", "7"),
        ("-5", "5"),
    ],
)
def test_amounts_that_differ_exclude_each_other(one: str, other: str) -> None:
    assert amount(one).excludes(amount(other))
    assert amount(other).excludes(amount(one))


@pytest.mark.parametrize(("one", "other"), [("4-6", "5"), ("5 km", "5 kg"), ("5", "5 km")])
def test_a_number_within_a_range_or_in_another_unit_excludes_nothing(one: str, other: str) -> None:
    assert not amount(one).excludes(amount(other))


@given(
    st.lists(
        st.one_of(st.text(max_size=8), st.sampled_from(["5", "to", "-", "usd", "hundred", "and", "two", "$"]))
    )
)
@example(["5", "usd", "7"])
def test_number_words_in_any_text_are_read_in_order_and_within_bounds(words: list[str]) -> None:
    found = amounts_in([word.lower() for word in words])
    assert all(0 <= one.start < one.end <= len(words) and isinstance(one.low, Decimal) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "number"),
    [("14", 14), ("-2.5", -2.5), ("1,204", None), ("x", None), ("", None), ("9" * 16, None)],
)
def test_a_plain_number_is_a_json_number(text: str, number: float | None) -> None:
    assert plain_number(text) == number
