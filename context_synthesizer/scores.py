"""The closeness of a session's facts, and their order, which is computed only as far as it is read. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress
from math import inf

_BANDS = 0.5, 0.25
"""The parts of the highest score from which facts are sorted together, as a briefing seldom reads beyond the first."""


class Scores(Mapping[str, float]):
    """The score of each fact by its id. `values` has the scores by position, `positions` the position of each id."""

    def __init__(self, positions: Mapping[str, int], ids: Sequence[str], values: Sequence[float]) -> None:
        self._positions, self._ids, self._values = positions, ids, values
        self._sorted: list[str] = []
        self._unsorted = closest_first(values)

    def __getitem__(self, id: str) -> float:
        return self._values[self._positions[id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids[: len(self._values)])

    def __len__(self) -> int:
        return len(self._values)

    def closest_first(self) -> Iterator[str]:
        """Yield the ids of the facts, the closest first; of equally close ones, the newest first."""
        read = 0
        while read < len(self._sorted) or self._sort_one_more():
            yield self._sorted[read]
            read += 1

    def _sort_one_more(self) -> bool:
        position = next(self._unsorted, None)
        if position is None:
            return False
        self._sorted.append(self._ids[position])
        return True


def closest_first(values: Sequence[float]) -> Iterator[int]:
    """Yield the positions of the values, the highest value first; of equal ones, the last first."""
    return chain.from_iterable(_bands(values))


def _bands(values: Sequence[float]) -> Iterator[list[int]]:
    """Yield the positions of the values in bands, so that only the bands that are read are sorted."""
    highest = max(values, default=0.0)
    below = inf
    for least in (*(share * highest for share in _BANDS), -inf):
        reached = compress(range(len(values)), map(least.__le__, values))
        band = [position for position in reached if values[position] < below]
        band.reverse()
        band.sort(key=values.__getitem__, reverse=True)
        yield band
        below = least
