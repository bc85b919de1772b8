"""What came of the verification of one recording, and of many. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from antiphon.recording.replaying.report import Report

if TYPE_CHECKING:
    from antiphon.recording.next_step import Next

Result = Literal["same", "unchecked", "diverged", "unreadable"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recording: its report, or why it cannot be read."""

    path: str
    report: Report | None = None
    error: str = ""
    duration_s: float = 0.0
    allowed: str = ""
    """Why steps may go unchecked, as somebody has said; empty where they may not."""
    goes_on: "Next | None" = None
    """Where the session leads from the first decision that today's code makes otherwise."""

    @property
    def result(self) -> Result:
        return "unreadable" if self.report is None else self.report.result

    @property
    def passes(self) -> bool:
        """Whether it is the same, or only lacks checks that it may lack."""
        return self.report is not None and self.report.passes(self.allowed)


@dataclass
class Tally:
    """All of them, counted."""

    results: Counter[Result] = field(default_factory=Counter)
    events: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    """Steps that were held against today's code, by component."""
    unchecked: Counter[str] = field(default_factory=Counter)
    """Steps that could not be, by component and reason."""
    allowed: str = ""
    """Why steps may go unchecked; empty where they may not."""

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> "Tally":
        tally = cls()
        for outcome in outcomes:
            tally.add(outcome)
        return tally

    def add(self, outcome: Outcome) -> None:
        self.results[outcome.result] += 1
        self.allowed = self.allowed or outcome.allowed
        if outcome.report is not None:
            self.events += outcome.report.events
            self.checked.update(outcome.report.steps)
            self.unchecked.update(outcome.report.unchecked)

    @property
    def steps(self) -> int:
        """Steps that were held against today's code."""
        return self.checked.total()

    @property
    def result(self) -> Result:
        """The worst of all: what cannot be read may hide anything, and a divergence is certain.

        Recordings in which nothing was held against today's code are not the same, whatever was left out.
        """
        worst: tuple[Result, ...] = ("unreadable", "diverged", "unchecked")
        found = next((result for result in worst if self.results[result]), None)
        if found is not None:
            return found
        return "unchecked" if self.results["same"] and not self.steps else "same"

    @property
    def passes(self) -> bool:
        """Whether all are the same, or only lack checks that they may lack."""
        return self.result == "same" or (self.result == "unchecked" and bool(self.allowed))
