"""Stubbed results for dry runs: the parts of each result that a workflow reads, with the types it needs. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from antiphon_shared.values import Json, JsonObject
from antiphon_shared.workflows.condition_syntax import (
    Binary,
    Constant,
    Tree,
    Variable,
    inner_trees,
    read_condition,
)
from antiphon_shared.workflows.items import Range, read_items
from antiphon_shared.workflows.nodes import (
    STEP,
    TEMPLATE_KEYS,
    BranchNode,
    ForeachNode,
    ParallelNode,
    WorkflowNode,
    YieldNode,
)
from antiphon_shared.workflows.params import Param, ParamType
from antiphon_shared.workflows.references import Reference, read_template, templates

from coordinator.workflows.plan import Plan

_SAMPLES: JsonObject = {"int": 1, "float": 1.5, "bool": True, "list": ["item"], "object": {}}
_FORMATS = {
    "date": "2030-01-01",
    "date-time": "2030-01-01T12:00:00Z",
    "time": "12:00:00Z",
    "email": "somebody@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_TYPES: dict[type, ParamType] = {bool: "bool", int: "int", float: "float", str: "str"}
_WAITS = {"seconds": Param(type="int"), "until": Param(type="str", format="date-time")}
Path = tuple[str | int, ...]


@dataclass(slots=True)
class Shape:
    """The parts of a value that a workflow reads, by key or index."""

    parts: dict[str | int, "Shape"] = field(default_factory=dict)
    param: Param | None = None
    """The param that the value has to fit, if that is known."""

    def part_at(self, path: Path) -> "Shape":
        """Return the shape of a part, adding it if need be."""
        shape = self
        for part in path:
            shape = shape.parts.setdefault(part, Shape())
        return shape

    def sample(self, path: str) -> Json:
        """Return a value of this shape; `path` names it in texts."""
        indexes = [part for part in self.parts if isinstance(part, int)]
        keys = [part for part in self.parts if isinstance(part, str) and part != "length"]
        if indexes or (not keys and "length" in self.parts):
            items = self.parts.get(0, Shape())
            count = max([*indexes, 0]) + 1
            return [self.parts.get(n, items).sample(f"{path}.{n}") for n in range(count)]
        if keys:
            return {str(part): self.parts[part].sample(f"{path}.{part}") for part in keys}
        return sample_of(self.param, path) if self.param else f"<{path}>"


def sample_of(param: Param, name: str) -> Json:
    """Return a value that fits a param: its default, its example, or one by its type."""
    declared: tuple[Json, ...] = (param.default, param.example, *(param.enum or ())[:1])
    for value in declared:
        if value is not None and param.problem(value) is None:
            return value
    return _FORMATS[param.format] if param.format else _SAMPLES.get(param.type, f"<{name}>")


def samples(plan: Plan) -> JsonObject:
    """Return a result for each node that a call, a person or a model answers, by its path in the graph."""
    shapes = _shapes(plan)
    results = {path: shapes.get(path, Shape()).sample(path) for path in plan.graph.nodes}
    for path, graph_node in plan.graph.nodes.items():
        if isinstance(node := graph_node.node, YieldNode):
            results[path] = {name: sample_of(param, name) for name, param in node.expects.items()}
    return results


def _shapes(plan: Plan) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for scope_path, scope in plan.graph.scopes.items():
        read = list(_references_in(scope.workflow.output))
        for path in (path for path, node in plan.graph.nodes.items() if node.scope == scope_path):
            read += _references_of(plan, path)
        for reference, param in read:
            for target in plan.names[scope_path].get(reference.name, ()):
                _note(plan, shapes, target, reference.path, param)
    return shapes


def _note(plan: Plan, shapes: dict[str, Shape], target: str, path: Path, param: Param | None) -> None:
    """Note that a part of a node's result is read; a container's part belongs to one of its nodes' results."""
    node = plan.graph.nodes[target].node
    if isinstance(node, ParallelNode) and path and path[0] in node.branches:
        _note(plan, shapes, f"{target}/{path[0]}", path[1:], param)
    elif isinstance(node, ForeachNode) and path and isinstance(path[0], int):
        _note(plan, shapes, f"{target}/{STEP}", path[1:], param)
    elif isinstance(node, WorkflowNode):
        _note_output(plan, shapes, target, path, param)
    else:
        shape = shapes.setdefault(target, Shape()).part_at(path)
        shape.param = shape.param or param


