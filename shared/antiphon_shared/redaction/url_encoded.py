"""URL-encoded text, encoded once or several times, and its meaning. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

_QUOTE_OR_SIGN = re.compile(r"%(?:25){0,8}(?:22|27|3[AaDd])")
"""A quote, a colon or `=` in encoded form, without which there is no key and value."""
_RUN = re.compile(r"[^\s\"'<>\\`]{3,}+")
_BYTE = re.compile(r"%(?:25){0,8}([0-9A-Fa-f]{2})")
_LETTERS = {32: 183, **{byte: 256 + byte for byte in range(128, 256)}}
"""Replacements for decoded bytes: letters for those beyond ASCII, so that none looks like a space; and `·` for a space,
which would end a word.
"""
_SPACES = re.compile(r"(?<=[:,])[+\u00b7]{1,8}")
"""Spaces between a key and its value, which are ignored."""
_TIMES_MAX = 4


class DecodedPart(NamedTuple):
    """A decoded part of a text."""

    text: str
    decoded_at: list[int]
    encoded_at: list[int]

    def position_of(self, of: int) -> int:
        """Return the position in the whole encoded text for a position in this part."""
        before = bisect_right(self.decoded_at, of) - 1
        return self.encoded_at[before] + of - self.decoded_at[before]


def decoded_runs(text: str) -> Iterator[DecodedPart]:
    """Yield the parts of a text that may hold keys and values in an encoded form."""
    if _QUOTE_OR_SIGN.search(text) is None:
        return
    for run in _RUN.finditer(text):
        if _QUOTE_OR_SIGN.search(run[0]) is not None:
            yield _decoded(run[0], run.start())


def as_meant(value: str) -> str:
    """Return a decoded value of a URL, for any number of encodings."""
    for _ in range(_TIMES_MAX):
        if (decoded := unquote(value, errors="replace")) == value:
            break
        value = decoded
    return value


def _decoded(run: str, offset: int) -> DecodedPart:
    parts: list[str] = []
    length = at = 0
    decoded_at, encoded_at = [0], [offset]
    for match in _BYTE.finditer(run):
        code = int(match[1], 16)
        parts += (run[at : match.start()], chr(_LETTERS.get(code, code)))
        length += match.start() - at + 1
        at = match.end()
        decoded_at.append(length)
        encoded_at.append(offset + at)
    decoded = _SPACES.sub(lambda match: " " * len(match[0]), "".join((*parts, run[at:])))
    return DecodedPart(decoded, decoded_at, encoded_at)
