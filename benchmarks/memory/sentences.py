"""Sentences of a text, and texts as they are compared. Pure."""

from functools import lru_cache

from sentencex import segment


@lru_cache(20_000)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences, without the space around them; a line's end ends a sentence."""
    lines = [line for line in text.split("\n") if line.strip()]
    return tuple(part for line in lines for piece in segment("en", line) if (part := piece.strip()))


def squeeze(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())
