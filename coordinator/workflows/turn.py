"""A decision on a run in progress: it reads the run and stored values, and collects changes. Pure."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from antiphon_shared.workflows.activations import fallback_of
from antiphon_shared.workflows.nodes import CompensateNode, ErrorNode, ForeachNode, ParallelNode, parts

from coordinator.workflows.messages import CallTool, Command, Failure, KeepValue
from coordinator.workflows.plan import Plan, instance, join, last_part, scope_of, template_of
from coordinator.workflows.state import NodeState, Run, ScopeState

ReadValue = Callable[[str], Any]
"""A function that returns a stored value by its key. Raises KeyError, or NotLoaded if it has to be fetched first."""


class NotLoaded(Exception):
    """Raised when stored values have to be fetched before the decision."""

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__(f"{len(keys)} kept values are not loaded")
        self.keys = keys


@dataclass(frozen=True, slots=True)
class Begin:
    """A step that begins a node whose dependencies have settled."""

    path: str


@dataclass(frozen=True, slots=True)
class NodeFailed:
    """The failure of a node, which may have retries or a fallback."""

    path: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class Settled:
    """The final end of a node."""

    path: str
    status: Literal["done", "failed", "skipped"]
    failure: Failure | None = None
    activates: str | None = None
    """The node that it activates."""


@dataclass(frozen=True, slots=True)
class ScopeDone:
    """The end of a workflow whose nodes have all settled."""

    scope: str


@dataclass(frozen=True, slots=True)
class ScopeFailed:
    """The failure of a workflow, which ends before its nodes have settled, and is undone."""

    scope: str
    failure: Failure
    compensator: str | None = None
    stop: Literal["cancelled", "timed_out", "failed"] | None = None


@dataclass(frozen=True, slots=True)
class OneStopped:
    """The end of a call in flight that a stopping container or scope waits for."""

    owner: str


Step = Begin | NodeFailed | Settled | ScopeDone | ScopeFailed | OneStopped


@dataclass(slots=True)
class Turn:
    """The reads and changes of the decision on one event."""

    plan: Plan
    run: Run
    read_value: ReadValue
    draw: float
    """A number from 0 to 1, recorded with the event: it spreads retries."""
    changes: Run
    """The changed parts of the run."""
    values: dict[str, Any] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)
    agenda: deque[Step] = field(default_factory=deque)
    """The consequences that are still to be decided on, in order; see decide.py."""

    def node(self, path: str) -> NodeState:
        """Return the state of a node; an untouched one has the counts of the graph."""
        if (state := self.changes.nodes.get(path) or self.run.nodes.get(path)) is not None:
            return state
        node = self.plan.node(path)
        return NodeState("pending", unsettled=len(node.upstream), activators=len(node.activated_by))

    def change(self, path: str, **fields: Any) -> NodeState:
        """Change fields of a node's state."""
        changed = replace(self.node(path), **fields)
        self.changes.nodes[path] = changed
        return changed

    def begun_scope(self, path: str) -> ScopeState | None:
        """Return the state of a scope, if it has begun."""
        return self.changes.scopes.get(path) or self.run.scopes.get(path)

    def scope(self, path: str) -> ScopeState:
        """Return the state of a scope that has begun."""
        return self.changes.scopes.get(path) or self.run.scopes[path]

    def change_scope(self, path: str, **fields: Any) -> ScopeState:
        """Change fields of a scope's state."""
        changed = replace(self.scope(path), **fields)
        self.changes.scopes[path] = changed
        return changed

    def scope_path(self, path: str) -> str:
        """Return the path of the scope that a node is in."""
        return scope_of(path, self.plan.node(path))

    def neighbours(self, path: str, templates: tuple[str, ...]) -> list[str]:
        """Return the paths of nodes of the graph that are in the same scope as a node."""
        scope, template = self.scope_path(path), self.plan.node(path).scope
        return [instance(one, template, scope) for one in templates]

    def neighbour(self, path: str, id: str) -> str:
        """Return the path of a node by its id, in the scope of another."""
        return join(self.scope_path(path), id)

    def fallback(self, path: str) -> str | None:
        """Return the path of the node that replaces a failed one, if any."""
        target = fallback_of(self.plan.node(path).node)
        return self.neighbour(path, target) if target else None

    def ends_workflow(self, path: str) -> bool:
        """Return whether a node ends its workflow when it is activated."""
        return isinstance(self.plan.node(path).node, CompensateNode | ErrorNode)

    def schedule(self, *steps: Step) -> None:
        """Put steps on the agenda."""
        self.agenda.extend(steps)

    def succeed(self, path: str, value: object, activates: str | None = None) -> None:
        """Keep the result of a node, and settle it."""
        self.store_value(path, value)
        self.schedule(Settled(path, "done", activates=activates))

    def fail(self, path: str, kind: str, message: str) -> None:
        """Fail a node, which may have retries or a fallback."""
        self.schedule(NodeFailed(path, Failure(kind, message)))

    def succeed_by_parts(self, path: str) -> None:
        """Settle a parallel or foreach, whose result consists of the stored results of its parts."""
        self.schedule(Settled(path, "done"))

    def store_value(self, key: str, value: object) -> None:
        """Keep a value for references of this and later decisions."""
        self.values[key] = value
        self.commands.append(KeepValue(key, value))

    def value(self, key: str) -> Any:
        """Return a stored value, or the result of a parallel or foreach from its parts. Raises KeyError, NotLoaded."""
        if key in self.values:
            return self.values[key]
        node = None if "?" in key else self.plan.node(key).node
        if not isinstance(node, ParallelNode | ForeachNode):
            return self.read_value(key)
        done = [path for path in self.part_paths(key) if self.node(path).status == "done"]
        values = dict(zip(done, self._values(done), strict=True))
        if isinstance(node, ParallelNode):
            return {last_part(path): value for path, value in values.items()}
        return list(self._results(key, node, values))

    def _results(self, foreach: str, node: ForeachNode, values: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the results of the items, and the errors of failed ones where they are collected."""
        for path in self.part_paths(foreach):
            item = self.node(path)
            if path in values:
                yield values[path]
            elif item.status == "failed" and item.failure and node.on_item_error == "collect":
                yield {"error": {"type": item.failure.kind, "message": item.failure.message}}

    def _values(self, keys: Sequence[str]) -> list[Any]:
        """Return several values; missing ones are fetched together."""
        values: list[Any] = []
        missing: list[str] = []
        for key in keys:
            try:
                values.append(self.value(key))
            except NotLoaded as not_loaded:
                missing += not_loaded.keys
        if missing:
            raise NotLoaded(missing)
        return values

    def call(self, tool_call: CallTool) -> None:
        """Make a call now, or after the call in flight of the same sequential-only tool."""
        if self.take_turn(tool_call.tool, tool_call.path):
            self.change(tool_call.path, status="active", attempt=tool_call.attempt, key=tool_call.key)
            self.commands.append(tool_call)
        else:
            self.change(tool_call.path, status="queued")

    def take_turn(self, tool: str, path: str) -> bool:
        """Return whether a call may be made now; a sequential-only tool has one call at a time."""
        if not self.plan.tool(tool).is_sequential:
            return True
        if not self._is_queued(tool, path):
            self.changes.queues.setdefault(tool, {})[path] = True
        return next(self._queue(tool)) == path

    def remove_from_queue(self, tool: str, path: str) -> None:
        """Begin the next call of a sequential-only tool, because the current call has settled or will not begin."""
        if not self._is_queued(tool, path):
            return
        was_first = next(self._queue(tool)) == path
        self.changes.queues.setdefault(tool, {})[path] = False
        following = next(self._queue(tool), None)
        if was_first and following is not None:
            self.schedule(Begin(following))

    def _is_queued(self, tool: str, path: str) -> bool:
        return self.changes.queues.get(tool, {}).get(path, path in self.run.queues.get(tool, ()))

    def _queue(self, tool: str) -> Iterator[str]:
        """Yield the paths of the calls of a sequential-only tool, beginning with the call in flight."""
        before, changed = self.run.queues.get(tool, {}), self.changes.queues.get(tool, {})
        yield from (path for path in before if changed.get(path, True))
        yield from (path for path, joined in changed.items() if joined and path not in before)

    def children(self, parent: str) -> list[str]:
        """Return the touched nodes directly inside a scope or container."""
        if self.begun_scope(parent) is not None:
            template = template_of(parent)
            paths = [instance(one, template, parent) for one in self.plan.scope(parent).nodes]
        else:
            paths = self.part_paths(parent)
        return [path for path in paths if path in self.changes.nodes or path in self.run.nodes]

    def part_paths(self, path: str) -> list[str]:
        """Return the branches of a parallel or the items of a foreach; an empty list for other nodes."""
        node = self.plan.node(path).node
        names = range(self.node(path).size) if isinstance(node, ForeachNode) else parts(node)
        return [f"{path}/{name}" for name in names]

    def states(self) -> Mapping[str, NodeState]:
        """Return the state of every touched node, at a cost that grows with their number."""
        return {**self.run.nodes, **self.changes.nodes}
