"""The sentences of a text, by `sentencex`. Pure."""

import sentencex


def sentences(text: str) -> list[str]:
    """Return slices of the text, each a sentence with the space after it; one slice if they cannot be found."""
    try:
        pieces: list[str] = sentencex.segment("en", text) if text.strip() else []
    except UnicodeEncodeError:  # a lone surrogate
        return [text]
    return pieces if "".join(pieces) == text else [text]
