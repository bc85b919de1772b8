"""The report on the kills inside writes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.chaos.write_states import KINDS, STATES, Kind, State

StateCounts = Counter[tuple[Kind, State]]


@dataclass
class WriteReport:
    """Counts over all phases of one run."""

    landed: StateCounts = field(default_factory=Counter)
    in_flight: StateCounts = field(default_factory=Counter)
    frozen: StateCounts = field(default_factory=Counter)
    kills: int = 0
    batches: int = 0
    writes: int = 0
    effects: int = 0
    unknown: int = 0
    overrun: int = 0
    broken: int = 0

    def lines(self) -> Iterator[str]:
        yield f"{'':<36}{''.join(f'{state:>9}' for state in STATES)}"
        yield from _table("kills aimed at a write, by state", self.landed)
        yield from _table("writes in flight of dead dispatchers", self.in_flight)
        yield from _table("freezes until others took over", self.frozen)
        yield (
            f"kills: {self.kills}, freezes: {self.frozen.total()}, batches: {self.batches}, "
            f"writes: {self.writes}, effects: {self.effects}, of unknown outcome: {self.unknown} "
            f"({self.overrun} of them overrun while alive), promises broken: {self.broken}"
        )


def _table(title: str, counts: StateCounts) -> Iterator[str]:
    yield title
    for kind in KINDS:
        yield f"    {kind:<32}{''.join(f'{counts[kind, state]:>9}' for state in STATES)}"


WRITES = WriteReport()
