"""Lists of entries of a table, drawn as one string.

A list of `sampled_from` takes two choices of hypothesis for each item, and most of the time of a test that draws long
ones. Here each entry is a letter of an alphabet, and one choice draws them all; what fails shrinks as a string does, to
fewer and earlier entries.
"""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import strategies as st

EntryT = TypeVar("EntryT")
_FIRST = 0x4E00
"""The first of more than 20,000 letters in a row."""


def some_of(
    table: Sequence[EntryT], *, min_size: int = 0, max_size: int | None = None
) -> st.SearchStrategy[list[EntryT]]:
    """Draw lists of entries of a table, in any order and also repeatedly."""
    letters = st.characters(min_codepoint=_FIRST, max_codepoint=_FIRST + len(table) - 1)
    drawn = st.text(letters, min_size=min_size, max_size=max_size)
    return drawn.map(lambda text: [table[ord(letter) - _FIRST] for letter in text])
