"""Texts cut where a word ends."""

import pytest
from antiphon_shared.text.excerpt import list_names, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("as  it\nis", "as it is"),
        ("one two three", "one two …"),
        ("x" * 20, "x" * 10 + " …"),
        ("one two" + " " * 100, "one …"),
    ],
)
def test_a_text_is_shown_on_one_line_and_cut_at_the_end_of_a_word(text: str, line: str) -> None:
    assert one_line(text, 10) == line


def test_a_shortened_list_of_names_states_the_number_of_omitted_names() -> None:
    assert [list_names("abc"[:n], 2) for n in range(4)] == ["", "a", "a, b", "a, b and 1 more"]
