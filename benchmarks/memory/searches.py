"""The rounds of a question: what a model would search for, and what a search engine would return. Pure."""

from collections.abc import Sequence
from random import Random

from benchmarks.memory.bm25 import Index
from benchmarks.memory.drafts import Draft, Step
from benchmarks.memory.form import Call, Passage, Question, Round

_SECOND_SEARCH, _BY_QUESTION = 0.15, 0.3


class Engine:
    """A search engine over passages: BM25, disturbed a little, as no engine ranks by words alone."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._index = Index([f"{passage.title} {passage.title} {passage.text}" for passage in passages])

    def search(self, query: str, n: int, random: Random, wanted: int | None = None) -> tuple[Passage, ...]:
        """The `n` best; `wanted` is among them, at its place if it is good enough, else somewhere."""
        scores = self._index.scores(query)
        noisy = [(score * random.uniform(0.6, 1.0), i) for i, score in enumerate(scores) if score > 0]
        found = [i for _, i in sorted(noisy, key=lambda pair: (-pair[0], pair[1]))[:n]]
        while len(found) < n:
            found.append(random.randrange(len(self._passages)))
        if wanted is not None and wanted not in found:
            found[random.randrange(n)] = wanted
        return tuple(self._passages[i] for i in dict.fromkeys(found))


def with_rounds(draft: Draft, id: str, rounds: int, engine: Engine, random: Random) -> Question:
    """The question with so many rounds: one for each step in order, the others off the mark."""
    places = sorted(random.sample(range(rounds), len(draft.steps)))
    made = []
    for n in range(rounds):
        step = draft.steps[places.index(n)] if n in places else None
        done = draft.steps[: sum(place < n for place in places)]
        calls = [_call(step, draft, done, engine, random)]
        if random.random() < _SECOND_SEARCH:
            calls.append(_call(None, draft, done, engine, random, few=True))
        made.append(Round(calls=tuple(calls)))
    gold = tuple(step.gold for step in draft.steps)
    return Question(id=id, kind=draft.kind, question=draft.question, rounds=tuple(made), gold=gold)


def _call(
    step: Step | None, draft: Draft, done: Sequence[Step], engine: Engine, random: Random, *, few: bool = False
) -> Call:
    n = random.randint(3, 5) if few else random.randint(8, 12)
    if step is not None:
        query, wanted = random.choice(step.searches), step.passage
    else:
        query, wanted = _off_the_mark(draft, done, random), None
    return Call(arguments={"query": query}, results=engine.search(query, n, random, wanted))


def _off_the_mark(draft: Draft, done: Sequence[Step], random: Random) -> str:
    """The question itself or some of its words, a thing asked again in other words, or a name misread."""
    said = draft.question.rstrip("?").split()
    step = random.choice(done or draft.steps[:1])
    surname = step.subject.name.split()[-1]
    aside = random.choice(["history", "biography", "awards", "family", "list of works", "facts", "timeline"])
    return random.choice([
        draft.question,
        " ".join(said[random.randrange(len(said) // 2) :][:7]),
        random.choice(step.searches),
        f"{step.subject.name} {aside}",
        f"{surname} {aside}",
    ])  # fmt: skip  # a list of ways
