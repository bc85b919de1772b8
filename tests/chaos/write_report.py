"""The report on the kills inside writes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.chaos.write_states import KINDS, PLACES, Kind, Place

Places = Counter[tuple[Kind, Place]]


@dataclass
class WriteReport:
    """Counts over all phases of one run."""

    landed: Places = field(default_factory=Counter)
    in_hand: Places = field(default_factory=Counter)
    frozen: Places = field(default_factory=Counter)
    kills: int = 0
    batches: int = 0
    writes: int = 0
    effects: int = 0
    unknown: int = 0
    overrun: int = 0
    broken: int = 0

    def lines(self) -> Iterator[str]:
        yield f"{'':<36}{''.join(f'{place:>9}' for place in PLACES)}"
        yield from _table("kills aimed at a write, by place", self.landed)
        yield from _table("writes in flight of dead dispatchers", self.in_hand)
        yield from _table("freezes until others took over", self.frozen)
        yield (
            f"kills: {self.kills}, freezes: {self.frozen.total()}, batches: {self.batches}, "
            f"writes: {self.writes}, effects: {self.effects}, of unknown outcome: {self.unknown} "
            f"({self.overrun} of them overrun while alive), promises broken: {self.broken}"
        )


def _table(title: str, counts: Places) -> Iterator[str]:
    yield title
    for kind in KINDS:
        yield f"    {kind:<32}{''.join(f'{counts[kind, place]:>9}' for place in PLACES)}"


WRITES = WriteReport()
