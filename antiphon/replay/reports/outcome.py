"""The outcome of the verification of one recording, and the tally of many. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from antiphon.replay.report import Reason, Report

if TYPE_CHECKING:
    from antiphon.replay.next_step import Next

Result = Literal["same", "unchecked", "diverged", "unreadable"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A recording's report, or the reason why it is unreadable."""

    path: str
    report: Report | None = None
    error: str = ""
    allowed: str = ""
    """The user's reason why steps may go unchecked; empty if they may not."""
    goes_on: "Next | None" = None
    """The next step of the session after today's first changed decision."""

    @property
    def result(self) -> Result:
        return "unreadable" if self.report is None else self.report.result

    @property
    def passes(self) -> bool:
        """Return whether the result is `same`, or `unchecked` if that is allowed."""
        return self.report is not None and self.report.passes(self.allowed)


@dataclass
class Tally:
    """The counts of many outcomes."""

    results: Counter[Result] = field(default_factory=Counter)
    events: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    """The number of checked steps, by component."""
    unchecked: Counter[Reason] = field(default_factory=Counter)
    """The number of unchecked steps, by component and reason."""
    allowed: str = ""
    """The reason why steps may go unchecked; empty if they may not."""

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
        """Return the number of checked steps."""
        return self.checked.total()

    @property
    def result(self) -> Result:
        """Return the worst result of all; an unreadable recording, which may hide any change, is the worst.

        If no step was checked, the result is `unchecked`, not `same`.
        """
        worst: tuple[Result, ...] = ("unreadable", "diverged", "unchecked")
        worst_result = next((result for result in worst if self.results[result]), None)
        if worst_result is not None:
            return worst_result
        return "unchecked" if self.results["same"] and not self.steps else "same"
