"""A run between decisions, and the change that one decision makes. Pure.

The stored form is a list, to which each decision appends a change with the changed parts only. A coordinator that
takes a run over reads all changes once; from then on, it has the state in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from antiphon_shared.events import InputRequested, Parent, RunOpened
from antiphon_shared.events.session import RunStatus
from antiphon_shared.stored import Kind
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import LogEntry, Value

from coordinator.workflows.state import NodeState, Run, ScopeState

OpenKind = Literal["call", "reason", "timer", "person", "approval"]


class Open(Value):
    """An open request of a node of a run."""

    kind: OpenKind
    number: int
    """The number of the request, in the order of the run's requests."""
    attempt: int
    until: datetime | None = None
    """The end of a wait for a person."""
    call: RequestedCall | None = None
    """The call that waits for a person's approval."""
    asked: InputRequested | None = None
    """The request to a person; only in a run whose parent may ask its user again."""


class Beginning(Value):
    """The fixed inputs of all decisions of a run."""

    opened: RunOpened
    at: datetime
    grant: str = ""
    parent: Parent | None = None
    """The session that began the run."""


class RunChange(Value):
    """The change of one decision: the new values of its changed parts."""

    nodes: dict[str, NodeState] = {}
    scopes: dict[str, ScopeState] = {}
    queues: dict[str, dict[str, bool]] = {}
    undo: dict[str, tuple[str, ...]] = {}
    done: int = 0
    undo_failed: tuple[str, ...] = ()
    ended: RunStatus | None = None
    values: dict[str, Any] = {}
    """Kept values that no event holds: params, items, outputs of sub-workflows."""
    logged: dict[str, LogEntry] = {}
    """The log entry of each node's result."""
    wholes: dict[str, str] = {}
    """The handle of the complete result, by the path of the node, if its event holds only the beginning."""
    open: dict[str, Open | None] = {}
    number: int = 0
    """The number of the newest request."""
    worked_s: float = 0.0
    """Seconds that the run has worked, up to `working_since`."""
    working_since: datetime | None = None
    kept_until: datetime | None = None
    """The latest end of the run's waits."""
    has_untrusted: bool = False
    succeeded: tuple[str, ...] = ()
    """Tools that succeeded for the first time."""
    answers: int = 0
    beginning: Beginning | None = None
    """The beginning of the run, in its first change only."""

    @property
    def of_graph(self) -> Run:
        """Return the part that the graph's decision made."""
        return Run(self.nodes, self.scopes, self.queues, self.undo, self.done, self.undo_failed, self.ended)


class _RunChangeKind(Kind[RunChange]):
    """The format of a change, written without defaults."""

    def write(self, value: RunChange, format: int) -> bytes:
        return self.versioned(self._type.dump_json(value, exclude_defaults=True))


RUN_CHANGE: Kind[RunChange] = _RunChangeKind("the state of a run", RunChange)


@dataclass(slots=True)
class RunState:
    """The current state of a run. Only `apply` changes it, at a cost that grows with the change."""

    run: Run = field(default_factory=Run)
    values: dict[str, Any] = field(default_factory=dict)
    logged: dict[str, LogEntry] = field(default_factory=dict)
    wholes: dict[str, str] = field(default_factory=dict)
    open: dict[str, Open] = field(default_factory=dict)
    paths: dict[int, str] = field(default_factory=dict)
    """The node of each open request."""
    counts: dict[OpenKind, int] = field(default_factory=dict)
    """The number of open requests of each kind."""
    number: int = 0
    worked_s: float = 0.0
    working_since: datetime | None = None
    kept_until: datetime | None = None
    has_untrusted: bool = False
    succeeded: dict[str, None] = field(default_factory=dict)
    answers: int = 0

    def apply(self, change: RunChange) -> None:
        """Apply the change of a decision."""
        self.run.apply(change.of_graph)
        self.values.update(change.values)
        self.logged.update(change.logged)
        self.wholes.update(change.wholes)
        for path, now in change.open.items():
            self._open(path, now)
        self.number, self.answers = change.number, change.answers
        self.worked_s, self.working_since = change.worked_s, change.working_since
        self.kept_until, self.has_untrusted = change.kept_until, change.has_untrusted
        self.succeeded.update(dict.fromkeys(change.succeeded))

    def open_after(self, changed: Mapping[str, Open | None], *kinds: OpenKind) -> int:
        """Return how many requests of these kinds will be open once `changed` is applied."""
        count = sum(self.counts.get(kind, 0) for kind in kinds)
        for path, now in changed.items():
            before = self.open.get(path)
            count += (now is not None and now.kind in kinds) - (before is not None and before.kind in kinds)
        return count

    def _open(self, path: str, now: Open | None) -> None:
        before = self.open.pop(path, None)
        if before is not None:
            self.paths.pop(before.number, None)
            self.counts[before.kind] -= 1
        if now is not None:
            self.open[path] = now
            self.paths[now.number] = path
            self.counts[now.kind] = self.counts.get(now.kind, 0) + 1
