"""A workflow as the checks see it: its uses of names, and the providers of each name. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from antiphon_shared.values import Json
from antiphon_shared.workflows.condition_syntax import Tree, read_condition, variables
from antiphon_shared.workflows.condition_tokens import ConditionSyntax
from antiphon_shared.workflows.items import Range, UnfitItems, read_items, references_in
from antiphon_shared.workflows.nodes import (
    TEMPLATE_KEYS,
    BranchNode,
    CallNode,
    CompensateNode,
    ErrorNode,
    ForeachNode,
    Node,
    ParallelNode,
    Part,
    compensate_of,
    undoing_calls,
)
from antiphon_shared.workflows.order import Cycle, Order, cycles, edges_of
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.references import MalformedReference, Reference, read_template, templates
from antiphon_shared.workflows.specification import Specification, Workflow
from antiphon_shared.workflows.sql import SQL_TOOL, UnfitSql, names_in

UseKind = Literal["value", "table", "has", "undo", "own_undo"]
"""The kinds of uses of a reference.

`table`: a query reads it; `has`: a condition tests its existence; `undo`: a compensation, whose missing
references do not matter.
"""


@dataclass(frozen=True, slots=True)
class Use:
    """A reference, with the node that needs it."""

    node: str | None
    """The node; None for the output of the workflow."""
    path: Path
    reference: Reference
    kind: UseKind = "value"


@dataclass(frozen=True, slots=True)
class Provider:
    """A node whose result a name refers to."""

    node: str
    path: Path
    is_partial: bool = False
    """Whether the node may succeed without it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a node or an arm, as it is written and as it was read."""

    path: Path
    text: str
    tree: Tree


@dataclass(slots=True)
class Flow:
    """One workflow of a specification, with its order, and the uses and providers of its names."""

    specification: Specification
    workflow: Workflow
    path: Path
    cycles: list[Cycle]
    order: Order | None
    """The order of the nodes; None for a graph with cycles."""
    uses: list[Use] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """Problems of texts that cannot be read."""
    conditions: list[Condition] = field(default_factory=list)
    items: list[tuple[Path, ForeachNode, Reference | Range]] = field(default_factory=list)
    providers: dict[str, list[Provider]] = field(default_factory=dict)

    def at(self, id: str) -> Path:
        return (*self.path, "graph", id)

    def nodes(self) -> Iterator[tuple[str, Path, Node]]:
        """Yield each node, also those inside others, with the id of its node in the graph."""
        for id, node in self.workflow.graph.items():
            yield id, self.at(id), node
            yield from ((id, path, part) for path, part in _inner(self.at(id), node))


def _inner(path: Path, node: Node) -> Iterator[tuple[Path, Part]]:
    """Yield the nodes inside a node, with their paths in the file."""
    if isinstance(node, ParallelNode):
        yield from (((*path, "branches", name), part) for name, part in node.branches.items())
    if isinstance(node, ForeachNode):
        yield (*path, "step"), node.step


def flow_of(specification: Specification, name: str) -> Flow:
    """Return a workflow with its order, uses and providers."""
    workflow = specification.workflows[name]
    found = cycles(edges_of(workflow.graph))
    order = None if found else Order(workflow.graph)
    flow = Flow(specification, workflow, ("workflows", name), found, order)
    for id, node in workflow.graph.items():
        for provider, provided in _provided(id, flow.at(id), node):
            flow.providers.setdefault(provided, []).append(provider)
    for id, path, node in flow.nodes():
        around = workflow.graph[id]
        local = around.as_ if isinstance(around, ForeachNode) and node is around.step else None
        _Uses(flow, id, local).of_node(path, node)
    if workflow.output is not None:
        _Uses(flow, None, None).of_value((*flow.path, "output"), workflow.output)
    return flow


def _provided(id: str, path: Path, node: Node) -> Iterator[tuple[Provider, str]]:
    if isinstance(node, CompensateNode | ErrorNode):
        return
    yield Provider(id, path), id
    if node.output and node.output != id:
        yield Provider(id, (*path, "output")), node.output
    for part_path, part in _inner(path, node):
        if part.output and isinstance(node, ParallelNode):
            is_partial = part.when is not None or node.on_partial_failure == "continue"
            yield Provider(id, (*part_path, "output"), is_partial), part.output


@dataclass(slots=True)
class _Uses:
    """A collector of the uses of one node."""

    flow: Flow
    node: str | None
    local: str | None
    """The name of an item, which is not a name of the workflow."""

    def of_node(self, path: Path, node: Node) -> None:
        if node.when is not None:
            self.of_condition((*path, "when"), node.when)
        for key in TEMPLATE_KEYS:
            self.of_value((*path, key), getattr(node, key, None))
        if isinstance(node, CallNode) and node.call == SQL_TOOL:
            self._of_sql((*path, "args", "sql"), node.args.get("sql"))
        for way, call in undoing_calls(node).items():
            self.of_value((*path, *way, "args"), call.args, "own_undo" if compensate_of(node) else "undo")
        for n, arm in enumerate(node.on if isinstance(node, BranchNode) else ()):
            if arm.when is not None:
                self.of_condition((*path, "on", n, "when"), arm.when)
        if isinstance(node, ForeachNode):
            self.of_items((*path, "items"), node)

    def of_value(self, path: Path, value: Json, kind: UseKind = "value") -> None:
        for way, text in templates(value):
            try:
                template = read_template(text)
            except MalformedReference as malformed:
                self.flow.problems.append(error((*path, *way), "malformed_reference", str(malformed)))
                continue
            self._add((*path, *way), template.references, kind)

    def of_condition(self, path: Path, text: str) -> None:
        try:
            tree = read_condition(text)
        except ConditionSyntax as malformed:
            self.flow.problems.append(error(path, "condition_syntax", str(malformed)))
            return
        self.flow.conditions.append(Condition(path, text, tree))
        for reference, is_in_has in variables(tree):
            self._add(path, (reference,), "has" if is_in_has else "value")

    def of_items(self, path: Path, node: ForeachNode) -> None:
        try:
            items = read_items(node.items)
        except UnfitItems as unfit:
            self.flow.problems.append(error(path, "bad_items", str(unfit)))
            return
        self.flow.items.append((path, node, items))
        self._add(path, references_in(items), "value")

    def _of_sql(self, path: Path, sql: Json) -> None:
        try:
            tables = names_in(sql).tables if isinstance(sql, str) else ()
        except (UnfitSql, MalformedReference) as unfit:
            self.flow.problems.append(error(path, "bad_sql", str(unfit)))
            return
        self._add(path, [Reference(name) for name in tables], "table")

    def _add(self, path: Path, references: Iterable[Reference], kind: UseKind) -> None:
        self.flow.uses += [
            Use(self.node, path, reference, kind) for reference in references if reference.name != self.local
        ]
