"""The words of a text in the form for comparisons. Pure."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from pydantic_core import from_json
from Stemmer import Stemmer

_REMEMBERED = 1 << 16
_STEMMER = Stemmer("english")
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without spaces between words: each pair of neighbours counts as one word."""
_ASCII = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
"""Words of ASCII text; names in camel case are split."""
_ANY = re.compile(rf"(?=([{_UNSPACED}]{{2}}))[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_OPENING = "\"'“‘„«([{*_`|~–—…¿¡（「『"
_OPENING_OF_NUMBERS = "\"'“‘„«*_`|"
_CLOSING = ".,:;!?…)]}\"'”’»*_`|~–—。，！？、：；）」』،؟؛।"
_CLOSING_OF_NUMBERS = ".,:;!?…)]}”’»*_`|。，！？、：；）」』،؟؛।"
_CURRENCY = "$€£¥₹"
_WRITTEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SAY_LITTLE = frozenset((
    "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "up", "us", "was", "we", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip  # a text, not a column


def words(text: str) -> tuple[str, ...]:
    """Return the stems of the words in lower case, with names split and without stop words."""
    parts = _ASCII.findall(text) if text.isascii() else [one[1] or one[0] for one in _ANY.finditer(text)]
    return tuple([word_stem for word in parts if (word_stem := _telling_stem(word))])


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, with names split, with endings and stop words."""
    return [word.lower() for word in _ASCII.findall(text)]


def texts_in_json(text: str) -> Iterator[str]:
    """Yield the keys and the plain values of JSON as texts; the text itself where it is not JSON."""
    try:
        yield from _texts_of(from_json(text))
    except ValueError:
        yield text


def _texts_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_of(item)
    elif value is not None:
        yield str(value)


def is_telling(word: str) -> bool:
    """Return whether a lower-case word is neither a stop word nor a single character."""
    return len(word) > 1 and word not in _SAY_LITTLE


def bare_word(word: str) -> str:
    """Return the word without the punctuation around it; next to a number, a possible sign stays."""
    opened = word.lstrip(_OPENING)
    if opened.lstrip(_CURRENCY)[:1].isdecimal():
        opened = word.lstrip(_OPENING_OF_NUMBERS)
    closed = opened.rstrip(_CLOSING)
    return opened.rstrip(_CLOSING_OF_NUMBERS) if closed[-1:].isdecimal() else closed


@lru_cache(_REMEMBERED)
def stem(word: str) -> str:
    """Return the stem of a word in lower case, by Snowball's rules for English: `Queries` and `query` have one stem.

    Words of other languages lose little by it.
    """
    return str(_STEMMER.stemWord(word.lower().replace("’", "'")))


def words_as_written(text: str) -> list[str]:
    """Return all words of a text as they are written; `isn't` is one word."""
    return _WRITTEN.findall(text)


def stems_of_name(name: str) -> tuple[str, ...]:
    """Return the stems of all words of an identifier: `roomNumber` and `room_number` are room, number."""
    return tuple([stem(word) for word in words_as_written(_CAMEL.sub(" ", name).replace("_", " "))])


def similarity(first: str, second: str) -> float:
    """Return the likeness of two names, from 0 to 1, ignoring case and punctuation."""
    left, right = (" ".join(words_as_written(text[:300].lower())) for text in (first, second))
    return SequenceMatcher(None, left, right).ratio() if left and right else 0.0


@lru_cache(_REMEMBERED)
def _telling_stem(word: str) -> str:
    """Return the stem of a word; empty for a stop word."""
    lower = word.lower()
    if lower in _SAY_LITTLE or (len(lower) == 1 and not lower.isdigit()):
        return ""
    return str(_STEMMER.stemWord(lower))
