"""The result of a comparison: a cell for each question and plan, with as many runs as requested. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean, median
from typing import Literal

from antiphon_shared.events.session import Response

from antiphon.replay.compare.questions import Question

Plan = Literal["recorded", "single", "linear", "rounds"]
PLANS: tuple[Plan, ...] = ("single", "linear", "rounds")
"""The plans that can be run; `recorded` is the recording's own answer."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A scorer's judgement of an answer."""

    name: str
    score: float | None
    """From 0 to 1; None if the scorer has failed."""
    note: str = ""
    """The reason, or the scorer's error."""


@dataclass(frozen=True, slots=True)
class Run:
    """An answer, or its error."""

    response: Response | None
    error: str = ""
    misses: int = 0
    """The number of calls without a recorded result, if the tools answer from a recording."""
    judgements: tuple[Judgement, ...] = ()

    @property
    def score(self) -> float | None:
        """Return the mean of the scores; None if no scorer gave one."""
        scores = [one.score for one in self.judgements if one.score is not None]
        return fmean(scores) if scores else None


@dataclass(frozen=True)
class Numbers:
    """The effort of answers, as the median of several runs; None if it is unknown."""

    rounds: float | None = None
    calls: float | None = None
    tokens: float | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    misses: float | None = None
    score: float | None = None


@dataclass(frozen=True)
class Cell:
    """A question answered by one plan."""

    question: Question
    plan: Plan
    runs: tuple[Run, ...]

    @property
    def status(self) -> str:
        """Return `complete`, or `complete 2, partial 1` if runs differ."""
        statuses = [run.response.status if run.response else "error" for run in self.runs]
        kinds = dict.fromkeys(statuses)
        return statuses[0] if len(kinds) == 1 else ", ".join(f"{one} {statuses.count(one)}" for one in kinds)

    @property
    def first(self) -> Run:
        """Return the run whose answer is shown."""
        return self.runs[0]

    @property
    def numbers(self) -> Numbers:
        responses = [run.response for run in self.runs if run.response is not None]
        costs = [response.usage.cost_usd for response in responses]
        scores = [run.score for run in self.runs if run.score is not None]
        return Numbers(
            rounds=_median([response.rounds_used for response in responses]),
            calls=_median([response.tool_calls_used for response in responses]),
            tokens=_median([response.usage.total_tokens for response in responses]),
            cost_usd=_median([cost for cost in costs if cost is not None]) if None not in costs else None,
            latency_ms=_median([response.duration_ms for response in responses]),
            misses=_median([run.misses for run in self.runs if run.response]),
            score=fmean(scores) if scores else None,
        )


@dataclass(frozen=True)
class Comparison:
    """All cells; a plan that a question does not have, such as `recorded`, has no cell."""

    questions: tuple[Question, ...]
    plans: tuple[Plan, ...]
    cells: tuple[Cell, ...]
    """The cells by question, and those of a question by plan."""
    times: int

    def of(self, plan: Plan) -> list[Cell]:
        """Return the plan's cells, in the order of the questions."""
        return [cell for cell in self.cells if cell.plan == plan]

    def of_question(self, question: Question) -> list[Cell]:
        """Return the question's cells, in the order of the plans."""
        return [cell for cell in self.cells if cell.question is question]


@dataclass(frozen=True)
class Totals:
    """The totals of one plan over all questions."""

    plan: Plan
    answered: int
    """The number of questions that were answered completely in every run."""
    questions: int
    sums: Numbers
    """The sums of rounds, calls, tokens, cost, latency and misses; the score is the mean."""
    medians: Numbers


def totals(comparison: Comparison, plan: Plan) -> Totals:
    """Return the sums and medians of a plan."""
    cells = comparison.of(plan)
    columns = {one.name: [getattr(cell.numbers, one.name) for cell in cells] for one in fields(Numbers)}
    if None in columns["cost_usd"]:
        columns["cost_usd"] = []  # a sum without them would be too low
    scores = [score for score in columns["score"] if score is not None]
    sums = Numbers(**{name: _sum(column) for name, column in columns.items()})
    return Totals(
        plan=plan,
        answered=sum(cell.status == "complete" for cell in cells),
        questions=len(cells),
        sums=replace(sums, score=fmean(scores) if scores else None),
        medians=Numbers(**{name: _median(column) for name, column in columns.items()}),
    )


def _median(numbers: Sequence[float | None]) -> float | None:
    values = [number for number in numbers if number is not None]
    return median(values) if values else None


def _sum(numbers: Sequence[float | None]) -> float | None:
    values = [number for number in numbers if number is not None]
    return sum(values) if values else None
