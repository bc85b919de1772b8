"""The facts that a partial answer shows, by the question that they are closest to. Pure.

A fact's closeness to a question is its BM25 score on the question's words, with the title of its document;
higher for a fact that the model's conclusions cite, lower for boilerplate. Facts that contradict each other
are chosen together; a superseded fact only if there is no other.
"""

from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass

from antiphon_shared.memory.layers import Fact
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.words import words

FACTS_MAX = 12
QUESTIONS_MAX = 8
_FACTS_PER_QUESTION_MIN = 3
_STATEMENT_CHARACTERS = 2000
_QUESTION_CHARACTERS = 4000
_OF_ONE_DOCUMENT_MAX = 4
_SIDES_MAX = 4
_NEAR = 0.3
"""The minimum share of the closest fact's score: facts further away say little about the question."""
_CITED = 1.5
"""The factor for a fact that a conclusion cites."""

Cluster = tuple[Fact, ...]
"""One fact, or several that contradict each other."""
Ranked = tuple[float, int, Fact]
"""The closeness as a share of the closest, the index of the question, and the fact."""


@dataclass(frozen=True)
class Group:
    """A question, and the facts about it."""

    question: str
    clusters: tuple[Cluster, ...] = ()
    is_told: bool = False
    """Whether facts close to it are in the answer already."""
    is_part: bool = True
    """Whether it is one question of several, and not the query itself."""

    @property
    def is_touched(self) -> bool:
        """Return whether the answer contains any fact close to it."""
        return bool(self.clusters) or self.is_told


def grouped(memory: Memory, cited: Collection[str]) -> tuple[Group, ...]:
    """Return every open question with the facts closest to it: at most FACTS_MAX in all, each once, without `told`."""
    facts = _candidates(memory)
    questions = (memory.open_questions or (memory.query,))[:QUESTIONS_MAX]
    ranked = _ranked(memory, facts, questions)
    chosen = _chosen(memory, {fact.id for fact in facts}, cited, ranked, len(questions))
    asked = " ".join(memory.query.split())
    touched = {place for _, place, fact in ranked if fact.id in cited}
    return tuple(
        Group(
            question,
            tuple(sorted(chosen.get(place, ()), key=_first_number)),
            is_told=place in touched,
            is_part=" ".join(question.split()) != asked,
        )
        for place, question in enumerate(questions)
    )


def most_telling(memory: Memory) -> tuple[Cluster, ...]:
    """Return the facts with the highest salience, in the order of their ids.

    For a session in which no fact is close to any question.
    """
    best = sorted(_candidates(memory), key=lambda fact: -fact.salience)[:FACTS_MAX]
    return tuple(sorted(((fact,) for fact in best), key=_first_number))


def _candidates(memory: Memory) -> list[Fact]:
    facts = list(memory.facts.values())
    return [fact for fact in facts if fact.id not in memory.superseded] or facts


def _ranked(memory: Memory, facts: list[Fact], questions: Iterable[str]) -> list[Ranked]:
    """Return all facts that are close enough to a question, closest first."""
    index = WordIndex()
    for fact in facts:
        titled = f"{memory.document_of(fact).title} {fact.statement[:_STATEMENT_CHARACTERS]}"
        index.add(words(titled))
    ranked = []
    for place, question in enumerate(questions):
        scores: dict[int, float] = {}
        for word in sorted(set(words(question[:_QUESTION_CHARACTERS]))):
            for at, score in index.scores_of(word):
                scores[at] = scores.get(at, 0.0) + score
        weighed = {at: score * _weight(memory, facts[at]) for at, score in scores.items()}
        best = max(weighed.values(), default=0.0)
        ranked += [(score / best, place, facts[at]) for at, score in weighed.items() if score > _NEAR * best]
    return sorted(ranked, key=lambda entry: (-entry[0], entry[1], _first_number(entry[2:])))


def _chosen(
    memory: Memory, candidates: Set[str], cited: Collection[str], ranked: list[Ranked], questions: int
) -> dict[int, list[Cluster]]:
    """Return clusters by the index of their question, up to FACTS_MAX facts and each question's share of them."""
    each_max = max(_FACTS_PER_QUESTION_MIN, FACTS_MAX // questions)
    free = set(candidates) - set(cited)
    left = FACTS_MAX
    chosen: dict[int, list[Cluster]] = {}
    for _, place, fact in ranked:
        clusters = chosen.setdefault(place, [])
        siblings = sum(side.document == fact.document for cluster in clusters for side in cluster)
        if fact.id not in free or siblings >= _OF_ONE_DOCUMENT_MAX or sum(map(len, clusters)) >= each_max:
            continue
        others = dict.fromkeys(memory.contradicted.get(fact.id, ()))
        sides = [fact, *(memory.facts[id] for id in others if id in free)][:_SIDES_MAX]
        if len(sides) <= left:
            clusters.append(tuple(sorted(sides, key=lambda side: _first_number((side,)))))
            free -= {side.id for side in sides}
            left -= len(sides)
    return chosen


def _weight(memory: Memory, fact: Fact) -> float:
    return (0.5 + fact.salience) * (_CITED if fact.id in memory.cited else 1.0)


def _first_number(facts: Cluster) -> int:
    digits = facts[0].id[1:]
    return int(digits) if digits.isdecimal() else 0
