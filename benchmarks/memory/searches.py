"""The rounds of a question: what a model would search for, and what a search engine would return. Pure."""

import re
from collections.abc import Sequence
from random import Random

from benchmarks.memory.bm25 import Index
from benchmarks.memory.drafts import Draft, Step
from benchmarks.memory.form import Call, Passage, Question, Round

_SECOND_SEARCH = 0.15
_SAY_LITTLE = {
    "the",
    "and",
    "was",
    "for",
    "did",
    "does",
    "where",
    "which",
    "who",
    "whom",
    "what",
    "when",
    "that",
    "from",
}
_TRIES = 20
_NOISE = 0.4
"""The least part of its score that a passage is ranked by."""


class Engine:
    """A search engine over passages: BM25, disturbed a little, as no engine ranks by words alone."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        texts = [f"{passage.title} {passage.title} {passage.text}" for passage in passages]
        self._index = Index(texts, _plain_words)

    def search(self, query: str, n: int, random: Random, wanted: int | None = None) -> tuple[Passage, ...]:
        """Return the `n` best; `wanted` is among them, at its rank if it is good enough, otherwise anywhere."""
        scores = self._index.scores(query)
        noisy = [(score * random.uniform(_NOISE, 1.0), i) for i, score in enumerate(scores) if score > 0]
        found = [i for _, i in sorted(noisy, key=lambda pair: (-pair[0], pair[1]))[:n]]
        while len(found) < n:
            found.append(random.randrange(len(self._passages)))
        if wanted is not None and wanted not in found:
            found[random.randrange(n)] = wanted
        return tuple(self._passages[i] for i in dict.fromkeys(found))


def _plain_words(text: str) -> list[str]:
    """Return words by a rule of this file, so that the set does not change with the comparison of words."""
    return [word for word in re.findall(r"\w{3,}", text.lower()) if word not in _SAY_LITTLE]


def with_rounds(draft: Draft, id: str, rounds: int, engine: Engine, random: Random) -> Question:
    """Return the question with so many rounds: one for each step in order, the others irrelevant."""
    places = sorted(random.sample(range(rounds), len(draft.steps)))
    made = []
    asked: set[str] = set()
    for n in range(rounds):
        step = draft.steps[places.index(n)] if n in places else None
        done = draft.steps[: sum(place < n for place in places)]
        calls = [_call(_query(step, draft, done, asked, random), step, engine, random.randint(8, 12), random)]
        if random.random() < _SECOND_SEARCH:
            aside = _query(None, draft, done, asked, random)
            calls.append(_call(aside, None, engine, random.randint(3, 5), random))
        made.append(Round(calls=tuple(calls)))
    gold = tuple(step.gold for step in draft.steps)
    return Question(id=id, kind=draft.kind, question=draft.question, rounds=tuple(made), gold=gold)


def _call(query: str, step: Step | None, engine: Engine, n: int, random: Random) -> Call:
    results = engine.search(query, n, random, step.passage if step else None)
    return Call(arguments={"query": query}, results=results)


def _query(step: Step | None, draft: Draft, done: Sequence[Step], asked: set[str], random: Random) -> str:
    """Return a new search text, as long as there is another idea."""
    query = ""
    for _ in range(_TRIES):
        query = random.choice(step.searches) if step else _off_the_mark(draft, done, random)
        if query not in asked:
            break
    asked.add(query)
    return query


def _off_the_mark(draft: Draft, done: Sequence[Step], random: Random) -> str:
    """Return the question itself or some of its words, a thing asked again in other words, or a name misread."""
    words = draft.question.rstrip("?").split()
    step = random.choice(done or draft.steps[:1])
    surname = step.subject.name.split()[-1]
    aside = random.choice(["history", "biography", "awards", "family", "list of works", "facts", "timeline"])
    return random.choice([
        draft.question,
        " ".join(words[random.randrange(len(words) // 2) :][:7]),
        random.choice(step.searches),
        f"{step.subject.name} {aside}",
        f"{surname} {aside}",
    ])  # fmt: skip  # a list of ways
