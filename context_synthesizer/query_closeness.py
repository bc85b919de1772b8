"""The closeness by words of each fact to the question and the searches, updated in each round. Pure, and mutable.

Each fact has two figures. `sums` is its BM25 score for the words of all texts together. `best` is its score for the
text to which it is closest, as a share of the best fact's score for this text. So it is from 0 to 1, and a search for
a rare name counts as much as a search in common words.

A search counts more if more of its words are in the question, or in a fact that was filed before the search, as a
search for something else may be a mistake.

The weight of a word and the score of a text's best fact change with every fact. They are computed again whenever the
number of facts has grown by a quarter. In between, the cost of a round grows with the words that its new facts and
searches share with the others.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache, lru_cache
from math import sqrt

from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.words import words

CLOSEST_SHARE = 0.5
_WEIGHT_MIN = 0.4
"""The weight of a search without any known word."""
_GROWTH = 1.25
_TEXT_CHARACTERS = 4_000
_TEXTS_CACHED_MAX = 4_096

Text = tuple[str, ...]
"""The words of a question or a search."""
_ScoresOf = Callable[[str], list[tuple[int, float]]]


@lru_cache(_TEXTS_CACHED_MAX)
def distinct_words(text: str) -> Text:
    """Return the words of a question or a search, each once, in a fixed order."""
    return tuple(sorted(set(words(text[:_TEXT_CHARACTERS]))))


class QueryCloseness:
    """The questions and searches, and the figures of each fact of an index, by its number.

    `questions` have the weight 1; `update` weighs the searches that it adds. `priors`: the gain of each fact by its
    position; the list grows with the index.
    """

    def __init__(self, index: WordIndex, priors: Sequence[float], questions: Iterable[str]) -> None:
        self.sums: list[float] = []
        self.best: list[float] = []
        self.most = 0.0
        """The highest of `sums`, as of the last `closeness`."""
        self._closeness: list[float] = []
        self._changed: set[int] = set()
        """The facts whose figures have changed since the last `closeness`."""
        self._index, self._priors = index, priors
        self._texts = {words: 1.0 for question in questions if (words := distinct_words(question))}
        """The weight of each text."""
        self._question_words = frozenset(word for text in self._texts for word in text)
        self._most: dict[Text, float] = {}
        """The score of the best fact for each text."""
        self._weights: dict[str, float] = {}
        """The highest weight, for each word, of a text that contains it."""
        self._by_word: dict[str, list[Text]] = {}
        self._up_to_date_at = 0

    def update(self, searches: Iterable[str] = ()) -> None:
        """Add the new facts of the index, and the searches of the round."""
        new = [
            text for text in dict.fromkeys(map(distinct_words, searches)) if text and text not in self._texts
        ]
        if new:
            self._texts.update({text: self._weight_of(text) for text in new})
        if len(self._index) > self._up_to_date_at * _GROWTH:
            self._compute_anew()
            return
        self._add_facts()
        for text in new:
            self._add_text(text, self._index.scores_of)

    def including(self, questions: Iterable[str]) -> "QueryCloseness":
        """Return a copy with more questions, which must not be updated."""
        closeness = self.closeness()
        other = copy(self)
        other._closeness, other._changed = closeness, set()
        other.sums, other.best = self.sums.copy(), self.best.copy()
        other._weights, other._most, other._by_word = self._weights.copy(), {}, {}
        other._texts = dict.fromkeys(filter(None, map(distinct_words, questions)), 1.0)
        for text in other._texts:
            other._add_text(text, self._index.scores_of)
        return other

    def closeness(self) -> list[float]:
        """Return the closeness of each fact: its sum, and shares of the highest sum for `best` and its prior."""
        most = max(self.most, max(map(self.sums.__getitem__, self._changed), default=0.0))
        if most != self.most:
            self.most = most
            self._closeness = [
                own + most * (CLOSEST_SHARE * best + prior)
                for own, best, prior in zip(self.sums, self.best, self._priors, strict=True)
            ]
        else:
            self._closeness += [0.0] * (len(self.sums) - len(self._closeness))
            for number in self._changed:
                share = CLOSEST_SHARE * self.best[number] + self._priors[number]
                self._closeness[number] = self.sums[number] + most * share
        self._changed = set()
        return self._closeness.copy()

    def _weight_of(self, search: Text) -> float:
        """Return the weight of a new search; the facts that it found are in the index, but not yet in `sums`."""
        in_facts = [
            word in self._question_words or self._index.is_before(len(self.sums), word) for word in search
        ]
        return _WEIGHT_MIN + (1 - _WEIGHT_MIN) * sqrt(sum(in_facts) / len(search))

    def _compute_anew(self) -> None:
        self._up_to_date_at = len(self._index)
        self.sums, self.best = [0.0] * len(self._index), [0.0] * len(self._index)
        self._most, self._weights, self._by_word = {}, {}, {}
        self.most, self._changed = 0.0, set(range(len(self._index)))
        scores_of = cache(self._index.scores_of)  # as texts share most of their words
        for text in self._texts:
            self._add_text(text, scores_of)

    def _add_facts(self) -> None:
        first = len(self.sums)
        self._changed.update(range(first, len(self._index)))
        self.sums += [0.0] * (len(self._index) - first)
        self.best += [0.0] * (len(self._index) - first)
        scores_by_text: dict[Text, dict[int, float]] = {}
        for number, word, score in self._index.scores_since(first):
            for text in self._by_word.get(word, ()):
                text_scores = scores_by_text.setdefault(text, {})
                text_scores[number] = text_scores.get(number, 0.0) + score
            self.sums[number] += self._weights.get(word, 0.0) * score
        for text, scores in scores_by_text.items():
            self._note_best(text, scores)

    def _add_text(self, text: Text, scores_of: _ScoresOf) -> None:
        weight = self._texts[text]
        scores: dict[int, float] = {}
        sums = self.sums
        for word in text:
            added = max(0.0, weight - self._weights.get(word, 0.0))
            self._weights[word] = self._weights.get(word, 0.0) + added
            self._by_word.setdefault(word, []).append(text)
            parts = scores_of(word)
            for number, score in parts:
                scores[number] = scores[number] + score if number in scores else score
            for number, score in parts if added else ():
                sums[number] += added * score
        self._changed.update(scores)
        self._note_best(text, scores)

    def _note_best(self, text: Text, scores: dict[int, float]) -> None:
        if not scores:
            return
        most = self._most[text] = max(self._most.get(text, 0.0), *scores.values())
        weight, best = self._texts[text], self.best
        for number, score in scores.items():
            if (share := weight * score / most) > best[number]:
                best[number] = share
