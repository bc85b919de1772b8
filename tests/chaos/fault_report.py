"""The report on the faults at named points."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class FaultReport:
    """Counts over all waves of one run."""

    struck: Counter[str] = field(default_factory=Counter)
    """The number of times each fault was injected, by its notation."""
    sessions: int = 0
    unknown_outcomes: int = 0
    """Writes whose outcome the answer reports as unknown."""
    overdue: int = 0
    """Sessions that the coordinator ended itself."""
    broken: int = 0
    """Waves after which a promise did not hold."""

    def lines(self) -> Iterator[str]:
        by_point: dict[str, Counter[str]] = {}
        for fault, times in self.struck.items():
            point, _, action = fault.partition(":")
            by_point.setdefault(point, Counter())[action.partition("=")[0]] += times
        for point, actions in sorted(by_point.items()):
            yield f"{point:<32}{', '.join(f'{action} {n}' for action, n in sorted(actions.items()))}"
        yield (
            f"points: {len(by_point)}, faults injected: {self.struck.total()}, sessions: {self.sessions}, "
            f"writes of unknown outcome: {self.unknown_outcomes}, "
            f"ended without the assembler: {self.overdue}, promises broken: {self.broken}"
        )


FAULTS = FaultReport()
