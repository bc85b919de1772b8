"""The words of a text in the form for comparisons. Pure."""

import re
from functools import lru_cache

from Stemmer import Stemmer

_REMEMBERED = 1 << 16
_STEMMER = Stemmer("english")
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without spaces between words: each pair of neighbours counts as one word."""
_ASCII = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
"""Words of ASCII text; names in camel case are split."""
_ANY = re.compile(rf"(?=([{_UNSPACED}]{{2}}))[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_SAY_LITTLE = frozenset((
    "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "up", "us", "was", "we", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip  # a text, not a column


def words(text: str) -> tuple[str, ...]:
    """Return the stems of the words in lower case, with names split and without stop words."""
    found = _ASCII.findall(text) if text.isascii() else [one[1] or one[0] for one in _ANY.finditer(text)]
    return tuple([stem for word in found if (stem := _stem(word))])


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, with names split, with endings and stop words."""
    return [word.lower() for word in _ASCII.findall(text)]


def is_telling(word: str) -> bool:
    """Return whether a lower-case word is neither a stop word nor a single character."""
    return len(word) > 1 and word not in _SAY_LITTLE


@lru_cache(_REMEMBERED)
def _stem(word: str) -> str:
    """Return the stem of a word, by Snowball's rules for English; empty for a stop word.

    Words of other languages lose little by it.
    """
    lower = word.lower()
    if lower in _SAY_LITTLE or (len(lower) == 1 and not lower.isdigit()):
        return ""
    return str(_STEMMER.stemWord(lower))
