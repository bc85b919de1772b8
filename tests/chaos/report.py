"""The report on a chaos run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.chaos.kills import Moment


@dataclass
class Report:
    """Counts over all chaos tests of one run."""

    landed: Counter[tuple[str, Moment]] = field(default_factory=Counter)
    sessions: int = 0
    unknown_outcomes: int = 0
    """Writes whose outcome the answer reports as unknown."""
    taken_up: int = 0
    """Runs of read-only tools beyond the first of their call."""
    overdue: int = 0
    """Sessions that the coordinator ended itself."""
    broken: int = 0

    def lines(self) -> Iterator[str]:
        yield f"{'component':<22}{'moment':<16}kills"
        for (component, moment), kills in sorted(self.landed.items()):
            yield f"{component:<22}{moment:<16}{kills:>5}"
        yield (
            f"kills: {self.landed.total()}, sessions: {self.sessions}, "
            f"reads run again: {self.taken_up}, writes of unknown outcome: {self.unknown_outcomes}, "
            f"ended without the assembler: {self.overdue}, promises broken: {self.broken}"
        )


REPORT = Report()
