"""The few facts about English that the offline model's rules need."""

import pytest

from reasoning_engine.offline.language import (
    content_words,
    identifier_stems,
    is_filler,
    likeness,
    similarity,
    singular,
    stem,
    stems,
    words,
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Queries", "query"),
        ("query", "query"),
        ("ties", "tie"),
        ("caching", "cach"),
        ("caches", "cach"),
        ("cache", "cach"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("basis", "basis"),
        ("gas", "gas"),
        ("cats", "cat"),
        ("Ada's", "ada"),
        ("Ada’s", "ada"),
        ("running", "run"),
        ("stopped", "stop"),
        ("telling", "tell"),
        ("passed", "pass"),
        ("ring", "ring"),
        ("using", "using"),
        ("seed", "seed"),
        ("added", "ad"),
        ("needed", "need"),
        ("tree", "tre"),
        ("the", "the"),
        ("one", "one"),
    ],
)
def test_a_word_loses_its_inflection(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Queries", "Query"),
        ("ties", "tie"),
        ("boxes", "box"),
        ("glasses", "glass"),
        ("quizzes", "quizz"),
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
    assert words("Ada's bridge_x, isn’t (7) O'Neil--done") == [
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


@pytest.mark.parametrize(
    "word", ["the", "Which", "describe", "describing", "describes", "mentions", "asked", "comparing", "find"]
)
def test_a_word_that_asks_or_joins_is_a_filler(word: str) -> None:
    assert is_filler(word)


@pytest.mark.parametrize("word", ["bridge", "topic", "course"])
def test_a_word_with_a_subject_is_no_filler(word: str) -> None:
    assert not is_filler(word)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("roomNumber", ("room", "number")),
        ("room_number", ("room", "number")),
        ("rooms-free", ("room", "fre")),
        ("HTTPServer", ("httpserver",)),
        ("page2Title", ("page2", "titl")),
        ("", ()),
    ],
)
def test_an_identifier_is_taken_apart(name: str, parts: tuple[str, ...]) -> None:
    assert identifier_stems(name) == parts


def test_names_are_alike_whatever_their_case_and_punctuation() -> None:
    assert similarity("The Old Bridge", "the old-bridge!") == 1.0
    assert similarity("", "bridge") == 0.0
    assert similarity("bridge", "?!") == 0.0
    assert 0.5 < similarity("bridge", "bridges of") < 1.0
    assert similarity("a" * 300, "a" * 301) == 1.0
    assert similarity("a" * 299, "a" * 300) < 1.0


def test_a_part_of_a_name_stands_for_the_whole() -> None:
    assert likeness("The Bridges of Holm", "holm") == 1.0
    assert likeness("The Bridges of Holm", "Bridges of Nes") < 1.0
    assert likeness("Holm", "Bridges of Holm") < 1.0
    assert likeness("Holm", "the") < 1.0
