"""A compiled workflow: its edges, with sub-workflows inlined. Pure.

The path of a node is its id; of a node in a sub-workflow `outer/inner`, of a branch `parallel/branch`, of the
step of a foreach `each/*`: one template, of which a run makes `each/0`, `each/1`, ... Each node has the list
of nodes that may begin once it settles, so that a decision reads only the edges of changed nodes.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from antiphon_shared.workflows.activations import targets
from antiphon_shared.workflows.nodes import CompensateNode, Node, WorkflowNode, parts
from antiphon_shared.workflows.specification import DEPTH_MAX, NODES_MAX, Specification, Workflow

UNDO = "~undo"
"""The mark in the path of a call that undoes a node; no node's id contains it."""


class TooLarge(ValueError):
    """Raised for a workflow that has too many nodes or levels, or contains itself."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node and its edges, all as paths."""

    path: str
    node: Node
    scope: str
    """The path of the scope it belongs to."""
    container: str | None
    """The parallel or foreach that contains it as a part."""
    upstream: tuple[str, ...] = ()
    """The nodes that it depends on."""
    downstream: tuple[str, ...] = ()
    """The nodes that depend on it."""
    activated_by: tuple[str, ...] = ()
    activates: tuple[str, ...] = ()

    @property
    def waits_for_activation(self) -> bool:
        """Return whether it runs only when another node activates it."""
        return bool(self.activated_by) or isinstance(self.node, CompensateNode)


@dataclass(frozen=True, slots=True)
class Scope:
    """An inlined workflow: names in its references belong to its own nodes, outputs and params."""

    path: str
    """The path of the node that it is inlined under; empty for the run's own workflow."""
    workflow: Workflow
    nodes: tuple[str, ...]
    roots: tuple[str, ...]
    """Nodes that can begin at once."""
    last: tuple[str, ...]
    """Nodes whose results count when the workflow has no `output`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A compiled workflow."""

    nodes: dict[str, GraphNode]
    scopes: dict[str, Scope]


def compile_graph(specification: Specification, name: str) -> Graph:
    """Return the graph of one workflow of a specification. Raises TooLarge, and KeyError for unknown names.

    A valid specification compiles.
    """
    compiled = _Compiling(specification)
    compiled.inline(name, "", ())
    return Graph(compiled.nodes, compiled.scopes)


def last_nodes(workflow: Workflow) -> tuple[str, ...]:
    """Return the ids of the nodes that no other depends on, except branches, errors and compensations."""
    needed = {one for node in workflow.graph.values() for one in node.depends_on}
    return tuple(
        id
        for id, node in workflow.graph.items()
        if id not in needed and getattr(node, "type", "") not in ("branch", "error", "compensate")
    )


@dataclass(slots=True)
class _Compiling:
    specification: Specification
    nodes: dict[str, GraphNode] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)

    def inline(self, name: str, scope: str, around: tuple[str, ...]) -> None:
        if name in around:
            raise TooLarge(f"the workflow {name} contains itself: {' -> '.join((*around, name))}")
        if len(around) >= DEPTH_MAX:
            raise TooLarge(f"{' -> '.join((*around, name))} is more than {DEPTH_MAX} workflows deep")
        workflow = self.specification.workflows[name]
        prefix = f"{scope}/" if scope else ""
        nodes = list(_graph_nodes(workflow, scope, prefix))
        self.nodes.update((one.path, one) for one in nodes)
        if len(self.nodes) > NODES_MAX:
            raise TooLarge(f"there are more than {NODES_MAX:,} nodes once sub-workflows are inlined")
        outer = [one for one in nodes if one.container is None]
        roots = (one.path for one in outer if not one.upstream and not one.waits_for_activation)
        last = (f"{prefix}{id}" for id in last_nodes(workflow))
        paths = (one.path for one in outer)
        self.scopes[scope] = Scope(scope, workflow, tuple(paths), tuple(roots), tuple(last))
        for one in nodes:
            if isinstance(one.node, WorkflowNode):
                self.inline(one.node.workflow, one.path, (*around, name))


def _graph_nodes(workflow: Workflow, scope: str, prefix: str) -> Iterator[GraphNode]:
    """Yield the nodes of a workflow, each followed by its parts."""
    graph = workflow.graph
    downstream: dict[str, list[str]] = defaultdict(list)
    activated_by: dict[str, list[str]] = defaultdict(list)
    for id, node in graph.items():
        for needed in node.depends_on:
            downstream[needed].append(id)
        for target in targets(node):
            activated_by[target].append(id)
    for id, node in graph.items():
        activates = [target for target in targets(node) if target in graph]  # rollback_all may be missing
        edges = (node.depends_on, downstream[id], activated_by[id], activates)
        upstream, below, activators, activated = (tuple(f"{prefix}{one}" for one in ids) for ids in edges)
        path = f"{prefix}{id}"
        yield GraphNode(path, node, scope, None, upstream, below, activators, activated)
        for name, part in parts(node).items():
            yield GraphNode(f"{path}/{name}", part, scope, path)
