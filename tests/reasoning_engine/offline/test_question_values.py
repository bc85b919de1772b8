"""The value that a question gives for a name."""

from typing import Any

import pytest

from reasoning_engine.offline import question_values
from reasoning_engine.offline.question import read_question

QUESTION = read_question(
    "Every 10 minutes, read the gauge of station Skagen. When the limit of 2.5 is passed, write to channel #harbour "
    'and to a@b.example, then be quiet for 30 minutes. Name the line skagen-high and title it "High Water".',
    frozenset(),
)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


@pytest.mark.parametrize(
    ("name", "fits", "first"),
    [
        ("every_minutes", is_number, 10),
        ("limit", is_number, 2.5),
        ("station", is_text, "Skagen"),
        ("channel", is_text, "#harbour"),
        ("name", is_text, "skagen-high"),
        ("pressure", is_text, None),
        ("limit", is_text, None),
    ],
)
def test_a_value_is_found_next_to_its_noun(name: str, fits: question_values.Fits, first: Any) -> None:
    assert next(question_values.values_near_name(QUESTION.text, name, fits), None) == first


def test_an_option_that_is_a_whole_word_takes_precedence_over_a_part_of_one() -> None:
    question = read_question("Write to watch@skagen.example when Grenaa freezes.", frozenset())
    assert question_values.option(question.text, ("Skagen", "Grenaa")) == "Grenaa"
    assert question_values.option(question.text, ("Skagen", "Gedser")) == "Skagen"
    assert question_values.option(question.text, (1, None, "Gedser")) is None
