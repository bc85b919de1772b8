"""The measures of a method: gold sentences found, budgets kept, time taken."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from antiphon_shared.text.fence import unescaped
from antiphon_shared.text.tokens import estimate_tokens

from benchmarks.memory.charged import Count, fitted
from benchmarks.memory.embedding import Embedding
from benchmarks.memory.form import Question
from benchmarks.memory.methods import METHODS
from benchmarks.memory.ours import Filed, briefings, least_text, statements
from benchmarks.memory.sentences import sentences, squeeze

OURS = "antiphon"


@dataclass(frozen=True)
class Outcome:
    """One method on one question at one budget."""

    id: str
    kind: str
    method: str
    share: float
    """The share of the raw tokens, in percent."""
    tokens_max: int
    tokens: int
    gold: int
    missing: tuple[str, ...]
    microseconds: tuple[float, ...]
    """The time of each round; for the other methods, of the one selection at the end."""
    passages: tuple[int, ...] = ()
    """Stored after each round."""
    has_answer: bool | None = None
    """Whether the final answer's words are shown; None if the set has no answers."""

    @property
    def recall(self) -> float:
        return 1 - len(self.missing) / self.gold

    @property
    def is_over(self) -> bool:
        return self.tokens > self.tokens_max


def raw_tokens(question: Question, count: Count = estimate_tokens) -> int:
    """Return the tokens of all results as JSON text, as they came."""
    results = [
        [{"title": one.title, "text": one.text} for one in call.results]
        for round in question.rounds
        for call in round.calls
    ]
    return sum(count(json.dumps(result, ensure_ascii=False)) for result in results)


def measure(
    question: Question,
    share: float,
    method: str,
    count: Count = estimate_tokens,
    embedding: Embedding | None = None,
) -> Outcome:
    """Return the method's outcome with `share` percent of the raw tokens, as `count` counts them."""
    tokens_max = int(raw_tokens(question, count) * share / 100)
    if method == OURS:
        # Question and round are always shown, at any cost.
        tokens_max = max(tokens_max, count(least_text(question)))
        rounds = fitted(
            lambda tokens: list(briefings(question, tokens, embedding)),
            lambda shown: shown[-1].text,
            tokens_max,
            count,
        )
        return _outcome(question, method, share, tokens_max, count, statements(rounds[-1].text), rounds)
    for passage in question.passages:
        _ = passage.sentences  # split once, as a store would have done when they came

    def select(tokens: int) -> Filed:
        began = time.thread_time_ns()
        text = METHODS[method](question, tokens)
        return Filed(text, (time.thread_time_ns() - began) / 1000, 0, len(question.passages))

    spent = fitted(select, lambda shown: shown.text, tokens_max, count)
    return _outcome(question, method, share, tokens_max, count, spent.text, [spent])


def missing(gold: Sequence[str], shown: str) -> tuple[str, ...]:
    """Return the gold sentences that are not shown verbatim; a gold text of several sentences needs all of them."""
    shown_text = _compared(shown)
    return tuple(one for one in gold if not _is_in(one, shown_text))


def _is_in(gold: str, text: str) -> bool:
    return _compared(gold) in text or all(_compared(part) in text for part in sentences(gold))


def _compared(text: str) -> str:
    """Return the text without the escapes of a fence, with each run of white space as one space."""
    return squeeze(unescaped(text))


def _outcome(
    question: Question,
    method: str,
    share: float,
    tokens_max: int,
    count: Count,
    shown: str,
    rounds: Sequence[Filed],
) -> Outcome:
    return Outcome(
        id=question.id,
        kind=question.kind,
        method=method,
        share=share,
        tokens_max=tokens_max,
        tokens=count(rounds[-1].text),
        gold=len(question.gold),
        missing=missing(question.gold, shown),
        microseconds=tuple(one.microseconds for one in rounds),
        passages=tuple(one.passages for one in rounds),
        has_answer=not missing(question.answers, shown) if question.answers else None,
    )


def measure_all(
    questions: Sequence[Question],
    shares: Sequence[float],
    methods: Sequence[str],
    report: Callable[[str], None],
    count: Count = estimate_tokens,
    embedding: Embedding | None = None,
) -> list[Outcome]:
    """Measure every method on every question at every budget; `report` receives the progress."""
    outcomes = []
    for n, question in enumerate(questions, 1):
        report(f"{n} of {len(questions)}: {question.id}")
        outcomes += [
            measure(question, share, method, count, embedding) for method in methods for share in shares
        ]
    return outcomes
