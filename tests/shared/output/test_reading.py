"""The one JSON value in a model's words."""

import json
from typing import Any

import pytest
from antiphon_shared.output.reading import read_answer
from hypothesis import given
from hypothesis import strategies as st

from tests.memories import hostile_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (' [1, 2]\n', [1, 2]),
        ('"blue"', "blue"),
        ("null", None),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Voici la réponse :\n\n```\n{"a": "é"}\n```\nBonne journée !', {"a": "é"}),
        ('Sure, see [1]: {"a": {"b": [1]}} is what I found.', {"a": {"b": [1]}}),
        ('{"a": 1} and once more {"a": 1}', {"a": 1}),
        ("{not this} but {\"a\": 1}", {"a": 1}),
    ],
)  # fmt: skip  # one form for all rows
def test_one_value_is_read_whatever_stands_around_it(text: str, value: Any) -> None:
    given = read_answer(text)
    assert (given.value, given.problem) == (value, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "It holds no JSON"),
        ("It is the blue one.", "It holds no JSON"),
        ('{"a": 1} {"a": 2}', "It holds 2 JSON values"),
        ('{"a": 1} {"a": true}', "It holds 2 JSON values"),
        ('{"a": 1', "It is no whole JSON: expecting ',' delimiter at character 8"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ('{"a": 1, "a": 2}', "an object has the same property twice"),
        ("[" * 100_000, "It is no whole JSON"),
    ],
)  # fmt: skip  # one form for all rows
def test_what_is_no_one_value_is_told_in_words_for_the_model(text: str, problem: str) -> None:
    given = read_answer(text)
    assert given.value is None
    assert problem in given.problem


@given(hostile_text)
def test_no_text_is_too_strange(text: str) -> None:
    read_answer(text)
    read_answer("{" + text)


SCALARS = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(SCALARS, lambda part: st.lists(part) | st.dictionaries(st.text(), part)))
def test_what_was_written_as_json_is_read_as_it_was(value: Any) -> None:
    assert read_answer(json.dumps(value)).value == value
