"""Replacements of parts of a text. Pure."""

from collections.abc import Iterable

Edit = tuple[int, int, str]
"""The start and end of a part of a text, and its replacement."""


def spliced(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits, which are in the order of the text and do not overlap."""
    parts, position = [], 0
    for start, end, replacement in edits:
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])
