"""A run as it is kept between decisions. Pure.

A node that has not been touched has no state: it is pending, with the counts that the graph gives it. Results are kept
apart, by path, so that the state stays small.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from antiphon_shared.events.session import RunStatus

from coordinator.workflows.messages import Failure

NodeStatus = Literal[
    "pending", "queued", "active", "retrying", "stopping", "done", "failed", "skipped", "stopped"
]
SETTLED = frozenset(("done", "failed", "skipped", "stopped"))
IN_FLIGHT = frozenset(("active", "stopping"))
ScopePhase = Literal["working", "stopping", "undoing", "ended"]


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node that something has happened to."""

    status: NodeStatus
    unsettled: int = 0
    """Dependencies that have not settled."""
    activators: int = 0
    """Nodes that may still activate it."""
    has_success: bool = False
    """Whether a dependency has succeeded, or a node has activated it."""
    is_activated: bool = False
    attempt: int = 0
    attempts_before: int = 0
    """Attempts before the run was resumed: its retries begin anew."""
    key: int = 0
    """The attempt whose idempotency key its call has."""
    order: int = 0
    """Its place among the nodes that are done, from 1."""
    failure: Failure | None = None
    is_undone: bool = False
    undo_began: bool = False
    """Whether a call that undoes it was made: there is no second."""
    owner: str | None = None
    """What waits for it to settle before it goes on: the path of a container, or of a scope with a slash behind it."""
    size: int = 0
    """Parts of a parallel or foreach."""
    begun: int = 0
    open: int = 0
    """Parts under way; while it stops, calls in flight."""
    succeeded: int = 0

    @property
    def is_done(self) -> bool:
        """Whether it has succeeded, also if it waits to be reached again in a run that was resumed."""
        return self.order > 0


@dataclass(frozen=True, slots=True)
class ScopeState:
    """A workflow under way: the run's own, or one inlined under a node."""

    phase: ScopePhase
    left: int
    """Nodes that have not settled."""
    open: int = 0
    """Calls in flight that it waits for before it undoes."""
    failure: Failure | None = None
    compensator: str | None = None
    """The compensate node that ends it."""
    undone: int = 0
    """How many of the calls that undo it have settled."""
    stop: RunStatus | None = None
    """Why the run was stopped from outside."""
    owner: str | None = None
    """What waits for it to be undone before it goes on: a scope around it that stops too."""


@dataclass(slots=True)
class Run:
    """The state of a run. `apply` is the only way to change it, and costs what has changed."""

    nodes: dict[str, NodeState] = field(default_factory=dict)
    scopes: dict[str, ScopeState] = field(default_factory=dict)
    queues: dict[str, dict[str, bool]] = field(default_factory=dict)
    """For each sequential-only tool in use: the path of the call in flight, then of those that wait."""
    undo: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each scope that is undone: the calls that undo it, in their order."""
    done: int = 0
    """Nodes that are done, which numbers them."""
    undo_failed: tuple[str, ...] = ()
    """Calls that were to undo something and have failed, where that is not to be ignored."""
    ended: RunStatus | None = None

    def apply(self, changes: "Changes") -> None:
        """Take over the changes of a decision."""
        self.nodes.update(changes.nodes)
        self.scopes.update(changes.scopes)
        self.undo.update(changes.undo)
        for tool, moves in changes.queues.items():
            queue = self.queues.setdefault(tool, {})
            for path, joined in moves.items():
                if joined:
                    queue[path] = True
                else:
                    queue.pop(path, None)
        self.done = changes.done
        self.undo_failed = changes.undo_failed
        self.ended = changes.ended


@dataclass(frozen=True, slots=True)
class Changes:
    """What a decision changes: whole new values of what it touched."""

    nodes: Mapping[str, NodeState]
    scopes: Mapping[str, ScopeState]
    queues: Mapping[str, Mapping[str, bool]]
    """For each tool: the calls that have joined its queue (True) or left it (False)."""
    undo: Mapping[str, tuple[str, ...]]
    done: int
    undo_failed: tuple[str, ...]
    ended: RunStatus | None
