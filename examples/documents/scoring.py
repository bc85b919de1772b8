"""Two scores of a document for a query: a fast one for all, a careful one for a few. Pure."""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping

from .handbook import Document

_WORD = re.compile(r"\w+")
_SMALL_WORDS = frozenset(
    "a an and are as at be by do does for from how in is it its of on or the to what when which who with".split()  # noqa: SIM905  # words read best as text
)
_SATURATION, _LENGTH_SHARE = 1.2, 0.75


def words_of(text: str) -> list[str]:
    """Return the words in lower case, without plural endings, and without small words if there are others."""
    found = [word.removesuffix("s") or word for word in _WORD.findall(text.lower())]
    return [word for word in found if word not in _SMALL_WORDS] or found


def ranked(query: str, documents: Mapping[str, Document]) -> list[tuple[float, Document]]:
    """Return the documents that share a word with the query, the best first.

    BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
    """
    counted = {id: Counter(words_of(_whole(document))) for id, document in documents.items()}
    mean_length = sum(counts.total() for counts in counted.values()) / max(1, len(counted))
    rarity = {word: _rarity(word, counted.values()) for word in set(words_of(query))}

    def score_of(counts: Counter[str]) -> float:
        length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * counts.total() / mean_length
        return sum(
            weight * counts[word] * (_SATURATION + 1) / (counts[word] + _SATURATION * length)
            for word, weight in rarity.items()
        )

    scored = [(round(score_of(counts), 4), documents[id]) for id, counts in counted.items()]
    return sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1].id))


def best_paragraph(query: str, document: Document) -> tuple[float, str]:
    """Return the best paragraph and its score from 0 to 1: all words of the query, and close together."""
    asked = set(words_of(query))
    return max(
        ((_closeness(asked, words_of(text)), text) for text in document.paragraphs), key=lambda one: one[0]
    )


def _whole(document: Document) -> str:
    return " ".join((document.title, document.title, *document.paragraphs))


def _rarity(word: str, documents: Collection[Mapping[str, int]]) -> float:
    holding = sum(word in counts for counts in documents)
    return math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))


def _closeness(asked: set[str], words: list[str]) -> float:
    """Return the share of the query's words that occur, less where they are far apart."""
    places = [(place, word) for place, word in enumerate(words) if word in asked]
    words_found = {word for _, word in places}
    if not words_found:
        return 0.0
    return round(
        len(words_found)
        / len(asked)
        * (0.6 + 0.4 * len(words_found) / _shortest_stretch(places, len(words_found))),
        4,
    )


def _shortest_stretch(places: list[tuple[int, str]], different: int) -> int:
    """Return the length in words of the shortest stretch that holds each of the `different` words."""
    counts: Counter[str] = Counter()
    lengths, first = [], 0
    for place, word in places:
        counts[word] += 1
        while counts[places[first][1]] > 1:
            counts[places[first][1]] -= 1
            first += 1
        if len(counts) == different:
            lengths.append(place - places[first][0] + 1)
    return min(lengths)
