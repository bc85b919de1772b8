"""How close each fact is to what is asked: by words alone, never by age. Pure.

A fact is read together with the title of its document, since its own words often stop at "he" or "it". It is
held against the question, the open sub-questions and everything that was searched for, taken together; once more
against the search that brought it, which says best what it was wanted for; it gains by a title that is asked for
by name; and it shares in its best neighbour's score, since what explains a sentence often stands beside it.

The question's own words count a little less than those of the searches, which were made knowing more; the words
that only an answered sub-question asks for count half. The shares were set on the set of questions in
`benchmarks/memory`.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from antiphon_shared.memory.filing.salience import USUAL
from antiphon_shared.memory.layers import Fact, Memory, MemoryDelta
from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.words import words

OWN_SEARCH_SHARE = 0.3
SIBLING_SHARE = 0.2
NAMED_SHARE = 2.0
"""Of the worth of a title's words that are asked for, times the part of the title that they are."""
QUESTION_SHARE = 0.8
ANSWERED_SHARE = 0.5
SUPERSEDED_SHARE = 0.4
SALIENCE_SHARE = 2.0
"""Of the best score by words: what a fact of the highest salience gains."""
NOTHING: Mapping[str, float] = MappingProxyType({})
_TITLE_WORDS_MAX = 40
_QUERY_CHARACTERS = 4_000


class Relevance:
    """The facts of one memory, indexed; grows delta by delta. Facts are told by their place, from 0 on."""

    def __init__(self) -> None:
        self._index = WordIndex()
        self._facts: list[Fact] = []
        self._places: dict[str, int] = {}
        self._document: list[int] = []
        self._documents: dict[str, int] = {}
        self._titles: list[tuple[str, ...]] = []
        self._titled: dict[str, list[int]] = {}
        self._searches: list[frozenset[str]] = []
        """Of each fact, the words of the searches that brought it."""

    def add(self, memory: Memory, delta: MemoryDelta) -> None:
        """What `delta` has added to `memory`, which holds it already."""
        queries = {use.call_id: frozenset(words(use.query[:_QUERY_CHARACTERS])) for use in delta.tool_usage}
        for fact in delta.facts:
            document = memory.document_of(fact)
            self._places[fact.id] = len(self._facts)
            self._facts.append(fact)
            title = words(document.title)[:_TITLE_WORDS_MAX]
            if document.id not in self._documents:
                self._documents[document.id] = len(self._documents)
                self._titles.append(tuple(sorted(set(title))))
                for word in self._titles[-1]:
                    self._titled.setdefault(word, []).append(self._documents[document.id])
            self._document.append(self._documents[document.id])
            self._searches.append(queries.get(document.call_id, frozenset()))
            self._index.add((*title, *words(fact.statement)))
        for sighting in delta.sightings:
            place = self._places.get(sighting.fact)
            document_seen = memory.documents.get(sighting.document)
            if place is not None and document_seen is not None:
                self._searches[place] |= queries.get(document_seen.call_id, frozenset())

    def scores(
        self, memory: Memory, question: Sequence[str] = (), salience: Mapping[str, float] = NOTHING
    ) -> dict[str, float]:
        """Return how close each fact is to what is asked; 0 where no word is shared.

        `question`: texts in place of the query, as those of a step. `salience`: of some facts, in place of what was
        filed with them.
        """
        asked = _asked(memory, question or (memory.query,))
        scores = [0.0] * len(self._facts)
        searches = self._searches
        for word, share in asked.items():
            twice = share + OWN_SEARCH_SHARE
            for place, score in self._index.scores_of(word):
                scores[place] += score * (twice if word in searches[place] else share)
        scores = self._with_siblings(scores)
        named = {
            document: self._named(document, asked)
            for word in asked
            for document in self._titled.get(word, ())
        }
        for place, document in enumerate(self._document):
            scores[place] += named.get(document, 0.0)
        return self._weighed(memory, scores, salience)

    def _named(self, document: int, asked: Mapping[str, float]) -> float:
        """What a document gains by the words of its title that are asked for."""
        worths = {word: self._index.worth(word) for word in self._titles[document]}
        found = sum(worth for word, worth in worths.items() if word in asked)
        return NAMED_SHARE * found * found / sum(worths.values())

    def _with_siblings(self, scores: Sequence[float]) -> list[float]:
        """Each with its share of the best other score in its document."""
        best = [0.0] * len(self._documents)
        second = [0.0] * len(self._documents)
        holder = [-1] * len(self._documents)
        for place, (score, document) in enumerate(zip(scores, self._document, strict=True)):
            if score > best[document]:
                second[document], best[document], holder[document] = best[document], score, place
            elif score > second[document]:
                second[document] = score
        return [
            score + SIBLING_SHARE * (second[document] if holder[document] == place else best[document])
            for place, (score, document) in enumerate(zip(scores, self._document, strict=True))
        ]

    def _weighed(
        self, memory: Memory, scores: Sequence[float], salience: Mapping[str, float]
    ) -> dict[str, float]:
        """Demoted by low salience and by being superseded, raised by how close embeddings find a fact.

        A fact that was not embedded in time gains as much as the others on average.
        """
        saliences = [salience.get(fact.id, fact.salience) for fact in self._facts]
        raised = [one for one in saliences if one > USUAL]
        usual = sum(raised) / len(raised) if raised else USUAL
        gain = SALIENCE_SHARE * max(scores, default=0.0) / (1 - USUAL)
        weighed = {
            fact.id: score * one / USUAL
            if one < USUAL
            else score + gain * ((one if one > USUAL else usual) - USUAL)
            for fact, score, one in zip(self._facts, scores, saliences, strict=True)
        }
        for id in memory.superseded:
            weighed[id] *= SUPERSEDED_SHARE
        return weighed


def _asked(memory: Memory, asking: Sequence[str]) -> dict[str, float]:
    """The words that are looked for, and how much each counts. Sorted: sums of floats depend on their order."""
    question = _words_of(asking)
    still = _words_of((*memory.open_questions, *(use.query for use in memory.tool_usage)))
    done = _words_of(memory.answered) - still
    return {
        word: ANSWERED_SHARE if word in done else QUESTION_SHARE if word in question else 1.0
        for word in sorted(question | still)
    }


def _words_of(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words(text[:_QUERY_CHARACTERS])}
