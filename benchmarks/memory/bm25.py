"""Okapi BM25 over a fixed list of texts: Robertson and Zaragoza (2009), equation 3.15. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log

from antiphon_shared.text.words import words as compared_words

K1, B = 1.2, 0.75


class Index:
    """The texts' words, counted once, and built again when texts are added."""

    def __init__(self, texts: Sequence[str], words: Callable[[str], Sequence[str]] = compared_words) -> None:
        self._words = words
        counted = [Counter(words(text)) for text in texts]
        mean = sum(one.total() for one in counted) / max(len(counted), 1) or 1.0
        self._size = len(texts)
        self._norms = [K1 * (1 - B + B * one.total() / mean) for one in counted]
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for n, one in enumerate(counted):
            for word, count in one.items():
                self._postings[word].append((n, count))

    def scores(self, query: str) -> list[float]:
        """Return the score of each text for the query, whose words count once each."""
        scores = [0.0] * self._size
        for word in dict.fromkeys(self._words(query)):
            postings = self._postings.get(word, ())
            weight = log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            for n, count in postings:
                scores[n] += weight * count * (K1 + 1) / (count + self._norms[n])
        return scores

    def best(self, query: str, n: int) -> list[int]:
        """Return the texts that share a word with the query, at most `n`, the best first."""
        scores = self.scores(query)
        return sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))[:n]