def _note_output(plan: Plan, shapes: dict[str, Shape], scope: str, path: Path, param: Param | None) -> None:
    graph_scope = plan.graph.scopes[scope]
    output: Json = graph_scope.workflow.output
    if output is None:
        for last in graph_scope.last if len(graph_scope.last) == 1 else ():
            _note(plan, shapes, last, path, param)
        return
    while path and isinstance(output, Mapping) and path[0] in output:
        output, path = output[path[0]], path[1:]
    reference = read_template(output).single_reference if isinstance(output, str) and "$" in output else None
    for target in plan.names[scope].get(reference.name, ()) if reference else ():
        _note(plan, shapes, target, (*(reference.path if reference else ()), *path), param)


def _references_of(plan: Plan, path: str) -> Iterator[tuple[Reference, Param | None]]:
    """Yield the references of a node, with the type that each has to have."""
    graph_node = plan.graph.nodes[path]
    node = graph_node.node
    conditions = [arm.when for arm in node.on if arm.when] if isinstance(node, BranchNode) else []
    for condition in [*conditions, *([node.when] if node.when else [])]:
        yield from _references_in_condition(read_condition(condition))
    if isinstance(node, ForeachNode):
        yield from _references_in_items(read_items(node.items))
    declared = plan.graph.scopes[path].workflow.params if isinstance(node, WorkflowNode) else {}
    references: list[tuple[Reference, Param | None]] = []
    for name in TEMPLATE_KEYS:
        value = getattr(node, name, None)
        if name == "args" and isinstance(value, Mapping):
            for argument, one in value.items():
                references += _references_in(one, declared.get(argument))
        else:
            references += _references_in(value, _WAITS.get(name))
    for reference, param in references:
        yield _behind_item(plan, path, reference), param
    for undo in [getattr(node, "compensate", None), *getattr(node, "steps", ())]:
        for reference, param in _references_in(undo.args) if undo is not None else []:
            yield _behind_item(plan, path, _of_undone_item(plan, path, reference)), param


def _references_in_items(items: Reference | Range) -> Iterator[tuple[Reference, Param | None]]:
    if isinstance(items, Reference):
        yield items, Param(type="list")
        return
    bounds = (items.first, items.last)
    are_dates = any(isinstance(bound.of, date) or bound.days != 0 for bound in bounds)
    for bound in bounds:
        if isinstance(bound.of, Reference):
            yield bound.of, Param(type="str", format="date") if are_dates else Param(type="int")
        if isinstance(bound.days, Reference):
            yield bound.days, Param(type="int")


def _behind_item(plan: Plan, path: str, reference: Reference) -> Reference:
    """Return a reference to a foreach's item as one to the first item of its list, if the list is a reference."""
    foreach = plan.graph.nodes[plan.graph.nodes[path].container or path].node
    if not isinstance(foreach, ForeachNode) or reference.name != foreach.as_:
        return reference
    items = read_items(foreach.items)
    return (
        Reference(items.name, (*items.path, 0, *reference.path))
        if isinstance(items, Reference)
        else reference
    )


def _of_undone_item(plan: Plan, path: str, reference: Reference) -> Reference:
    """Return a reference to an item's result: a step's `compensate` means it by the id of its foreach."""
    foreach = plan.graph.nodes[path].container
    if foreach is None or not isinstance(plan.graph.nodes[foreach].node, ForeachNode):
        return reference
    if reference.name != foreach.rpartition("/")[2]:
        return reference
    return Reference(reference.name, (0, *reference.path))


def _references_in(value: Json, param: Param | None = None) -> Iterator[tuple[Reference, Param | None]]:
    for _, text in templates(value):
        template = read_template(text)
        for reference in template.references:
            yield reference, param if template.single_reference else None


def _references_in_condition(tree: Tree) -> Iterator[tuple[Reference, Param | None]]:
    match tree:
        case Variable(reference):
            yield reference, None
        case Binary(_, Variable(reference), Constant(value)) | Binary(
            _, Constant(value), Variable(reference)
        ):
            yield reference, Param(type=_TYPES[type(value)]) if type(value) in _TYPES else None
        case _:
            for inner in inner_trees(tree):
                yield from _references_in_condition(inner)
