"""The vectors of one session's facts and searches, each number in one byte. Pure, and mutable.

Vectors are stored in Redis next to the memory, one item for each round with new ones, so that each text is embedded
once, whichever process continues the session:

    {"model": "minilm", "facts": ["F1", "F2"], "asked": ["<digest>"]}
    the rows of the facts, then those of the question and the searches, without separators

An item of another model is skipped, as its numbers have another meaning.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from math import isfinite, sqrt
from operator import mul
from typing import Any

import orjson

_MOST = 127
_COSINE_DIGITS = 4
_ALIKE = 0.0001


class Vectors:
    """Rows of one length by the ids of facts, and by the digests of questions and searches."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.items = 0
        """The number of items of the session's list that were read."""
        self.places: dict[str, int] = {}
        """The row number of each fact."""
        self.asked: dict[str, bytes] = {}
        self.width = 0
        self._rows = bytearray()
        self._lengths: list[float] = []
        self._cosines: dict[str, list[float]] = {}
        """The cosines of the facts' rows, as far as they are computed, by the digest of the question or search."""

    def read(self, items: Iterable[bytes]) -> None:
        """Add the items that this or another process appended to the list."""
        for item in items:
            self.items += 1
            head, _, rows = item.partition(b"\n")
            told = orjson.loads(head)
            names = (*told["facts"], *told["asked"])
            if told["model"] == self.model and names:
                width = len(rows) // len(names)
                cut = {name: rows[n * width : (n + 1) * width] for n, name in enumerate(names)}
                self._put({id: cut[id] for id in told["facts"]}, {name: cut[name] for name in told["asked"]})

    def add(self, facts: Mapping[str, bytes], asked: Mapping[str, bytes]) -> bytes:
        """Add new rows, and return the item for them; empty without new rows."""
        if not (facts or asked):
            return b""
        self.items += 1
        self._put(facts, asked)
        head = orjson.dumps({"model": self.model, "facts": [*facts], "asked": [*asked]})
        return head + b"\n" + b"".join((*facts.values(), *asked.values()))

    def closeness(self, question: str, searches: Iterable[str]) -> dict[str, float]:
        """Return the closeness of each fact, from 0 to 1: the mean of those to the question and to the closest search.

        Each is a share of the closest fact's, above the mean, as some searches are nearer to every fact than others.
        Without a vector of the question, the result is empty.
        """
        to_question = _of_closest(self._to(digest_of(question)))
        texts = dict.fromkeys(searches)
        to_searches = [found for text in texts if (found := _of_closest(self._to(digest_of(text))))]
        if not to_question:
            return {}
        closest = map(max, zip(*to_searches, strict=True)) if to_searches else to_question
        means = ((one + other) / 2 for one, other in zip(to_question, closest, strict=True))
        return dict(zip(self.places, means, strict=True))

    def _to(self, digest: str) -> list[float]:
        """Return the cosines of all facts to a question or search; an empty list when it has no vector."""
        row = self.asked.get(digest)
        if row is None:
            return []
        known = self._cosines.setdefault(digest, [])
        begin, width = len(known), len(row)
        length = _length(row)
        products = _products(memoryview(self._rows)[begin * width :], row)
        known += [
            round(product / (own * length or 1.0), _COSINE_DIGITS)
            for product, own in zip(products, self._lengths[begin:], strict=True)
        ]
        return known

    def _put(self, facts: Mapping[str, bytes], asked: Mapping[str, bytes]) -> None:
        """Add rows; skip those of another length than the rows before."""
        self.width = self.width or len(next(iter((*facts.values(), *asked.values()))))
        for id, row in facts.items():
            if id not in self.places and len(row) == self.width:
                self.places[id] = len(self.places)
                self._rows += row
                self._lengths.append(_length(row))
        self.asked.update((name, row) for name, row in asked.items() if len(row) == self.width)


def _of_closest(cosines: list[float]) -> list[float]:
    """Return cosines as shares of the highest, counted from their mean: the level of a fact on something else.

    Where all are alike, each is 1 if they are positive.
    """
    highest = max(cosines, default=0.0)
    usual = sum(cosines) / max(1, len(cosines))
    if highest - usual < _ALIKE:
        return [1.0 if highest > 0 else 0.0] * len(cosines)
    return [max(0.0, (cosine - usual) / (highest - usual)) for cosine in cosines]


def row_of(vector: Sequence[float], width: int = 0) -> bytes:
    """Return a vector with one byte for each number. Raises ValueError unless it is `width` finite numbers."""
    largest = max(map(abs, vector), default=0.0)
    if not largest or not isfinite(sum(vector)) or (width and len(vector) != width):
        raise ValueError(f"a vector is invalid: it must have {width} finite numbers that are not all zero")
    return bytes(round(_MOST * float(one) / float(largest)) & 255 for one in vector)


def digest_of(text: str) -> str:
    """Return the name of the text of a question or search."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _length(row: bytes) -> float:
    return sqrt(_products(row, row)[0])


def _products(rows: bytes | memoryview, row: bytes) -> list[int]:
    """Return the scalar product of each row with one: whole numbers, the same with numpy and without."""
    if (numpy := _numpy()) is not None:
        table = numpy.frombuffer(rows, dtype=numpy.int8).reshape(-1, len(row)).astype(numpy.float64)
        products: list[int] = (table @ numpy.frombuffer(row, dtype=numpy.int8)).astype(int).tolist()
        return products
    one, width = memoryview(row).cast("b"), len(row)
    table_of = memoryview(rows).cast("b")
    return [sum(map(mul, table_of[n : n + width], one)) for n in range(0, len(table_of), width)]


@cache
def _numpy() -> Any:
    """Return numpy, which the extra `embeddings` installs; a deployment's own function works without it."""
    try:
        import numpy
    except ModuleNotFoundError:
        return None
    return numpy
