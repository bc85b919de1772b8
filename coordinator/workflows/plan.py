"""A compiled workflow with the properties of its tools, made once for many decisions. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from antiphon_shared.events import PinnedTool
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.contract import Contract
from antiphon_shared.workflows.graph import Graph, GraphNode, Scope
from antiphon_shared.workflows.nodes import STEP, CallNode
from antiphon_shared.workflows.order import Order
from antiphon_shared.workflows.sql import SQL_TOOL

_PATHS_CACHED_MAX = 65_536
"""Bound on cached paths; consecutive decisions read each path many times."""
_BUILT_IN = {SQL_TOOL: PinnedTool(is_idempotent=True)}


def pinned_tool(tool: ToolDefinition, contract: Contract) -> PinnedTool:
    """Return the properties of a published tool that decisions use."""
    return PinnedTool(
        is_write=tool.effect == "write",
        is_idempotent=contract.idempotent,
        is_sequential=contract.mode == "sequential-only",
        is_open_world=contract.open_world,
        approval=tool.approval,
        depends_on=tuple(one.tool for one in contract.depends_on),
        timeout_s=contract.timeout_s,
    )


@dataclass(frozen=True)
class Plan:
    """The workflow and tools of a run's decisions; the same for every run of one specification."""

    graph: Graph
    tools: Mapping[str, PinnedTool] = field(default_factory=dict)

    def node(self, path: str) -> GraphNode:
        """Return the node of the graph that a path is an instance of."""
        return self.graph.nodes[template_of(path)]

    def scope(self, path: str) -> Scope:
        """Return the scope of the graph that a path is an instance of."""
        return self.graph.scopes[template_of(path)]

    def tool(self, name: str) -> PinnedTool:
        """Return the properties of a tool; an unknown tool counts as a writing one."""
        return self.tools.get(name) or _BUILT_IN.get(name) or PinnedTool(is_write=True)

    def is_write(self, path: str) -> bool:
        """Return whether a node is a call of a tool that writes."""
        node = self.node(path).node
        return isinstance(node, CallNode) and self.tool(node.call).is_write

    @cached_property
    def names(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Return for each scope the templates of the nodes whose results a name may refer to."""
        by_scope: dict[str, dict[str, list[str]]] = {scope: defaultdict(list) for scope in self.graph.scopes}
        for path, one in self.graph.nodes.items():
            if one.container is None:
                by_scope[one.scope][last_part(path)].append(path)
            output = getattr(one.node, "output", None)
            if isinstance(output, str) and output != last_part(path) and not path.endswith(f"/{STEP}"):
                by_scope[one.scope][output].append(path)
        return {
            scope: {name: tuple(paths) for name, paths in names.items()} for scope, names in by_scope.items()
        }

    @cached_property
    def with_one_last(self) -> frozenset[str]:
        """Return the scopes in which at most one of the nodes whose results count can succeed."""
        return frozenset(path for path, scope in self.graph.scopes.items() if _has_one_last(scope))


def _has_one_last(scope: Scope) -> bool:
    last = [last_part(path) for path in scope.last]
    return bool(last) and (len(last) == 1 or Order(scope.workflow.graph).are_exclusive(last))


@lru_cache(_PATHS_CACHED_MAX)
def template_of(path: str) -> str:
    """Return the path in the graph, in which the step of a foreach replaces the number of an item."""
    return "/".join(STEP if part.isdigit() else part for part in path.split("/"))


def join(scope: str, id: str) -> str:
    """Return the path of a node in a scope."""
    return f"{scope}/{id}" if scope else id


def instance(template: str, scope_template: str, scope: str) -> str:
    """Return the path of a node in an instance of its scope."""
    return join(scope, template[len(scope_template) + 1 :] if scope_template else template)


def scope_of(path: str, node: GraphNode) -> str:
    """Return the instance of the scope that an instance of a node belongs to."""
    depth = node.scope.count("/") + 1 if node.scope else 0
    return "/".join(path.split("/")[:depth])


def parent_of(path: str) -> str:
    """Return the path of the container or workflow node around a path."""
    return path.rpartition("/")[0]


def around(path: str) -> Iterator[str]:
    """Yield the paths of the nodes around a node, the innermost first."""
    while path := parent_of(path):
        yield path


def last_part(path: str) -> str:
    """Return the last part of a path: the id of a node, the name of a branch, the number of an item."""
    return path.rpartition("/")[2]
