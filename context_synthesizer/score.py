"""The closeness of each fact by words, and by meaning if facts are embedded, but not by age. Pure.

A fact is compared with the title of its document, as its own words often only say "he" or "it". Let M be the highest
BM25 score of a fact for all words of the question and the searches. A fact's closeness is the sum of

    its own BM25 score for all words of the question, the open sub-questions and the searches
    0.5 M   times its share of the best fact's score for the one of these texts to which it is closest
    0.3 M   over its passage's rank in the result: a search puts the closest passage first
    0.15 M  if it is the first of its document, which introduces the rest; not in a dialogue
    0.5     times the closeness of the line before it, if that is a question in a dialogue, as it may be the answer
    0.3     times the closeness of its closer neighbour, if it is a line of dialogue that no search has found
    0.3     times the closeness of one of the best facts that names its document's title: the next hop
    1.0 M   times its closeness in meaning, from 0 to 1, if facts are embedded (embeddings.py); it is not passed on

A document that the question asks for by its date is as close as the closest one of its series (series.py).

query_closeness.py computes the first two. The next hop serves questions over several documents: "She was born in
Calden" makes the article on Calden close, even if no search asked for it. docs/memory-benchmark.md has the effect of
each term.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from antiphon_shared.memory.filing.salience import USUAL
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.words import words

from context_synthesizer.page import TITLE_CHARACTERS_MIN, name_of
from context_synthesizer.query_closeness import QueryCloseness
from context_synthesizer.scores import Scores, closest_first
from context_synthesizer.series import Series

RANK_SHARE = 0.3
LEAD_SHARE = 0.15
ANSWER_SHARE = 0.5
NEIGHBOUR_SHARE = 0.3
BRIDGE_SHARE = 0.3
BRIDGES_MAX = 24
"""The number of best facts in which titles are searched."""
SUPERSEDED_SHARE = 0.4
LIKENESS_SHARE = 1.0
NOTHING: Mapping[str, float] = MappingProxyType({})
_TITLE_WORDS_MAX = 40
_RANK = re.compile(r"\[(\d+)\]")
_SPOKEN = re.compile(r"[^\W\d_][^:\n]{0,40}: \S")
_QUESTION = re.compile(r"[?？]")


class Relevance:
    """The index of the facts of one memory, which grows by deltas. A fact has a number, from 0 on."""

    def __init__(self) -> None:
        self._index = WordIndex()
        self._closeness: QueryCloseness | None = None
        self._facts: list[Fact] = []
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._priors: list[float] = []
        """The gain of each fact by its position, as a share of M."""
        self._documents: dict[str, list[int]] = {}
        """The facts of each document."""
        self._titled: dict[str, dict[str, list[str]]] = {}
        """The titles by their first word, each with its documents."""
        self._spoken: list[int] = []
        """The lines of dialogue that no search has found."""
        self._answers: dict[int, int] = {}
        """The lines of dialogue after a question, each with the number of the question."""
        self._series = Series()
        self._demoted: list[int] = []
        """Facts of low salience for any question."""
        self._are_embedded = False

    def add(self, memory: Memory, delta: MemoryDelta) -> None:
        """Add the facts of `delta`, which is already in `memory`."""
        searched = {use.call_id for use in delta.tool_usage if use.query}
        for fact in delta.facts:
            self._add(fact, memory.document_of(fact), searched)
        self._closeness = self._closeness or QueryCloseness(self._index, self._priors, (memory.query,))
        self._closeness.update(use.query for use in delta.tool_usage)

    def _add(self, fact: Fact, document: Document, searched: Collection[str]) -> None:
        number = len(self._facts)
        self._facts.append(fact)
        self._ids.append(fact.id)
        self._numbers[fact.id] = number
        title = words(document.title)[:_TITLE_WORDS_MAX]
        others = self._documents.setdefault(document.id, [])
        if not others:
            name = name_of(document.title)
            if title and len(name) >= TITLE_CHARACTERS_MIN:
                self._titled.setdefault(title[0], {}).setdefault(name, []).append(document.id)
        rank = _RANK.search(document.position) if document.call_id in searched else None
        prior = RANK_SHARE / (1 + int(rank[1])) if rank else RANK_SHARE
        is_spoken = not fact.is_json and _SPOKEN.match(fact.statement) is not None
        if is_spoken and document.call_id not in searched:
            self._spoken.append(number)
        if is_spoken and others and _QUESTION.search(self._facts[others[-1]].statement):
            self._answers[number] = others[-1]
        if not (is_spoken or others):
            prior += LEAD_SHARE
            self._series.add(document.id, document.title)
        self._priors.append(prior)
        others.append(number)
        if fact.salience < USUAL:
            self._demoted.append(number)
        self._are_embedded |= fact.salience > USUAL
        self._index.add((*title, *words(fact.statement)))

    def scores(
        self, memory: Memory, question: Sequence[str] = (), salience: Mapping[str, float] = NOTHING
    ) -> Scores:
        """Return the closeness of each fact to the question and the searches.

        `question`: texts in place of the query, such as those of a step. `salience`: values for some facts in place of
        the filed ones.
        """
        query_closeness = self._closeness
        if query_closeness is None or not self._facts:
            return Scores({}, (), ())
        if question:
            query_closeness = QueryCloseness(self._index, self._priors, question)
            query_closeness.update()
            query_closeness.update(use.query for use in memory.tool_usage)
        if memory.open_questions:
            query_closeness = query_closeness.including(memory.open_questions)
        scores = query_closeness.closeness()
        for gains in (self._dialogue_gains(scores), self._bridge_gains(scores)):
            for number, gain in gains.items():
                scores[number] += gain
        if salience or self._are_embedded:
            for number, likeness in enumerate(self._likenesses(salience)):
                scores[number] += query_closeness.most * LIKENESS_SHARE * likeness
        self._raise_dated(question or (memory.query,), scores)
        self._lower(memory, scores)
        return Scores(self._numbers, self._ids, scores)

    def _likenesses(self, salience: Mapping[str, float]) -> list[float]:
        """Return the closeness in meaning of each fact, from 0 to 1.

        It is derived from the raised salience. A fact that was not embedded gets the average of the others.
        """
        saliences = [salience.get(fact.id, fact.salience) for fact in self._facts]
        raised = [one for one in saliences if one > USUAL]
        usual = sum(raised) / len(raised) if raised else USUAL
        return [max(0.0, (usual if one == USUAL else one) - USUAL) / (1 - USUAL) for one in saliences]

    def _dialogue_gains(self, scores: Sequence[float]) -> dict[int, float]:
        """Return the gain of lines of dialogue from the lines before and after them."""
        gains = {number: ANSWER_SHARE * scores[question] for number, question in self._answers.items()}
        for number in self._spoken:
            document = self._facts[number].document
            neighbours = [
                scores[other]
                for other in (number - 1, number + 1)
                if 0 <= other < len(scores) and self._facts[other].document == document
            ]
            gains[number] = max(gains.get(number, 0.0), NEIGHBOUR_SHARE * max(neighbours, default=0.0))
        return gains

    def _bridge_gains(self, scores: Sequence[float]) -> dict[int, float]:
        """Return the gain of facts if one of the best facts names the title of their document."""
        gains: dict[int, float] = {}
        for naming in islice(closest_first(scores), BRIDGES_MAX):
            fact = self._facts[naming]
            for id in self._named_documents(fact, self._index.words_of(naming)):
                for number in self._documents[id]:
                    gains[number] = max(gains.get(number, 0.0), BRIDGE_SHARE * scores[naming])
        return gains

    def _named_documents(self, fact: Fact, its_words: Iterable[str]) -> list[str]:
        """Return the other documents whose title occurs in a fact."""
        titles_by_word = (self._titled.get(word, {}) for word in its_words)
        id_lists = (
            ids for titles in titles_by_word for title, ids in titles.items() if title in fact.statement
        )
        return [id for ids in id_lists if fact.document not in ids for id in ids]

    def _raise_dated(self, question: Sequence[str], scores: list[float]) -> None:
        """Raise facts of documents that the question asks for by date to the closest fact of their series."""
        for chosen, series in self._series.requested_by(question):
            closest = max(scores[number] for id in series for number in self._documents[id])
            for id in chosen:
                for number in self._documents[id]:
                    scores[number] = max(scores[number], closest)

    def _lower(self, memory: Memory, scores: list[float]) -> None:
        """Lower the scores of facts of low salience and of superseded ones."""
        for number in self._demoted:
            scores[number] *= self._facts[number].salience / USUAL
        for id in memory.superseded:
            scores[self._numbers[id]] *= SUPERSEDED_SHARE
