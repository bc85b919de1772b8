"""A difference, as a person reads it."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.replay.differences import ABSENT
from antiphon.replay.reports.change_lines import LENGTH_MAX, LINES_MAX, change

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def test_short_values_are_shown_on_two_lines() -> None:
    assert change("Hurry.", "") == ['- "Hurry."', '+ ""']
    assert change(3, ABSENT) == ["- 3", "+ (absent)"]


def test_only_the_lines_around_a_difference_of_a_long_text_are_shown() -> None:
    then = [f"line {n}" for n in range(1, 100)]
    now = [*then[:49], "another line 50", *then[50:]]
    assert change("\n".join(then), "\n".join(now)) == [
        "@@ line 48 @@",
        "  line 48",
        "  line 49",
        "- line 50",
        "+ another line 50",
        "  line 51",
        "  line 52",
    ]


def test_only_the_differing_part_of_a_long_line_is_shown() -> None:
    then, now = change("a" * 5_000 + "X" + "b" * 5_000, "a" * 5_000 + "Y" + "b" * 5_000)
    assert "X" in then
    assert "Y" in now
    assert then.endswith("more characters)")


def test_objects_are_compared_line_by_line() -> None:
    assert change({"a": 1, "b": 2}, {"a": 1, "b": 3}) == [
        "@@ line 1 @@",
        "  {",
        '    "a": 1,',
        '-   "b": 2',
        '+   "b": 3',
        "  }",
    ]


def test_control_characters_are_escaped() -> None:
    assert change("a\n\x1b[2J\u202e", "a\nb")[-2] == "- \\x1b[2J\\u202e"


@settings(max_examples=50, deadline=None)
@given(_JSON, _JSON)
def test_any_difference_is_shown_in_a_few_printable_lines(expected: Any, got: Any) -> None:
    lines = change(expected, got)
    assert 0 < len(lines) <= LINES_MAX + 1 or expected == got
    assert all(line.isprintable() and len(line) <= LENGTH_MAX * 10 + 40 for line in lines)


def test_texts_of_many_equal_lines_take_no_quadratic_time() -> None:
    assert len(change("x\n" * 200_000, "y\n" * 200_000)) == LINES_MAX + 1
