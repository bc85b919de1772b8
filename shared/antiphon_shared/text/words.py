"""The words of a text as they are compared. Pure."""

import re
from functools import lru_cache

from Stemmer import Stemmer

_REMEMBERED = 1 << 16
_STEMMER = Stemmer("english")
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no space between words: each pair of neighbours counts as one."""
_ASCII = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
"""Names are taken apart at their humps."""
_ANY = re.compile(rf"(?=([{_UNSPACED}]{{2}}))[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_SAY_LITTLE = frozenset((
    "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "up", "us", "was", "we", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip  # a text, not a column


def words(text: str) -> tuple[str, ...]:
    """Lower case, names taken apart, without their endings; words that say little are left out."""
    found = _ASCII.findall(text) if text.isascii() else [one[1] or one[0] for one in _ANY.finditer(text)]
    return tuple([stem for word in found if (stem := _stem(word))])


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, names taken apart, with their endings; also those that say little."""
    return [word.lower() for word in _ASCII.findall(text)]


def is_telling(word: str) -> bool:
    """Whether a word in lower case says something by itself."""
    return len(word) > 1 and word not in _SAY_LITTLE


@lru_cache(_REMEMBERED)
def _stem(word: str) -> str:
    """The word without its ending, by Snowball's rules for English; empty for one that says little.

    Words of other languages lose little by it.
    """
    lower = word.lower()
    if lower in _SAY_LITTLE or (len(lower) == 1 and not lower.isdigit()):
        return ""
    return str(_STEMMER.stemWord(lower))
