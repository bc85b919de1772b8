"""The runs in this process's memory, and the values that their decisions read.

A run in memory may be ahead of the stored one, as each decision is made before the previous one is committed.
It may also be behind, as another coordinator takes events of the same run. Each stored change names the change
before it (`Link`), so that a decision on any other state is not committed. Its event is then handled again,
after `catch_up` has made the run in memory equal to the stored one.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from antiphon_shared.bus.handling import RUN, SessionStore
from antiphon_shared.values import SessionId

from coordinator.runs.complete_results import complete_event
from coordinator.runs.results import result_in
from coordinator.runs.reverting import ReplacedValues, replaced_by, revert
from coordinator.runs.state import RUN_CHANGE, RunChange, RunState
from coordinator.runs.step_builder import Pinned
from coordinator.workflows.turn import NotLoaded

_RUNS_MAX = 1_024
_VALUES_MAX, _WHOLES_MAX = 256, 4
"""Bounds on a run's cached results, and on those that are too large for an event; others are read on demand."""
_REVERTED_MAX = 1_024
"""Bound on changes that can be reverted; a coordinator has fewer uncommitted decisions."""
_CHECKED_DECISIONS = 64
"""The number of decisions that are checked after another coordinator was found to decide on the run."""


@dataclass(frozen=True, slots=True)
class _Applied:
    """A change that can be reverted."""

    before: UUID | None
    """The event of the previous change."""
    logged: tuple[str, ...]
    replaced: ReplacedValues


@dataclass(slots=True)
class RunInMemory:
    """A run, its newest changes and its newest results."""

    pinned: Pinned
    state: RunState = field(default_factory=RunState)
    newest: UUID | None = None
    """The event of the newest change."""
    length: int = 0
    """The number of changes that were applied."""
    applied: deque[_Applied] = field(default_factory=lambda: deque(maxlen=_REVERTED_MAX))
    """The newest changes."""
    decided: OrderedDict[UUID, int] = field(default_factory=OrderedDict)
    """Events that were decided on here, each with the number of changes before it."""
    stored: int = 0
    """The number of changes that are known to be stored."""
    checks_left: int = 0
    """The number of further decisions before which the changes of other coordinators are read."""
    results: OrderedDict[str, Any] = field(default_factory=OrderedDict)

    def apply(self, event_id: UUID, change: RunChange) -> None:
        """Apply the change of a decision on the event `event_id`."""
        self.applied.append(_Applied(self.newest, tuple(change.logged), replaced_by(self.state, change)))
        self.state.apply(change)
        self.newest = event_id
        self.length += 1

    def note_decision(self, event: UUID) -> None:
        """Note the run's length before the decision on an event."""
        self.decided[event] = self.length
        if len(self.decided) > _REVERTED_MAX:
            self.decided.popitem(last=False)

    async def catch_up(self, event: UUID, store: SessionStore) -> bool:
        """Make the run equal to the stored one, if it may differ; return False if it must be loaded again.

        It may differ if the event was decided on before, as that decision was not committed. It is also checked for
        some decisions after another coordinator was found to decide on the run, so that few decisions are made twice.
        """
        is_again = event in self.decided
        if not is_again and not self.checks_left:
            return True
        start = self.decided[event] if is_again else self.stored
        cached = [*(one.before for one in self.applied), self.newest][-(self.length - start + 1) :]
        if self.length - start > len(self.applied):
            return False
        changes = await stored_changes(store, start - 1)
        stored = [of for of, _ in changes]
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(cached, stored, strict=False)))
        if not same:
            return False
        self._revert_to(start - 1 + same)
        for of, change in changes[same:]:
            self.apply(of, change)
        self.stored = self.length
        self.checks_left = _CHECKED_DECISIONS if is_again or len(changes) > same else self.checks_left - 1
        return True

    def _revert_to(self, length: int) -> None:
        while self.length > length:
            newest = self.applied.pop()
            revert(self.state, newest.replaced)
            for path in newest.logged:
                self.results.pop(path, None)
            self.newest = newest.before
            self.length -= 1
        while self.decided and next(reversed(self.decided.values())) >= length:
            self.decided.popitem()  # the events are handled again

    def remember(self, path: str, value: object) -> None:
        """Cache a result."""
        self.results[path] = value
        if len(self.results) > _VALUES_MAX:
            self.results.popitem(last=False)
        wholes = [one for one in self.results if one in self.state.wholes] if self.state.wholes else ()
        for one in wholes[:-_WHOLES_MAX]:
            del self.results[one]

    def value_reader(self, fetched: Mapping[str, object]) -> Callable[[str], Any]:
        """Return the function that reads values for a decision; `fetched` holds values from the log."""

        def value(key: str) -> Any:
            for values in (self.state.values, fetched, self.results):
                if key in values:
                    return values[key]
            if key in self.state.logged:
                raise NotLoaded((key,))
            raise KeyError(key)

        return value

    async def fetch(self, keys: tuple[str, ...], store: SessionStore) -> dict[str, Any]:
        """Return complete results from the run's log."""
        entries = {key: self.state.logged[key] for key in keys}
        logged = await asyncio.gather(*map(store.event, entries.values()))
        events = await asyncio.gather(*(complete_event(event, store) for event in logged))
        return {key: result_in(event.data) for key, event in zip(entries, events, strict=True)}


class RunsInMemory:
    """The runs of one process; the least recently used is evicted."""

    def __init__(self) -> None:
        self._runs: OrderedDict[SessionId, RunInMemory] = OrderedDict()
        self._locks: WeakValueDictionary[SessionId, asyncio.Lock] = WeakValueDictionary()

    def lock(self, run_id: SessionId) -> asyncio.Lock:
        """Return the lock that makes the decisions of a run sequential."""
        return self._locks.setdefault(run_id, asyncio.Lock())

    def get(self, run_id: SessionId) -> RunInMemory | None:
        """Return a run, if it is in memory."""
        run = self._runs.get(run_id)
        if run is not None:
            self._runs.move_to_end(run_id)
        return run

    def store(self, run: RunInMemory) -> None:
        """Keep a run in memory."""
        self._runs[run.pinned.run_id] = run
        if len(self._runs) > _RUNS_MAX:
            self._runs.popitem(last=False)

    def drop(self, run_id: SessionId) -> None:
        """Drop a run whose state in memory is not the stored one."""
        self._runs.pop(run_id, None)


async def stored_changes(store: SessionStore, start: int = 0) -> list[tuple[UUID, RunChange]]:
    """Return the changes of a run from index `start`, with their events, or an empty list."""
    return [(UUID(bytes=item[:16]), RUN_CHANGE.read(item[16:])) for item in await store.items(RUN, start)]


def run_of(pinned: Pinned, changes: list[tuple[UUID, RunChange]]) -> RunInMemory:
    """Return the run after all its changes."""
    run = RunInMemory(pinned)
    for of, change in changes:
        run.apply(of, change)
    run.stored = run.length
    return run
