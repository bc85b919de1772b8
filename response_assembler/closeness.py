"""The facts that a partial answer shows, grouped by the question to which they are closest. Pure.

A fact's closeness to a question is its BM25 score on the question's words, with the title of its document;
higher for a fact that the model's conclusions cite, lower for boilerplate. Facts that contradict each other
are chosen together; a superseded fact only if there is no other.
"""

from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass

from antiphon_shared.memory.briefing import number_of
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
_CLOSENESS_SHARE_MIN = 0.3
"""The minimum share of the closest fact's score, as facts below it say little about the question."""
_CITED_FACTOR = 1.5
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
    is_covered: bool = False
    """Whether the answer cites facts close to it."""
    is_part: bool = True
    """Whether it is one question of several, and not the query itself."""

    @property
    def has_facts(self) -> bool:
        """Return whether the answer contains any fact close to it."""
        return bool(self.clusters) or self.is_covered


def grouped(memory: Memory, cited: Collection[str]) -> tuple[Group, ...]:
    """Return every open question with its closest facts: at most FACTS_MAX in all, each once, without the `cited`."""
    facts = _candidates(memory)
    questions = (memory.open_questions or (memory.query,))[:QUESTIONS_MAX]
    ranked = _ranked(memory, facts, questions)
    chosen = _chosen(memory, {fact.id for fact in facts}, cited, ranked, len(questions))
    query = " ".join(memory.query.split())
    covered = {index for _, index, fact in ranked if fact.id in cited}
    return tuple(
        Group(
            question,
            tuple(sorted(chosen.get(index, ()), key=_first_number)),
            is_covered=index in covered,
            is_part=" ".join(question.split()) != query,
        )
        for index, question in enumerate(questions)
    )


def most_salient(memory: Memory) -> tuple[Cluster, ...]:
    """Return the facts with the highest salience, in the order of their ids, if no fact is close to a question."""
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
    for question_index, question in enumerate(questions):
        scores: dict[int, float] = {}
        for word in sorted(set(words(question[:_QUESTION_CHARACTERS]))):
            for n, score in index.scores_of(word):
                scores[n] = scores.get(n, 0.0) + score
        weighted = {n: score * _weight(memory, facts[n]) for n, score in scores.items()}
        best = max(weighted.values(), default=0.0)
        least = _CLOSENESS_SHARE_MIN * best
        ranked += [(score / best, question_index, facts[n]) for n, score in weighted.items() if score > least]
    return sorted(ranked, key=lambda entry: (-entry[0], entry[1], _first_number(entry[2:])))


def _chosen(
    memory: Memory, candidates: Set[str], cited: Collection[str], ranked: list[Ranked], questions: int
) -> dict[int, list[Cluster]]:
    """Return clusters by the index of their question, up to FACTS_MAX facts and each question's share of them."""
    each_max = max(_FACTS_PER_QUESTION_MIN, FACTS_MAX // questions)
    free = set(candidates) - set(cited)
    left = FACTS_MAX
    chosen: dict[int, list[Cluster]] = {}
    for _, question_index, fact in ranked:
        clusters = chosen.setdefault(question_index, [])
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
    return (0.5 + fact.salience) * (_CITED_FACTOR if fact.id in memory.cited else 1.0)


def _first_number(facts: Cluster) -> int:
    return number_of(facts[0].id)
