"""The words of a text as they are compared."""

import pytest
from antiphon_shared.text.words import (
    bare_word,
    similarity,
    stem,
    stems_of_name,
    texts_in_json,
    words,
    words_as_written,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row


@each_row(
    ("text", "expected"),
    [
        ("getCourseOutline", ("get", "cours", "outlin")),
        ("get_course_outline", ("get", "cours", "outlin")),
        ("HTTPServer parseJSON2", ("http", "server", "pars", "json2")),
        ("move moves moved moving", ("move", "move", "move", "move")),
        ("boxes classes queries status", ("box", "class", "queri", "status")),
        ("Straße", ("straße",)),
        ("the and of", ()),
        ("lesson 4, a part", ("lesson", "4", "part")),
        ("東京都へ行く", ("東京", "京都", "都へ", "へ行", "行く")),
        ("in 東京 today", ("東京", "today")),
    ],
)  # fmt: skip  # one case a line
def test_text_becomes_lower_case_stems_and_pairs_of_unspaced_characters(
    text: str, expected: tuple[str, ...]
) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_of_any_text_have_no_capitals_or_spaces(text: str) -> None:
    for word in words(text):
        assert word == word.lower()
        assert not any(character.isspace() for character in word)


@each_row(
    ("word", "expected"),
    [("Queries", "queri"), ("query", "queri"), ("caching", "cach"), ("caches", "cach"), ("glass", "glass"),
     ("bus", "bus"), ("Ada's", "ada"), ("Ada’s", "ada"), ("running", "run"), ("stopped", "stop"), ("the", "the")],
)  # fmt: skip  # a table
def test_a_word_loses_its_inflection(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("roomNumber", ("room", "number")),
        ("room_number", ("room", "number")),
        ("rooms-free", ("room", "free")),
        ("HTTPServer", ("httpserver",)),
        ("page2Title", ("page2", "titl")),
        ("", ()),
    ],
)
def test_an_identifier_is_split_into_its_parts(name: str, parts: tuple[str, ...]) -> None:
    assert stems_of_name(name) == parts


def test_names_are_compared_ignoring_case_and_punctuation() -> None:
    assert similarity("The Old Bridge", "the old-bridge!") == 1.0
    assert similarity("", "bridge") == 0.0
    assert similarity("bridge", "?!") == 0.0
    assert 0.5 < similarity("bridge", "bridges of") < 1.0
    assert similarity("a" * 300, "a" * 301) == 1.0
    assert similarity("a" * 299, "a" * 300) < 1.0


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("“word”,", "word"),
        ("(5", "(5"),
        ("–5.", "–5"),
        ("$40;", "$40"),
        ("C#", "C#"),
        ("12,", "12"),
        ("…", ""),
    ],
)
def test_a_word_loses_the_punctuation_around_it_but_no_sign_of_a_number(word: str, bare: str) -> None:
    assert bare_word(word) == bare


def test_the_texts_of_json_are_its_keys_and_values() -> None:
    assert list(texts_in_json('{"a": [1, null, {"b": "c"}], "d": true}')) == ["a", "1", "b", "c", "d", "True"]
    assert list(texts_in_json("{no JSON")) == ["{no JSON"]


def test_words_are_found_in_their_written_form() -> None:
    assert words_as_written("Ada's bridge_x, isn’t (7)") == ["Ada's", "bridge", "x", "isn’t", "7"]
