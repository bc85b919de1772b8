"""The vectors of one session's facts and searches, each number in one byte. Pure, and mutable.

Vectors are stored in Redis next to the memory, one item for each round with new ones, so that each text is embedded
once, even if another process continues the session:

    {"model": "minilm", "facts": ["F1", "F2"], "asked": ["<digest>"]}
    the rows of the facts, then those of the question and the searches, without separators

An item of another model is skipped, as its numbers have another meaning.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import islice
from math import isfinite, sqrt
from operator import mul
from typing import Any

import orjson

_BYTE_MAX = 127
_COSINE_DIGITS = 4
_COSINES_EQUAL = 0.0001
_GROWTH = 1.25


class Vectors:
    """Rows of one length by the ids of facts, and by the digests of questions and searches."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.items = 0
        """The number of items of the session's list that were read."""
        self.rows: dict[str, int] = {}
        """The row number of each fact."""
        self.questions: dict[str, bytes] = {}
        self.width = 0
        self._rows = bytearray()
        self._lengths: list[float] = []
        self._question_lengths: dict[str, float] = {}
        self._to_question, self._to_searches = _Closest(), _Closest()
        self._measured_at = 0
        """The number of facts when the means were computed."""
        self._ends: list[int] = []
        """The number of facts at that time, and after each item since."""
        self._since: dict[str, int] = {}
        """The number of facts at the item of each question or search."""

    def read(self, items: Iterable[bytes]) -> None:
        """Add the items that this or another process appended to the list."""
        for item in items:
            self.items += 1
            head, _, rows = item.partition(b"\n")
            header = orjson.loads(head)
            names = (*header["facts"], *header["asked"])
            if header["model"] == self.model and names:
                width = len(rows) // len(names)
                cut = {name: rows[n * width : (n + 1) * width] for n, name in enumerate(names)}
                self._add_rows(
                    {id: cut[id] for id in header["facts"]}, {name: cut[name] for name in header["asked"]}
                )

    def add(self, facts: Mapping[str, bytes], questions: Mapping[str, bytes]) -> bytes:
        """Add new rows, and return the item for them; empty without new rows."""
        if not (facts or questions):
            return b""
        self.items += 1
        self._add_rows(facts, questions)
        head = orjson.dumps({"model": self.model, "facts": [*facts], "asked": [*questions]})
        return head + b"\n" + b"".join((*facts.values(), *questions.values()))

    def closeness(self, question: str, searches: Iterable[str]) -> dict[str, float]:
        """Return the closeness of each fact, from 0 to 1: the mean of its closeness to the question and to a search.

        The search is the closest one. Each closeness is a share of the closest fact's, above the mean, as some searches
        are closer to all facts than others. The mean is computed again whenever the facts have grown by a quarter; in
        between, only new facts and new searches are compared. The result depends only on the items, so that a process
        that takes over has the same one. Without a vector of the question, it is empty.
        """
        if digest_of(question) not in self.questions:
            return {}
        self._compare(self._to_question, (question,))
        self._compare(self._to_searches, dict.fromkeys(searches))
        to_question = self._to_question.shares
        to_searches = self._to_searches.shares if self._to_searches.scales else to_question
        averages = ((one + other) / 2 for one, other in zip(to_question, to_searches, strict=True))
        return dict(zip(self.rows, averages, strict=True))

    def _compare(self, closest: "_Closest", texts: Iterable[str]) -> None:
        """Compare new facts with all texts, and all facts with new texts."""
        compared = len(closest.shares)
        closest.shares += [0.0] * (len(self.rows) - compared)
        for digest in filter(self.questions.__contains__, map(digest_of, texts)):
            is_compared = digest in closest.scales
            begin = offset = compared if is_compared else 0
            first = compared if is_compared else max(self._measured_at, self._since[digest])
            cosines = self._cosines(digest, offset)
            for end in self._ends:
                if end >= first and end > begin:
                    closest.raise_to(digest, begin, cosines[begin - offset : end - offset])
                    begin = end

    def _cosines(self, digest: str, begin: int) -> list[float]:
        """Return the cosines of the facts from a row on to a question or search."""
        row = self.questions[digest]
        length = self._question_lengths[digest]
        products = _products(memoryview(self._rows)[begin * len(row) :], row)
        return [
            round(product / (own * length or 1.0), _COSINE_DIGITS)
            for product, own in zip(products, islice(self._lengths, begin, None), strict=True)
        ]

    def _add_rows(self, facts: Mapping[str, bytes], questions: Mapping[str, bytes]) -> None:
        """Add rows; skip rows of another length than the first one."""
        self.width = self.width or len(next(iter((*facts.values(), *questions.values()))))
        for id, row in facts.items():
            if id not in self.rows and len(row) == self.width:
                self.rows[id] = len(self.rows)
                self._rows += row
                self._lengths.append(_length(row))
        for name, row in questions.items():
            if name not in self.questions and len(row) == self.width:
                self.questions[name] = row
                self._question_lengths[name] = _length(row)
                self._since[name] = len(self.rows)
        if len(self.rows) > self._measured_at * _GROWTH:
            self._measured_at, self._ends = len(self.rows), []
            self._to_question, self._to_searches = _Closest(), _Closest()
        self._ends.append(len(self.rows))


