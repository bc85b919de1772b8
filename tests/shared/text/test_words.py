"""The words of a text as they are compared."""

import pytest
from antiphon_shared.text.words import words
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
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
def test_lower_case_names_taken_apart_without_endings_and_unspaced_scripts_in_pairs(
    text: str, expected: tuple[str, ...]
) -> None:
    assert words(text) == expected


@given(st.text())
def test_any_text_has_words_without_capitals_and_spaces(text: str) -> None:
    for word in words(text):
        assert word == word.lower()
        assert not any(character.isspace() for character in word)
