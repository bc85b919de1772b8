"""A place in a text where a value stands, and what all forms to write a secret key and its value share. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

IsSecret = Callable[[str], bool]


class Span(NamedTuple):
    """Where a value stands in a text."""

    start: int
    end: int
    form: str = ""
    """`number` where it is one of JSON, `url` and `encoded` where it is written as in a URL, with what is around it."""
    levels: int = 0
    """How often it was written as in JSON."""


KEY = r"(?P<key>[A-Za-z_][\w-]{0,80}+(?:\\{1,15}u00[c-fC-F][0-9a-fA-F][\w-]{0,80}+){0,3}+)"
"""A word; its letters with accents may stand as JSON writes them in ASCII."""
QUOTE = r"\\{0,15}[\"'`]"
BEGINS = r"(?:(?<![\w-])|(?<=\\[bfnrt])|(?<=%5[Bb]))"
"""Not within a word; a letter may be part of how JSON writes a line's end, or a URL a bracket."""
_SIGNS = r"[^\s\\\"'`]"
WORD = rf"(?:{_SIGNS}++|\\(?![nrtbfu\"'`\\/]))++"
"""Up to a space, a quote, or what JSON writes in place of one."""
_BACKSLASHES_MAX = 64
WORD_AT = re.compile(WORD)
_WORDS_BEFORE = re.compile(r"(?:[A-Za-z]{1,30}+[ \t]){1,2}\Z")
SECOND_WORDS = frozenset(("key", "keys", "phrase", "code", "number", "word"))
"""What makes a secret key together with the words before it: "API key", "credit card number"."""


def candidates(text: str, start: int, key: str) -> Iterator[str]:
    """A key, and where it is the second word of one, with one and two words before it, which stand before `start`."""
    yield key
    if text[start - 1 : start] == "\\" and key[0] in "bfnrt":  # perhaps part of a line's end in JSON
        yield key[1:]
    if key.lower() in SECOND_WORDS and (before := _WORDS_BEFORE.search(text, max(0, start - 64), start)):
        words = before[0].split()
        yield " ".join((*words[-1:], key))
        yield " ".join((*words, key))


def apart(found: Iterable[Span]) -> list[Span]:
    """Spans that overlap become one."""
    merged: list[Span] = []
    for span in sorted(filter(lambda span: span.start < span.end, found), key=itemgetter(0, 1)):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return merged


def levels(quote: str) -> int:
    """How often JSON was written within JSON, by the backslashes of a quote: none, 1, 3, 7."""
    return len(quote).bit_length()


def end_of(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends; one whose end was cut off goes to the end of the text."""
    end = start
    while (end := text.find(quote[-1], end)) >= 0:
        before = text[max(start, end - _BACKSLASHES_MAX) : end]
        backslashes = len(before) - len(before.rstrip("\\"))
        if backslashes >= len(quote) - 1 and (backslashes - len(quote) + 1) // len(quote) % 2 == 0:
            return end - len(quote) + 1
        end += 1
    return len(text)
