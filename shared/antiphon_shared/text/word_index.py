"""An index of texts by their words that grows text by text. Pure.

The ranking is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
(2009), equation 3.15. The cost of adding a text grows with its length. A word's weight and the mean length
are computed on demand, so the index is never rebuilt.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import log

K1, B = 1.2, 0.75


class WordIndex:
    """Texts by the order in which they were added, from 0 on."""

    def __init__(self) -> None:
        self._words: list[dict[str, int]] = []
        self._held: dict[str, list[tuple[int, int]]] = {}
        self._lengths: list[int] = []
        self._length = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, words: Iterable[str]) -> None:
        """Add a text by its words."""
        counted = Counter(words)
        index, length = len(self._lengths), counted.total()
        for word, count in counted.items():
            held = self._held.get(word)
            if held is None:
                held = self._held[word] = []
            held.append((index, count))
        self._words.append(counted)
        self._lengths.append(length)
        self._length += length

    def words_of(self, index: int) -> Iterable[str]:
        """Return the words of a text, each once."""
        return self._words[index]

    def is_before(self, index: int, word: str) -> bool:
        """Return whether a text before `index` contains a word."""
        held = self._held.get(word)
        return held is not None and held[0][0] < index

    def worth(self, word: str) -> float:
        """Return a word's weight: higher when fewer texts contain it; 0 if no text does."""
        held = len(self._held.get(word, ()))
        return log(1 + (len(self) - held + 0.5) / (held + 0.5)) if held else 0.0

    def scores_of(self, word: str) -> list[tuple[int, float]]:
        """Return the texts that contain a word, with its part of the score of each."""
        worth, lengths = self.worth(word), self._lengths
        base, per_word = K1 * (1 - B), K1 * B * len(self) / max(1, self._length)
        return [
            (index, worth * count * (K1 + 1) / (count + base + per_word * lengths[index]))
            for index, count in self._held.get(word, ())
        ]

    def scores_since(self, first: int) -> Iterator[tuple[int, str, float]]:
        """Yield each word of the texts from `first` on, with its part of the score of its text."""
        base, per_word = K1 * (1 - B), K1 * B * len(self) / max(1, self._length)
        worths: dict[str, float] = {}
        for index in range(first, len(self)):
            around = base + per_word * self._lengths[index]
            for word, count in self._words[index].items():
                if (worth := worths.get(word)) is None:
                    worth = worths[word] = self.worth(word)
                yield index, word, worth * count * (K1 + 1) / (count + around)
