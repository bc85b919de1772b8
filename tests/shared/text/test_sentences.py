"""A text in sentences."""

import pytest
from antiphon_shared.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dr. Holm came. She left.", ["Dr. Holm came. ", "She left."]),
        ("no end", ["no end"]),
        ("a \ud800. B", ["a \ud800. B"]),
        (" ", [" "]),
    ],
)
def test_sentences_are_slices_of_the_text(text: str, found: list[str]) -> None:
    assert sentences(text) == found
