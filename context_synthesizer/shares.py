"""Shares of a page, so that one source or repetitions cannot use up the budget. Pure.

    a repetition      a statement in the words of a shown one, except numbers and one word in five; unless it or its
                      title has a word of the question or a search that the other one lacks
    one document      beyond a quarter of a page's budget
    untrusted text    beyond half of it, if there are trusted facts

These facts are shown after the others, as far as they fit.
"""

from collections import Counter, defaultdict
from functools import cached_property

from antiphon_shared.memory.layers import Fact

from context_synthesizer.page import Page
from context_synthesizer.query_closeness import distinct_words

_OF_DOCUMENT, _OF_UNTRUSTED = 4, 2
"""The divisors of a page's budget for one document and for untrusted text."""
_ALIKE = 0.8
"""The share of common words from which two statements count as alike."""


class Shares:
    """The used budget of a page, by source."""

    def __init__(self, page: Page) -> None:
        self._memory, self._pieces = page.memory, page.pieces
        self._budget = page.budget.left
        self._taken: Counter[tuple[str, str]] = Counter()
        self._shown: list[Fact] = []
        self._numbers_by_word: defaultdict[str, list[int]] = defaultdict(list)
        self._has_trusted = any(not one.is_untrusted for one in page.memory.documents.values())
        for id in page.lines:
            self.count_shown(page.memory.facts[id], 0)

    def is_repetition(self, fact: Fact) -> bool:
        """Return whether a shown fact has the same content."""
        words = self._pieces.words(fact)
        shared = Counter(number for word in words for number in self._numbers_by_word.get(word, ()))
        return any(
            count >= _ALIKE * (len(words) + len(self._pieces.words(self._shown[number])) - count)
            and self._query_words_in(fact) <= self._query_words_in(self._shown[number])
            for number, count in shared.items()
        )

    def is_over(self, fact: Fact, units: int) -> bool:
        """Return whether the fact's source would exceed its share with these units."""
        return any(
            (self._taken[source] + units) * part > self._budget for source, part in self._sources(fact)
        )

    def count_shown(self, fact: Fact, units: int) -> None:
        """Count the units of a shown fact."""
        for source, _ in self._sources(fact):
            self._taken[source] += units
        for word in self._pieces.words(fact):
            self._numbers_by_word[word].append(len(self._shown))
        self._shown.append(fact)

    def _sources(self, fact: Fact) -> list[tuple[tuple[str, str], int]]:
        document = self._memory.document_of(fact)
        sources = [(("document", document.id), _OF_DOCUMENT)]
        if document.is_untrusted and self._has_trusted:
            sources.append((("trust", ""), _OF_UNTRUSTED))
        return sources

    @cached_property
    def _query_words(self) -> frozenset[str]:
        """Return the words of the question, the open sub-questions and the searches."""
        memory = self._memory
        texts = (memory.query, *memory.open_questions, *(use.query for use in memory.tool_usage))
        return frozenset[str]().union(*map(distinct_words, texts))

    def _query_words_in(self, fact: Fact) -> frozenset[str]:
        title = self._memory.document_of(fact).title
        return self._query_words.intersection((*distinct_words(fact.statement), *distinct_words(title)))
