"""The report on a soak, as lines for a person and as JSON for a program."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.soak.checks import Promise
from tests.soak.samples import Trend

_SHOWN_MAX = 10


@dataclass(slots=True)
class Report:
    """The report on one soak."""

    command: str
    minutes: float
    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    resubmitted: int = 0
    connections: int = 0
    self_ended: list[str] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    trends: dict[str, Trend] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def broken(self) -> int:
        return sum(len(promise.broken) for promise in self.promises)

    def lines(self) -> Iterator[str]:
        yield f"{self.command}"
        yield ""
        yield f"{'disturbance':<28}{'times':>6}"
        for kind, count in sorted(self.faults.items()):
            yield f"{kind:<28}{count:>6}"
        yield ""
        yield f"{'answers':<40}{'sessions':>9}"
        for status, count in self.statuses.most_common():
            yield f"{status:<40}{count:>9}"
        if self.trends:
            yield ""
            yield f"{'memory, MB':<28}{'first':>8}{'last':>8}{'per hour':>10}"
            for name, trend in sorted(self.trends.items()):
                yield f"{name:<28}{trend.first:>8.1f}{trend.last:>8.1f}{trend.per_hour:>+10.1f}"
        yield ""
        for promise in self.promises:
            yield f"{'kept' if not promise.broken else 'BROKEN':<8}{promise.name}{_in_brackets(promise.seen)}"
            yield from (f"          {line}" for line in promise.broken[:_SHOWN_MAX])
            if len(promise.broken) > _SHOWN_MAX:
                yield f"          and {len(promise.broken) - _SHOWN_MAX} more"
        yield ""
        yield (
            f"submitted again: {self.resubmitted}, connections opened: {self.connections}, "
            f"processes that ended by themselves as documented: {len(self.self_ended)}"
        )
        yield from self.notes
        yield (
            f"faults injected: {self.faults.total()}, sessions run: {self.sessions}, "
            f"promises broken: {self.broken}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "minutes": self.minutes,
            "seed": self.seed,
            "faults": dict(self.faults),
            "sessions": self.sessions,
            "answers": dict(self.statuses),
            "promises": {p.name: {"seen": p.seen, "broken": p.broken} for p in self.promises},
            "memory_mb": {
                name: {"first": t.first, "last": t.last, "per_hour": t.per_hour}
                for name, t in self.trends.items()
            },
            "faults_injected": self.faults.total(),
            "promises_broken": self.broken,
        }


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
