"""Shares of a page, so that one source or repetitions cannot use up the budget. Pure.

    a repetition      a statement in the words of one that is shown, except numbers and one word in five; unless
                      it or its title holds a word that is asked for and that the other one lacks
    one document      beyond a quarter of a page's budget
    untrusted text    beyond half of it, where there are trusted facts

These facts wait and are shown after the rest, as far as they fit: it is an order, not a bound.
"""

from collections import Counter, defaultdict
from functools import cached_property

from antiphon_shared.memory.layers import Fact

from context_synthesizer.page import Page
from context_synthesizer.query_closeness import distinct_words

_OF_DOCUMENT, _OF_UNTRUSTED = 4, 2
"""The divisors of a page's budget for one document and for untrusted text."""
_ALIKE = 0.8
"""The common part of the words of two statements from which they are alike."""


class Shares:
    """The used budget of a page, by source."""

    def __init__(self, page: Page) -> None:
        self._memory, self._pieces = page.memory, page.pieces
        self._room = page.budget.left
        self._taken: Counter[tuple[str, str]] = Counter()
        self._shown: list[Fact] = []
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        self._has_trusted = any(not one.is_untrusted for one in page.memory.documents.values())
        for id in page.lines:
            self.took(page.memory.facts[id], 0)

    def is_repetition(self, fact: Fact) -> bool:
        """Return whether a shown fact has the same content."""
        words = self._pieces.words(fact)
        shared = Counter(number for word in words for number in self._holding.get(word, ()))
        return any(
            count >= _ALIKE * (len(words) + len(self._pieces.words(self._shown[number])) - count)
            and self._asked_in(fact) <= self._asked_in(self._shown[number])
            for number, count in shared.items()
        )

    def is_over(self, fact: Fact, units: int) -> bool:
        """Return whether the fact's source would exceed its share with these units."""
        return any((self._taken[source] + units) * part > self._room for source, part in self._sources(fact))

    def took(self, fact: Fact, units: int) -> None:
        """Note that the fact is shown."""
        for source, _ in self._sources(fact):
            self._taken[source] += units
        for word in self._pieces.words(fact):
            self._holding[word].append(len(self._shown))
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

    def _asked_in(self, fact: Fact) -> frozenset[str]:
        title = self._memory.document_of(fact).title
        return self._query_words.intersection((*distinct_words(fact.statement), *distinct_words(title)))
