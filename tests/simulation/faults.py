"""The faults of a simulated world, drawn from its seed: each kind from a generator of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

CHANCES: Mapping[str, float] = {
    "crash": 0.01,
    "freeze": 0.005,
    "commit request lost": 0.01,
    "commit reply lost": 0.01,
    "read reply lost": 0.01,
    "handler error": 0.01,
    "poison": 0.05,
    "duplicate entry": 0.02,
    "foreign entry": 0.02,
    "submitted twice": 0.1,
    "redis away": 0.3,
    "redis clock jump": 0.3,
    "process clock off": 0.3,
    "catalogue late": 0.1,
    "outage": 0.4,
}
"""The probability of each kind at an occasion of its: a step, a delivery, a session, or a world."""
KINDS = tuple(CHANCES)


class Faults:
    """The choice of injected faults. Omitting a kind does not change the times of the others."""

    def __init__(self, seed: int, kinds: Iterable[str] = KINDS) -> None:
        self._randoms = {kind: Random(f"{seed}/{kind}") for kind in kinds}
        rates = Random(f"{seed}/rates")
        drawn = {kind: CHANCES[kind] * rates.choice((0.0, 0.3, 1.0, 3.0)) for kind in KINDS}
        self._chances = {kind: drawn[kind] for kind in self._randoms}
        self.counts: Counter[str] = Counter()

    def strikes(self, kind: str) -> bool:
        """Return whether the fault is injected this time."""
        chance = self._chances.get(kind, 0.0)
        if not chance or self._randoms[kind].random() >= chance:
            return False
        self.counts[kind] += 1
        return True

    def random(self, kind: str) -> Random:
        """Return random numbers for the other details of a fault of that kind."""
        return self._randoms[kind]
