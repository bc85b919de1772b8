"""The words of a text as they are compared. Pure."""

import re
from functools import lru_cache

_REMEMBERED = 1 << 16
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no space between words: each pair of neighbours counts as one."""
_WORD = re.compile(rf"(?=([{_UNSPACED}]{{2}}))[{_UNSPACED}]|[^\W_{_UNSPACED}]{{2,}}|[0-9]")
_SAY_LITTLE = frozenset((
    "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "up", "us", "was", "we", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip  # a text, not a column


def words(text: str) -> tuple[str, ...]:
    """Lower case, names taken apart, endings of plurals folded (crudely); words that say little are left out."""
    apart = _HUMP.sub(" ", text).lower()
    found = (match[1] or match[0] for match in _WORD.finditer(apart))
    return tuple(_folded(word) for word in found if word not in _SAY_LITTLE)


@lru_cache(_REMEMBERED)
def _folded(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
