"""The state of a run between decisions. Pure.

A node without a state is pending, with the counts of the graph. Results are stored separately, by path, so that the
state stays small.
"""

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
    """The state of a node that a decision has touched."""

    status: NodeStatus
    unsettled: int = 0
    """The number of dependencies that have not settled."""
    activators: int = 0
    """The number of nodes that may still activate it."""
    has_success: bool = False
    """Whether a dependency has succeeded, or a node has activated it."""
    is_activated: bool = False
    attempt: int = 0
    attempts_before: int = 0
    """The number of attempts before the run was resumed, as its retries are counted anew."""
    key: int = 0
    """The attempt from which the idempotency key of its call is made."""
    order: int = 0
    """Its number in the order of completion, from 1."""
    failure: Failure | None = None
    is_undone: bool = False
    undo_began: bool = False
    """Whether the one call to undo it was made."""
    owner: str | None = None
    """The owner that waits for it to settle: the path of a container, or of a scope with a trailing slash."""
    size: int = 0
    """The number of parts of a parallel or foreach."""
    begun: int = 0
    open: int = 0
    """The number of parts in progress; while the node stops, the number of calls in flight."""
    succeeded: int = 0

    @property
    def is_done(self) -> bool:
        """Return whether it has succeeded, also when it is pending again in a resumed run."""
        return self.order > 0

    @property
    def why(self) -> str:
        """Return the message of its failure; empty without one."""
        return "" if self.failure is None else self.failure.message

    @property
    def is_unknown(self) -> bool:
        """Return whether it has failed, and its call may have taken effect."""
        return self.failure is not None and self.failure.is_unknown


@dataclass(frozen=True, slots=True)
class ScopeState:
    """The state of a workflow that has begun: the run's own, or one inlined under a node."""

    phase: ScopePhase
    left: int
    """The number of nodes that have not settled."""
    open: int = 0
    """The number of calls in flight that must settle before it is undone."""
    failure: Failure | None = None
    compensator: str | None = None
    """The compensate node that ends it."""
    undone: int = 0
    """The number of settled calls to undo it."""
    stop: RunStatus | None = None
    """The status of a run that was stopped from outside."""
    owner: str | None = None
    """The scope around it that waits until it is undone, as it stops too."""


@dataclass(slots=True)
class Run:
    """The state of a run, or the parts of it that a decision changes.

    Only `apply` changes the state, at a cost that grows with the change.
    """

    nodes: dict[str, NodeState] = field(default_factory=dict)
    scopes: dict[str, ScopeState] = field(default_factory=dict)
    queues: dict[str, dict[str, bool]] = field(default_factory=dict)
    """For each sequential-only tool in use: the path of the call in flight, then the paths of waiting calls.

    In a change: the calls that have joined the queue (True) or left it (False).
    """
    undo: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each scope that is undone: the calls that undo it, in their order."""
    done: int = 0
    """The number of completed nodes."""
    undo_failed: tuple[str, ...] = ()
    """Calls to undo a node that have failed, unless the failure is to be ignored."""
    ended: RunStatus | None = None

    def apply(self, changes: "Run") -> None:
        """Apply the changes of a decision."""
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
