"""The sentences of a text, by `sentencex`. Pure."""

import re

import sentencex

UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
"""A character of a script without spaces between words."""


def sentences(text: str) -> list[str]:
    """Return slices of the text, each a sentence with the space after it; one slice if they cannot be found."""
    try:
        pieces: list[str] = sentencex.segment("en", text) if text.strip() else []
    except UnicodeEncodeError:  # a lone surrogate
        return [text]
    return pieces if "".join(pieces) == text else [text]
