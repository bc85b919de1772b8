"""What came of the verification of one recording, and of many. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from antiphon.recording.report import Report

Result = Literal["same", "diverged", "unreadable"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recording: its report, or why it cannot be read."""

    path: str
    report: Report | None = None
    error: str = ""
    duration_s: float = 0.0

    @property
    def result(self) -> Result:
        if self.report is None:
            return "unreadable"
        return "same" if self.report.is_same else "diverged"


@dataclass
class Tally:
    """All of them, counted."""

    results: Counter[Result] = field(default_factory=Counter)
    events: int = 0
    steps: int = 0
    unchecked: Counter[str] = field(default_factory=Counter)
    """What could not be held against today's code, by reason."""

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> "Tally":
        tally = cls()
        for outcome in outcomes:
            tally.add(outcome)
        return tally

    def add(self, outcome: Outcome) -> None:
        self.results[outcome.result] += 1
        if outcome.report is not None:
            self.events += outcome.report.events
            self.steps += sum(outcome.report.steps.values())
            self.unchecked.update(outcome.report.unchecked)

    @property
    def result(self) -> Result:
        """The worst of all: what cannot be read may hide anything."""
        worst: tuple[Result, ...] = ("unreadable", "diverged")
        return next((result for result in worst if self.results[result]), "same")
