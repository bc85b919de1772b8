"""Arguments with any content are shown as one short line."""

from typing import Any

import pytest

from tests.rows import each_row
from tool_dispatcher.check import hostile
from tool_dispatcher.check.short_json import LINE_LENGTH_MAX, short_json


@each_row(
    ("value", "line"),
    [
        (
            {"q": "why?", "n": 3, "yes": True, "none": None},
            '{"q": "why?", "n": 3, "yes": true, "none": null}',
        ),
        (float("nan"), "NaN"),
        (10**299, "(an integer of 994 bits)"),
        (10**30, "1000000000000000000000000000000"),
        ("a" * 1_000, f'"{"a" * 80}…" (1000 characters)'),
        (list(range(10)), "[0, 1, 2, 3, 4, 5, 6, 7, … 10 in all]"),
        (hostile.nested_list(2_000), "[[[[[(nested deeper)]]]]]"),
        ({}, "{}"),
    ],
)
def test_a_value_reads_about_as_its_json(value: Any, line: str) -> None:
    assert short_json(value) == line


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[31m", "\u202eabc", "a\nb", "a\ud800", "a\u2028b"])
def test_control_characters_and_unencodable_text_are_escaped(text: str) -> None:
    line = short_json({"q": text})
    assert line.isprintable()
    assert "\\" in line
    assert line.encode()


def test_every_sample_is_shown_within_the_bound() -> None:
    samples = [*hostile.samples_of_any_kind(), *hostile.texts(), *hostile.numbers(), *hostile.nestings()]
    assert all(len(short_json(sample.value)) <= LINE_LENGTH_MAX for sample in samples)
    assert len(short_json({str(n): "a" * 100 for n in range(8)})) == LINE_LENGTH_MAX
