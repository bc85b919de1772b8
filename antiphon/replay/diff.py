"""The comparison of two recordings, usually of the same question. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from antiphon_shared.events import ResponseReady
from antiphon_shared.events.step_records import ExchangeRecord

from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.replay.differences import Difference, differences
from antiphon.replay.normal import Moment, moments

DIFFERENCES_MAX = 100
"""The number of differences kept of one event; further ones are not counted."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one recording."""

    status: str = "none"
    termination_reason: str = "none"
    rounds: int = 0
    tool_calls: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    sources: int = 0
    uncertainties: int = 0
    events: int = 0
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class EventDifference:
    """An event or exchange that differs, or that only one recording has."""

    kind: str
    """The event's type, or `model exchange`."""
    round: int | None
    a: int | None
    """The event's number in the first recording; None if it is missing."""
    b: int | None
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two recordings; in a difference, `expected` is from the first, and `got` from the second."""

    a: Figures
    b: Figures
    event_differences: tuple[EventDifference, ...]
    """The differences in the order of the first recording; an event that only the second has follows its predecessor.
    """

    @property
    def is_same(self) -> bool:
        """Return whether both recordings are the same, except for ids and times."""
        return not self.event_differences


class _Key(NamedTuple):
    """The key of an event, by which events are paired: its kind, its round, and its number among those."""

    what: str
    round: int | None
    occurrence: int


def diff(a: Iterable[Line], b: Iterable[Line]) -> Comparison:
    """Compare two recordings. Raises the errors of their readers."""
    first, second = _Tally(), _Tally()
    mine, others = _by_key(moments(first.over(a))), _by_key(moments(second.over(b)))
    differences_by_key = (
        _difference(key, mine.get(key), others.get(key)) for key in _merged(list(mine), list(others))
    )
    return Comparison(
        first.figures, second.figures, tuple(difference for difference in differences_by_key if difference)
    )


def _by_key(all_moments: Iterable[Moment]) -> dict[_Key, Moment]:
    seen: Counter[tuple[str, int | None]] = Counter()
    keyed = {}
    for moment in all_moments:
        seen[moment.what, moment.round] += 1
        keyed[_Key(moment.what, moment.round, seen[moment.what, moment.round])] = moment
    return keyed


def _merged(mine: list[_Key], others: list[_Key]) -> Iterator[_Key]:
    """Yield all keys in the order of the first; a key that only the second has follows its predecessor."""
    first_keys = set(mine)
    following: dict[_Key | None, list[_Key]] = {}
    before: _Key | None = None
    for key in others:
        if key in first_keys:
            before = key
        else:
            following.setdefault(before, []).append(key)
    yield from following.get(None, ())
    for key in mine:
        yield key
        yield from following.get(key, ())


def _difference(key: _Key, a: Moment | None, b: Moment | None) -> EventDifference | None:
    """Return the difference of the two; None if they are equal."""
    if a is None or b is None:
        return EventDifference(key.what, key.round, a and a.n, b and b.n)
    data_differences = tuple(islice(differences(a.data, b.data), DIFFERENCES_MAX))
    return EventDifference(key.what, key.round, a.n, b.n, data_differences) if data_differences else None


class _Tally:
    """The counts of a recording's lines."""

    def __init__(self) -> None:
        self._response: ResponseReady | None = None
        self._model_calls = self._events = 0

    def over(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            if isinstance(line, EventLine):
                self._events += 1
                if isinstance(line.event.data, ResponseReady):
                    self._response = line.event.data
            elif isinstance(line, RecordLine) and isinstance(line.record, ExchangeRecord):
                self._model_calls += len(line.record.calls)
            yield line

    @property
    def figures(self) -> Figures:
        counted: dict[str, Any] = {"events": self._events, "model_calls": self._model_calls}
        if (response := self._response) is None:
            return Figures(**counted)
        return Figures(
            status=response.status,
            termination_reason=response.termination_reason,
            rounds=response.rounds_used,
            tool_calls=response.tool_calls_used,
            **response.usage.model_dump(),
            sources=len(response.sources),
            uncertainties=len(response.uncertainty),
            duration_ms=response.duration_ms,
            **counted,
        )
