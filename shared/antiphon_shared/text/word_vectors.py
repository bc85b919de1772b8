"""The closeness of two texts in meaning, by a table of English words as vectors. Pure: the table is part of the code.

`word_vectors.z` holds 38,000 common words in 192 dimensions of four bits: 3.2 MB. It was fitted so that the
sum of a sentence's words has the direction that a sentence model (all-MiniLM-L6-v2) gives the sentence, over
54,576 glosses and example sentences of WordNet, and some made from its words. scripts/make_word_vectors.py
has the method and the sources, word_vectors.licences.md their licences. No model runs here: a text is a sum
of whole numbers, so it is the same on every machine.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import isqrt
from operator import add, mul

from Stemmer import Stemmer

from antiphon_shared.text.words import is_telling, plain_words

_HEADER = ">III"
_ZERO = 8
_UNIT = 4096
"""The length of a text's vector, large enough for whole numbers to be precise."""
_NIBBLES = tuple((byte >> 4, byte & 15) for byte in range(256))
_REMEMBERED = 1 << 12

Vector = tuple[int, ...]


def text_vector(text: str) -> Vector:
    """Return the direction of a text; of length zero if its words are unknown."""
    return unit(sum_of_words(text))


def sum_of_words(text: str) -> Vector:
    """Return the sum of the vectors of a text's words."""
    total: Iterable[int] = [0] * _table().dimensions
    for word in plain_words(text):
        if is_telling(word) and (vector := _of(word)):
            total = map(add, total, vector)
    return tuple(total)


def summed(weighted: Sequence[tuple[Vector, int]]) -> Vector:
    """Return the weighted sum."""
    total = [0] * _table().dimensions
    for vector, weight in weighted:
        total = [one + weight * other for one, other in zip(total, vector, strict=True)]
    return tuple(total)


def unit(vector: Vector) -> Vector:
    """Return the vector at its standard length."""
    length = isqrt(sum(map(mul, vector, vector)))
    return tuple([_UNIT * one // length for one in vector]) if length else vector


def closeness(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of standard length."""
    product: int = sum(map(mul, one, other))
    return product / (_UNIT * _UNIT)


class _Table:
    """The words, with a row of four-bit numbers and a scale for each."""

    def __init__(self, packed: bytes) -> None:
        raw = zlib.decompress(packed)
        count, self.dimensions, length = struct.unpack_from(_HEADER, raw)
        begin = struct.calcsize(_HEADER)
        words = raw[begin : begin + length].decode("ascii").split("\n")
        self._scales = begin + length
        self._rows = self._scales + count
        self._raw = raw
        self.row_numbers = {word: row for row, word in enumerate(words)}
        stemmer = Stemmer("english")
        self.stem = stemmer.stemWord
        # All at once, and backwards, so that the first word of a stem wins.
        self.stems: dict[str, int] = dict(
            zip(reversed(stemmer.stemWords(words)), reversed(range(count)), strict=True)
        )

    def vector(self, word: str) -> Vector:
        """Return the vector of a word, or of the commonest word of its stem; empty if neither is known."""
        row_number = self.row_numbers.get(word)
        if row_number is None:
            row_number = self.stems.get(self.stem(word))
        if row_number is None:
            return ()
        scale, width = self._raw[self._scales + row_number], self.dimensions // 2
        row = self._raw[self._rows + row_number * width : self._rows + (row_number + 1) * width]
        return tuple([scale * (part - _ZERO) for byte in row for part in _NIBBLES[byte]])


@cache
def _table() -> _Table:
    return _Table(files(__package__).joinpath("word_vectors.z").read_bytes())


@lru_cache(_REMEMBERED)
def _of(word: str) -> Vector:
    return _table().vector(word)
