"""The offline model's understanding of a question."""

import pytest
from antiphon_shared.text.dates import iso_dates_in

from reasoning_engine.offline.question import LENGTH_MAX, read_question
from reasoning_engine.offline.spans import find_numbers
from tests.rows import each_row

NOUNS = frozenset(("part", "boat", "lesson", "harbour"))


@each_row(
    ("text", "limit"),
    [
        ("Show me the 3 boats", 3),
        ("List us 12 boats", 12),
        ("Give 4 boats", 4),
        ("first 5 boats", 5),
        ("top 6 boats", 6),
        ("at most 8 boats", 8),
        ("up to 9 boats", 9),
        ("Which 7 boats are red?", None),
        ("top 12345 boats", None),
    ],
)
def test_a_limit_is_read_from_the_question(text: str, limit: int | None) -> None:
    assert read_question(text, NOUNS).slots.limit == limit


@pytest.mark.parametrize(
    ("text", "wants_all"),
    [
        ("List the boats", True),
        ("all boats", True),
        ("everything on boats", True),
        ("How many boats are there?", True),
        ("What is there?", True),
        ("What do we have?", True),
        ("Which boat is red?", False),
    ],
)
def test_a_question_for_everything_is_recognized(text: str, wants_all: bool) -> None:
    assert read_question(text, NOUNS).slots.wants_all is wants_all


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("How many boats?", True),
        ("Count the boats", True),
        ("The total number of boats", True),
        ("The number of boats", True),
        ("Number 7 is a boat", False),
    ],
)
def test_a_question_for_a_number_of_things_counts(text: str, counts: bool) -> None:
    assert read_question(text, NOUNS).counts is counts


@pytest.mark.parametrize(
    ("text", "compares"),
    [
        ("Find a boat of the same age as part 4", True),
        ("Find a boat similar to part 4", True),
        ("What has part 4 in common with others?", False),
        ("Is there another boat like part 4?", True),
        ("I would like part 4", False),
        ("Show part 4", False),
    ],
)
def test_a_question_compares_where_something_like_a_thing_is_wanted(text: str, compares: bool) -> None:
    assert read_question(text, NOUNS).compares is compares


def test_a_question_is_read_up_to_a_bound() -> None:
    assert read_question("x" * LENGTH_MAX + " 2021-05-04", NOUNS).slots.dates == ()
    assert len(read_question("x" * (LENGTH_MAX + 1), NOUNS).text) == LENGTH_MAX


@each_row(
    ("text", "found"),
    [
        ("part 4", (4, "part", True, "")),
        ("part four", (4, "part", True, "")),
        ("the fourth part", (4, "part", True, "")),
        ("the 4th part", (4, "part", True, "")),
        ("part no. 4", (4, "part", True, "")),
        ("part number 4", (4, "part", True, "")),
        ("part #4", (4, "part", True, "")),
        ("4 boats", (4, "boat", False, "")),
        ("4.5 crowns", (4.5, "crown", False, "")),
        ("under 7 crowns", (7, "crown", False, "max")),
        ("less than 7 crowns", (7, "crown", False, "max")),
        ("at most 7 crowns", (7, "crown", False, "max")),
        ("cheaper than 7 crowns", (7, "crown", False, "max")),
        ("over 7 crowns", (7, "crown", False, "min")),
        ("more than 7 crowns", (7, "crown", False, "min")),
    ],
)
def test_a_number_is_read_with_its_noun_and_its_bound(text: str, found: tuple[float, str, bool, str]) -> None:
    (number,) = find_numbers(text, NOUNS)
    assert (number.value, number.noun, number.is_name, number.bound) == found


@pytest.mark.parametrize("text", ['"part 4"', "“part 4”", "on 2021-05-04", "'part 4'"])
def test_numbers_in_quotations_and_dates_are_no_numbers(text: str) -> None:
    assert find_numbers(text, NOUNS) == ()


def test_dates_are_read_in_their_order_with_their_times() -> None:
    text = "From 2021-05-04 to 2021-06-01T10:30 or 2021-06-01T10:30:15Z, not 21-5-4 or 2021-5-4"
    assert iso_dates_in(text) == ("2021-05-04", "2021-06-01T10:30", "2021-06-01T10:30:15Z")
