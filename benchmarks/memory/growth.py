"""Long sessions: what each round adds in bytes and takes in time, and what of a briefing stays as it was."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from random import Random
from statistics import linear_regression, mean
from typing import Any

from benchmarks.memory.form import Question
from benchmarks.memory.ours import Filed, briefings

ROUNDS = 40
_ROUNDS_MIN = 4
_BUDGETS = (2_000, 8_000)
"""Tokens of the briefings whose beginnings and times are compared."""
_LATE_ROUNDS, _EARLY, _LATE, _RUNS = 200, slice(9, 30), slice(179, 200), 3
_LONGEST = 12
_TIMED_SESSIONS, _TIMED_ROUNDS, _TIMED_TOKENS = 12, 20, 2_000
"""About a tenth of the raw tokens of 150 passages."""


@dataclass(frozen=True)
class Line:
    """A straight line through the rounds' figures."""

    start: float
    per_round: float
    explained: float
    """The share of the variance that the line explains, R squared."""
    late_over_early: float
    """The mean of the last quarter's rounds over that of the first quarter's, the first round apart."""


def long_session(questions: Sequence[Question], seed: int, length: int = ROUNDS) -> Question:
    """Return rounds of a set, of different questions, as if they were one session's."""
    asked = [question for question in questions if not question.kind.startswith("conversation")]
    rounds = [round for question in asked for round in question.rounds]
    rounds = rounds or [round for question in questions for round in question.rounds]
    chosen = Random(seed).sample(rounds, min(length, len(rounds)))
    return questions[0].model_copy(update={"id": "long", "rounds": tuple(chosen)})


def measure(questions: Sequence[Question], seed: int) -> dict[str, Any]:
    """Return bytes and time by round, and the unchanged beginning at two budgets; empty with too few rounds."""
    session = long_session(questions, seed)
    if len(session.rounds) < _ROUNDS_MIN:
        return {}
    by_budget = {tokens: series(session, tokens) for tokens in _BUDGETS}
    rounds = by_budget[_BUDGETS[0]]
    return {
        "rounds": len(rounds),
        "passages": rounds[-1].passages,
        "bytes": asdict(line([one.delta_bytes for one in rounds])),
        "microseconds": asdict(line([one.microseconds for one in rounds])),
        "late_rounds": {str(tokens): late_over_early(questions, seed, tokens) for tokens in _BUDGETS},
        "unchanged": {str(tokens): unchanged(series) for tokens, series in by_budget.items()},
        "unchanged_in_the_set": {str(tokens): _unchanged_in(questions, tokens) for tokens in _BUDGETS},
    }


def timed(questions: Sequence[Question], seed: int) -> list[Filed]:
    """Return the rounds of some sessions that grow past 150 passages, for their times."""
    sessions = [long_session(questions, seed + n, _TIMED_ROUNDS) for n in range(_TIMED_SESSIONS)]
    return [one for session in sessions for one in briefings(session, _TIMED_TOKENS)]


def late_over_early(questions: Sequence[Question], seed: int, tokens: int) -> float | None:
    """Return the time of rounds 180 to 200 over that of rounds 10 to 30; None for a session of fewer rounds.

    Of each round the least time of three runs counts, as other work on the machine only adds.
    """
    session = long_session(questions, seed, _LATE_ROUNDS)
    if len(session.rounds) < _LATE_ROUNDS:
        return None
    runs = [list(briefings(session, tokens)) for _ in range(_RUNS)]
    times = [min(one.microseconds for one in same_round) for same_round in zip(*runs, strict=True)]
    ratio: float = mean(times[_LATE]) / mean(times[_EARLY])
    return ratio


def series(question: Question, tokens: int) -> list[Filed]:
    """Measure each round of the session at one budget, after a first run that warms up."""
    list(briefings(question, tokens))
    return list(briefings(question, tokens))


def line(figures: Sequence[float]) -> Line:
    """Fit a line by least squares over the rounds' numbers, from 1."""
    numbers = range(1, len(figures) + 1)
    slope, start = linear_regression(numbers, figures)
    middle = mean(figures)
    left = sum((figure - start - slope * n) ** 2 for n, figure in zip(numbers, figures, strict=True))
    whole = sum((figure - middle) ** 2 for figure in figures)
    quarter = max(len(figures) // 4, 1)
    early = mean(figures[1 : quarter + 1])
    return Line(
        start, slope, 1 - left / whole if whole else 1.0, mean(figures[-quarter:]) / early if early else 0.0
    )


def unchanged(rounds: Sequence[Filed]) -> float:
    """Return the mean share of a briefing's characters that are, from the first on, those of the briefing before."""
    shares = [_common(a.text, b.text) / len(b.text) for a, b in pairwise(rounds)]
    return mean(shares) if shares else 1.0


def _unchanged_in(questions: Sequence[Question], tokens: int) -> float:
    """Return the same over the set's own sessions with the most rounds, each of which is about one matter."""
    longest = sorted(questions, key=lambda question: -len(question.rounds))[:_LONGEST]
    return mean(unchanged(list(briefings(question, tokens))) for question in longest)


def _common(a: str, b: str) -> int:
    """Return the number of characters that both begin with."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(a), len(b)))
