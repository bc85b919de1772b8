"""The runs that this process has in memory, and the values that their decisions read.

A run in memory may be ahead of what is stored: its decisions are handed over one after the other, and the next is
made before the one before is committed. Each stored change follows a named one (`Link`), so that a decision that was
built on one that is not committed is not committed either. Its event is then handled again.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from antiphon_shared.bus.handling import RUN, SessionStore
from antiphon_shared.values import SessionId

from coordinator.runs.making import Pinned
from coordinator.runs.results import result_in
from coordinator.runs.state import RUN_CHANGE, Beginning, RunChange, RunState
from coordinator.workflows.plan import Plan
from coordinator.workflows.turn import NotLoaded

_RUNS_MAX = 1_024
_VALUES_MAX = 256
"""Results of a run that are kept at hand; others are read from its log when they are asked for."""


@dataclass(slots=True)
class RunInMemory:
    """A run, the newest change of it, and its newest results."""

    pinned: Pinned
    state: RunState = field(default_factory=RunState)
    newest: UUID | None = None
    """The event that the newest change came of."""
    decided: set[UUID] = field(default_factory=set)
    """Events that were decided on here."""
    results: OrderedDict[str, Any] = field(default_factory=OrderedDict)

    def apply(self, of: UUID, change: RunChange) -> None:
        """Take over a change that a decision on the event `of` has made."""
        self.state.apply(change)
        self.newest = of

    def remember(self, path: str, value: Any) -> None:
        """Keep a result at hand."""
        self.results[path] = value
        if len(self.results) > _VALUES_MAX:
            self.results.popitem(last=False)

    def kept(self, fetched: Mapping[str, Any]) -> Callable[[str], Any]:
        """Return what gives a decision its values. `fetched` are those of the log that were read for it."""

        def value(key: str) -> Any:
            for known in (self.state.values, fetched, self.results):
                if key in known:
                    return known[key]
            if key in self.state.logged:
                raise NotLoaded((key,))
            raise KeyError(key)

        return value

    async def fetch(self, keys: tuple[str, ...], store: SessionStore) -> dict[str, Any]:
        """Return results from the run's log, whole."""
        entries = {key: self.state.logged[key] for key in keys}
        events = await asyncio.gather(*map(store.event, entries.values()))
        return {key: result_in(event.data) for key, event in zip(entries, events, strict=True)}


class RunsInMemory:
    """Those of one process; the one longest untouched gives way."""

    def __init__(self) -> None:
        self._runs: OrderedDict[SessionId, RunInMemory] = OrderedDict()
        self._locks: WeakValueDictionary[SessionId, asyncio.Lock] = WeakValueDictionary()

    def lock(self, run_id: SessionId) -> asyncio.Lock:
        """Return what lets decisions of a run be made one after the other."""
        return self._locks.setdefault(run_id, asyncio.Lock())

    def get(self, run_id: SessionId) -> RunInMemory | None:
        """Return a run, if it is in memory."""
        run = self._runs.get(run_id)
        if run is not None:
            self._runs.move_to_end(run_id)
        return run

    def keep(self, run: RunInMemory) -> None:
        """Keep a run in memory."""
        self._runs[run.pinned.run_id] = run
        if len(self._runs) > _RUNS_MAX:
            self._runs.popitem(last=False)

    def drop(self, run_id: SessionId) -> None:
        """Forget a run: what is in memory is not what is stored."""
        self._runs.pop(run_id, None)


async def stored_changes(store: SessionStore) -> list[tuple[UUID, RunChange]]:
    """Return all changes of a run with the events that they came of; none where there is no run."""
    return [(UUID(bytes=item[:16]), RUN_CHANGE.read(item[16:])) for item in await store.items(RUN)]


def run_of(
    run_id: SessionId, beginning: Beginning, plan: Plan, changes: list[tuple[UUID, RunChange]]
) -> RunInMemory:
    """Return a run as its changes have made it."""
    run = RunInMemory(Pinned(run_id, plan, beginning))
    for of, change in changes:
        run.apply(of, change)
    return run
