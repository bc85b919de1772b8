"""Other methods for results that outgrow the prompt, which ours is compared with. Pure.

Each is given the question with all its rounds and a number of tokens, and returns the text it would show. Only that
text counts; what a prompt would need around it is free for them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from antiphon_shared.text.tokens import UNITS_PER_TOKEN, token_units

from benchmarks.memory.bm25 import Index
from benchmarks.memory.form import Call, Passage, Question

Method = Callable[[Question, int], str]


def keep_last(question: Question, tokens: int) -> str:
    """Return the newest results, by whole passages in the order of the search, each that fits."""
    budget = _Budget(tokens)
    for call in reversed(_calls(question)):
        for passage in call.results:
            budget.take(_as_text(passage))
    return budget.text


def clear_old_results(question: Question, tokens: int) -> str:
    """Keep every call with its query; clear results except the newest ones, by whole passages."""
    budget = _Budget(tokens)
    calls = _calls(question)
    for call in reversed(calls):
        if not budget.take(f"{call.tool}: {call.query} [result cleared]"):
            break
    for call in reversed(calls):
        for passage in call.results:
            budget.take(_as_text(passage))
    return budget.text


def truncate_each(question: Question, tokens: int) -> str:
    """Cut every call's result to the same length; unused length of short ones goes to the others."""
    texts = ["\n".join(map(_as_text, call.results)) for call in _calls(question)]
    left, shown = tokens * UNITS_PER_TOKEN, dict.fromkeys(range(len(texts)), "")
    for place, n in enumerate(sorted(shown, key=lambda n: token_units(texts[n]))):
        shown[n] = _head(texts[n], left // (len(texts) - place) - token_units("\n"))
        left -= token_units(shown[n] + "\n")
    return "\n".join(shown.values())


def bm25_question(question: Question, tokens: int) -> str:
    """Return the sentences that BM25 ranks first for the question."""
    lines = _sentences(question)
    return _best(lines, Index([line for _, line in lines]).scores(question.question), tokens)


def bm25_titles(question: Question, tokens: int) -> str:
    """Return the same, each sentence indexed together with its passage's title."""
    lines = _sentences(question)
    return _best(lines, Index([f"{title} {line}" for title, line in lines]).scores(question.question), tokens)


def bm25_searches(question: Question, tokens: int) -> str:
    """Return the same, ranked for the question and the queries of all searches together."""
    lines = _sentences(question)
    query = " ".join([question.question, *(call.query for call in _calls(question))])
    return _best(lines, Index([f"{title} {line}" for title, line in lines]).scores(query), tokens)


METHODS: dict[str, Method] = {
    "keep last": keep_last,
    "clear old results": clear_old_results,
    "truncate each": truncate_each,
    "BM25": bm25_question,
    "BM25 + titles": bm25_titles,
    "BM25 + titles + searches": bm25_searches,
}


@dataclass
class _Budget:
    """Lines within so many tokens."""

    tokens: int

    def __post_init__(self) -> None:
        self._left = self.tokens * UNITS_PER_TOKEN
        self._lines: dict[str, None] = {}

    def take(self, line: str) -> bool:
        """Add a line if it fits, and return whether it is shown; a repeated line is shown once."""
        if line not in self._lines:
            cost = token_units(line + "\n")
            if cost > self._left:
                return False
            self._left -= cost
            self._lines[line] = None
        return True

    @property
    def text(self) -> str:
        return "\n".join(self._lines)


def _best(lines: Sequence[tuple[str, str]], scores: Sequence[float], tokens: int) -> str:
    """Return the best by score, first fit, in the order in which they were found."""
    left, taken = tokens * UNITS_PER_TOKEN, []
    for n in sorted(range(len(lines)), key=lambda n: (-scores[n], n)):
        cost = token_units(lines[n][1] + "\n")
        if cost <= left:
            left -= cost
            taken.append(n)
    return "\n".join(lines[n][1] for n in sorted(taken))


def _sentences(question: Question) -> list[tuple[str, str]]:
    """Return every sentence with its title, once."""
    pairs = ((passage.title, line) for passage in question.passages for line in passage.sentences)
    return list(dict.fromkeys(pairs))


def _calls(question: Question) -> list[Call]:
    return [call for round in question.rounds for call in round.calls]


def _as_text(passage: Passage) -> str:
    return "\n".join(_notes((passage.title, passage.text)))


def _notes(texts: Iterable[str]) -> Iterable[str]:
    return (text for text in texts if text)


def _head(text: str, units: int) -> str:
    """Return the longest beginning that costs no more."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if token_units(text[:middle]) <= units else (low, middle - 1)
    return text[:low]
