"""The closeness of a session's facts, and their order by it, computed as far as it is read. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress
from math import inf

_BANDS = 0.5, 0.25
"""The parts of the highest score from which facts are sorted together: a briefing seldom reads beyond the first."""


class Scores(Mapping[str, float]):
    """The score of each fact by its id: `values` has them by the facts' places, which `places` gives."""

    def __init__(self, positions: Mapping[str, int], ids: Sequence[str], values: Sequence[float]) -> None:
        self._places, self._ids, self._values = positions, ids, values
        self._sorted: list[str] = []
        self._unsorted = closest_first(values)

    def __getitem__(self, id: str) -> float:
        return self._values[self._places[id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids[: len(self._values)])

    def __len__(self) -> int:
        return len(self._values)

    def closest_first(self) -> Iterator[str]:
        """Yield the ids of the facts, the closest first; of several alike, the newest first."""
        read = 0
        while read < len(self._sorted) or self._sort_one_more():
            yield self._sorted[read]
            read += 1

    def _sort_one_more(self) -> bool:
        place = next(self._unsorted, None)
        if place is None:
            return False
        self._sorted.append(self._ids[place])
        return True


def closest_first(values: Sequence[float]) -> Iterator[int]:
    """Yield the places of the values, the highest first; of several alike, the last first."""
    return chain.from_iterable(_bands(values))


def _bands(values: Sequence[float]) -> Iterator[list[int]]:
    """Yield the places of the values band by band, so that only those that are read are sorted."""
    highest = max(values, default=0.0)
    below = inf
    for least in (*(share * highest for share in _BANDS), -inf):
        reached = compress(
            range(len(values)), map(least.__le__, values)
        )  # a pass over all, without a loop here
        band = [place for place in reached if values[place] < below]
        band.reverse()
        band.sort(key=values.__getitem__, reverse=True)
        yield band
        below = least
