"""The few facts about English that the offline model's rules need."""

import pytest
from antiphon_shared.text.words import words_as_written

from reasoning_engine.offline.language import content_words, is_filler, likeness, singular, stems
from tests.rows import each_row


@each_row(
    ("word", "expected"),
    [
        ("Queries", "Query"),
        ("ties", "tie"),
        ("boxes", "box"),
        ("glasses", "glass"),
        ("churches", "church"),
        ("dishes", "dish"),
        ("houses", "house"),
        ("cats", "cat"),
        ("is", "is"),
        ("gas", "ga"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("basis", "basis"),
        ("box", "box"),
    ],
)
def test_a_noun_loses_the_ending_of_its_plural(word: str, expected: str) -> None:
    assert singular(word) == expected


def test_words_are_found_as_written_and_the_small_ones_are_not_content() -> None:
    assert words_as_written("Ada's bridge_x, isn’t (7) O'Neil--done") == [
        "Ada's",
        "bridge",
        "x",
        "isn’t",
        "7",
        "O'Neil",
        "done",
    ]
    assert content_words("Which course DISCUSSES the bridges of Holm?") == ["course", "bridges", "Holm"]
    assert stems("The bridges and a bridge of Holm") == {"bridg", "holm"}


@each_row(
    "word", ["the", "Which", "describe", "describing", "describes", "mentions", "asked", "comparing", "find"]
)
def test_a_word_that_asks_or_joins_is_a_filler(word: str) -> None:
    assert is_filler(word)


@pytest.mark.parametrize("word", ["bridge", "topic", "course"])
def test_a_word_with_a_subject_is_not_a_filler(word: str) -> None:
    assert not is_filler(word)


def test_a_part_of_a_name_matches_the_whole() -> None:
    assert likeness("The Bridges of Holm", "holm") == 1.0
    assert likeness("The Bridges of Holm", "Bridges of Nes") < 1.0
    assert likeness("Holm", "Bridges of Holm") < 1.0
    assert likeness("Holm", "the") < 1.0
