"""The position of a value in a text, and the common grammar of secret keys and their values. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

IsSecret = Callable[[str], bool]
"""A test of a key, or of a value."""


class Span(NamedTuple):
    """The position of a value in a text."""

    start: int
    end: int
    form: str = ""
    """`number` for a JSON number, `url` and `encoded` for a URL-encoded value, `encoded` if the span includes its
    surroundings.
    """
    levels: int = 0
    """The number of times that it was escaped as in JSON."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form in which secrets are written, with a mark that a text must contain for it, and a test of the value."""

    mark: str
    pattern: "re.Pattern[str]"
    is_secret: IsSecret

    def values(self, text: str, trailing: str | None = None) -> Iterator[Span]:
        """Yield the values in a text that pass the test, without `trailing` signs, or spaces, at their end."""
        for match in self.pattern.finditer(text) if self.mark in text else ():
            start, end = match.span("value")
            value = text[start:end].rstrip(trailing)
            if self.is_secret(value):
                yield Span(start, start + len(value))


_ESCAPED = r"\\{1,15}u(?!00[0-9abAB]|20|30[0-3])[0-9a-fA-F]{4}"
"""A letter beyond ASCII as in ASCII JSON; no sign, and no punctuation."""
KEY = rf"(?P<key>(?:[^\W\d]|{_ESCAPED})[\w-]{{0,80}}+(?:{_ESCAPED}[\w-]{{0,80}}+){{0,12}}+)"
"""A word; its letters beyond ASCII may be escaped as in ASCII JSON."""
QUOTE = r"\\{0,15}[\"'`]"
BEGINS = r"(?:(?<![\w-])|(?<=\\[bfnrt])|(?<=%5[Bb]))"
"""Not within a word; a letter may be part of JSON's escape of a line end, or a URL's of a bracket."""
_SIGNS = r"[^\s\\\"'`]"
WORD = rf"(?:{_SIGNS}++|\\(?![nrtbfu\"'`\\/]))++"
"""A text up to a space, a quote, or an escape of one in JSON."""
_BACKSLASHES_MAX = 64
WORD_AT = re.compile(WORD)
_WORDS_BEFORE = re.compile(r"(?:[A-Za-z]{1,30}+[ \t]){1,2}\Z")
SECOND_WORDS = frozenset(("key", "keys", "phrase", "code", "number", "word", "passe"))
"""Words that make a secret key together with the words before them: "API key", "credit card number"."""


def candidates(text: str, start: int, key: str) -> Iterator[str]:
    """Yield a key, and, when it is a second word, it with the one and two words before `start`."""
    yield key
    if text[start - 1 : start] == "\\" and key[0] in "bfnrt":  # perhaps part of a line end in JSON
        yield key[1:]
    if key.lower() in SECOND_WORDS and (before := _WORDS_BEFORE.search(text, max(0, start - 64), start)):
        words = before[0].split()
        yield " ".join((*words[-1:], key))
        yield " ".join((*words, key))


def merge_overlapping(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with overlapping ones merged."""
    merged: list[Span] = []
    for span in sorted(filter(lambda span: span.start < span.end, spans), key=itemgetter(0, 1)):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return merged


def levels(quote: str) -> int:
    """Return the number of levels of JSON within JSON, from a quote with its 0, 1, 3 or 7 backslashes."""
    return len(quote).bit_length()


def end_of(text: str, start: int, quote: str) -> int:
    """Return the end of a quoted value; for a truncated one the end of the text."""
    end = start
    while (end := text.find(quote[-1], end)) >= 0:
        before = text[max(start, end - _BACKSLASHES_MAX) : end]
        backslashes = len(before) - len(before.rstrip("\\"))
        if backslashes >= len(quote) - 1 and (backslashes - len(quote) + 1) // len(quote) % 2 == 0:
            return end - len(quote) + 1
        end += 1
    return len(text)
