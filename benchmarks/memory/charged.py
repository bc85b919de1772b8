"""The cost of a text: by the offline estimate, or by a real tokenizer."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from antiphon_shared.text.tokens import estimate_tokens

Count = Callable[[str], int]
Shown = TypeVar("Shown")
_TRIES = 5
_TEXTS_KEPT = 50_000


def by_tokenizer(path: Path) -> Count:
    """Return the count of a `tokenizer.json`, as the package `tokenizers` reads it."""
    from tokenizers import Tokenizer  # of the extra `bench`

    tokenizer = Tokenizer.from_file(str(path))

    @lru_cache(_TEXTS_KEPT)
    def count(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    return count


def fitted(show: Callable[[int], Shown], text_of: Callable[[Shown], str], tokens: int, count: Count) -> Shown:
    """Return what `show` gives within that many counted tokens; `show` takes estimated ones.

    The rate between the two is found as a session finds it, by what has been counted of the text before.
    """
    shown = show(tokens)
    if count is estimate_tokens:
        return shown
    estimated: float = tokens
    for _ in range(_TRIES):
        counted = count(text_of(shown))
        if 0.985 * tokens <= counted <= tokens:
            break
        estimated *= 0.998 * tokens / max(1, counted)
        shown = show(int(estimated))
    while count(text_of(shown)) > tokens and estimated >= 1:
        estimated *= 0.97
        shown = show(int(estimated))
    return shown