class _Closest:
    """The closeness of each fact to the text, of several, to which it is closest."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.scales: dict[str, tuple[float, float]] = {}
        """The mean and the highest cosine of each text, by its digest."""

    def raise_to(self, digest: str, begin: int, cosines: Sequence[float]) -> None:
        """Raise the shares of facts from a row on to their cosines with a text, from its mean (0) to its highest (1).

        A fact on another subject has about the mean. If all are equal and positive, each fact gets 1.
        """
        mean, highest = self.scales.get(digest, (sum(cosines) / len(cosines), -1.0))
        highest = max(highest, *cosines)
        self.scales[digest] = mean, highest
        span = highest - mean
        for number, cosine in enumerate(cosines, begin):
            is_alike = highest > 0 and cosine > mean - _COSINES_EQUAL
            share = (cosine - mean) / span if span >= _COSINES_EQUAL else float(is_alike)
            if share > self.shares[number]:
                self.shares[number] = share


def row_of(vector: Sequence[float], width: int = 0) -> bytes:
    """Return a vector with one byte for each number. Raises ValueError unless it is `width` finite numbers."""
    largest = max(map(abs, vector), default=0.0)
    if not largest or not isfinite(sum(vector)) or (width and len(vector) != width):
        raise ValueError(f"a vector is invalid: it must have {width} finite numbers that are not all zero")
    return bytes(round(_BYTE_MAX * float(one) / float(largest)) & 255 for one in vector)


def digest_of(text: str) -> str:
    """Return the name of the text of a question or search."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _length(row: bytes) -> float:
    return sqrt(_products(row, row)[0])


def _products(rows: bytes | memoryview, row: bytes) -> list[int]:
    """Return the scalar product of each row with `row`, in whole numbers, so that numpy makes no difference."""
    if (numpy := _numpy()) is not None:
        table = numpy.frombuffer(rows, dtype=numpy.int8).reshape(-1, len(row)).astype(numpy.float64)
        products: list[int] = (table @ numpy.frombuffer(row, dtype=numpy.int8)).astype(int).tolist()
        return products
    one, width = memoryview(row).cast("b"), len(row)
    table_of = memoryview(rows).cast("b")
    return [sum(map(mul, table_of[n : n + width], one)) for n in range(0, len(table_of), width)]


@cache
def _numpy() -> Any:
    """Return numpy if it is installed; a deployment's own function works without it."""
    try:
        import numpy
    except ModuleNotFoundError:
        return None
    return numpy
